// `npm run sbom [-- FILE]`: writes the bill of materials of the package in CycloneDX 1.5, by default to dist/sbom.cdx.json. It
// lists the packages that are installed with Cairn, and those whose code the build has put into dist/. `npm sbom` knows
// nothing of the latter, and leaves out of the former what is a development dependency too: its list of all packages of
// package-lock.json is filtered here.
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { readContained } from './contained.mjs'
import { runNpm } from './currentNode.mjs'
import { ensureBuilt, ensureInstalled, ROOT } from './ensure.mjs'

const NPM = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx', '--sbom-type', 'application']

ensureInstalled()
ensureBuilt()
const target = resolve(process.argv[2] ?? join(ROOT, 'dist', 'sbom.cdx.json'))
const { packages } = readJson(join(ROOT, 'package-lock.json'))
const manifest = readJson(join(ROOT, 'package.json'))
const contained = new Map()
for (const folder of ['dist/cli', 'dist/web']) {
  for (const ref of new Set(readContained(join(ROOT, folder)).map(refOf))) {
    contained.set(ref, [...(contained.get(ref) ?? []), folder])
  }
}
const installed = Object.entries(packages).filter(([key, { dev, devOptional }]) => key !== '' && !dev && !devOptional)
const wanted = new Set([...installed.map(([key]) => refOf(key)), ...contained.keys()])
const bill = filterBill(listAll())
writeFileSync(target, `${JSON.stringify(bill, null, 2)}\n`)
console.error(`${target}: ${bill.components.length} packages, ${contained.size} of them in dist/`)

/** The bill of all packages in package-lock.json, of npm. */
function listAll() {
  const { status, stdout, error } = runNpm(NPM, {
    cwd: ROOT,
    stdio: [0, 'pipe', 2],
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  })
  if (error) throw error
  if (status !== 0) process.exit(status ?? 1)
  return JSON.parse(stdout)
}

/** The bill with the wanted packages alone. What dist/ contains has a property that names the folder. */
function filterBill({ components, dependencies, metadata, ...rest }) {
  const rootRef = metadata.component['bom-ref']
  const kept = components.filter((component) => wanted.has(component['bom-ref']))
  const refs = new Set(kept.map((component) => component['bom-ref']))
  const missing = [...wanted].filter((ref) => !refs.has(ref))
  if (missing.length > 0) throw new Error(`npm sbom does not list ${missing.join(', ')}`)
  return {
    ...rest,
    // npm names the component by the folder of the checkout.
    metadata: { ...metadata, component: { ...metadata.component, name: manifest.name } },
    components: kept.map((component) => {
      const folders = contained.get(component['bom-ref']) ?? []
      const properties = folders.map((value) => ({ name: 'cairn:contained', value }))
      // Of a package that comes with Cairn, it is beside the point that npm installs it for development.
      const own = (component.properties ?? []).filter(({ name }) => name !== 'cdx:npm:package:development')
      return { ...component, properties: [...own, ...properties] }
    }),
    dependencies: dependencies
      .filter(({ ref }) => ref === rootRef || refs.has(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => refs.has(each)) })),
  }
}

/** The reference of a package in npm's bill, by its key in package-lock.json. */
function refOf(key) {
  const entry = packages[key]
  if (entry === undefined) throw new Error(`package-lock.json has no ${key}`)
  return `${entry.name ?? key.slice(key.lastIndexOf('node_modules/') + 'node_modules/'.length)}@${entry.version}`
}

function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'))
}
