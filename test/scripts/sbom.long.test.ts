import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Ajv } from 'ajv'
import { packagePath } from '../../src/store/open.js'
import { installPackage } from '../support/npmPackage.js'
import { temporaryDirectory } from '../support/temporary.js'

interface Component {
  'bom-ref': string
  name: string
  version: string
  purl: string
  hashes: { alg: string; content: string }[]
  properties: { name: string; value: string }[]
}

interface Bill {
  specVersion: string
  metadata: { component: { name: string; version: string } }
  components: Component[]
  dependencies: { ref: string; dependsOn: string[] }[]
}

const path = join(temporaryDirectory({ after: (callback) => process.once('exit', () => void callback()) }), 'sbom.json')
const { status, stderr } = spawnSync(process.execPath, [packagePath('scripts/sbom.mjs'), path], { encoding: 'utf8' })
assert.equal(status, 0, stderr)
const bill = JSON.parse(readFileSync(path, 'utf8')) as Bill
const refs = new Set(bill.components.map((component) => component['bom-ref']))

function readManifest(folder: string): { name: string; version: string } {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}

function refOf(folder: string): string {
  const { name, version } = readManifest(folder)
  return `${name}@${version}`
}

const isContained = ({ properties }: Component, folder: string) =>
  properties.some(({ name, value }) => name === 'cairn:contained' && value === folder)

test('the bill of materials lists every package that npm installs with Cairn', () => {
  const listing = spawnSync('npm', ['ls', '--omit=dev', '--all', '--parseable'], {
    cwd: packagePath('.'),
    encoding: 'utf8',
  })
  const folders = listing.stdout.trim().split('\n').slice(1)
  assert.ok(folders.length > 100, listing.stderr)
  assert.deepEqual(
    // Types are optional peers of drizzle-orm: `npm ls` finds them here, and npm does not install them with Cairn.
    folders.map(refOf).filter((ref) => !refs.has(ref) && !/^(@types\/|undici-types@)/.test(ref)),
    [],
  )
})

test('it lists every package whose code is in the program, by what the source maps name', () => {
  const maps = readdirSync(packagePath('dist/cli')).filter((name) => name.endsWith('.map'))
  const sources = maps.flatMap(
    (name) => JSON.parse(readFileSync(packagePath(`dist/cli/${name}`), 'utf8')).sources as string[],
  )
  // Maps of packages themselves lead to sources that are not published; those are in no folder here.
  const folders = new Set(
    sources.map((source) => /node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+(?=\/)/.exec(source)?.[0]),
  )
  folders.delete(undefined)
  folders.delete('node_modules/src')
  const contained = new Set(
    bill.components.filter((each) => isContained(each, 'dist/cli')).map((each) => each['bom-ref']),
  )
  assert.ok(folders.size > 50)
  assert.deepEqual(
    [...folders].map((folder) => refOf(packagePath(folder!))).filter((ref) => !contained.has(ref)),
    [],
  )
  for (const name of ['pino', 'prom-client', 'express'])
    assert.ok([...contained].some((ref) => ref.startsWith(`${name}@`)))
})

test('it lists what the page is built from, and no package that is only for building and testing', () => {
  const names = (folder: string) => bill.components.filter((each) => isContained(each, folder)).map(({ name }) => name)
  for (const name of ['preact', 'uplot', 'viem']) assert.ok(names('dist/web').includes(name), name)
  for (const name of [
    'typescript',
    'esbuild',
    'vite',
    'ethers',
    'web3',
    '@biomejs/biome',
    'playwright-core',
    '@duckdb/node-api',
  ])
    assert.ok(!bill.components.some((component) => component.name === name), name)
})

test('versions, hashes and references are those of package-lock.json', () => {
  const { packages } = JSON.parse(readFileSync(packagePath('package-lock.json'), 'utf8')) as {
    packages: { [key: string]: { version: string; integrity?: string } }
  }
  const locked = new Map(
    Object.entries(packages).map(([key, { version, integrity }]) => [
      `${key.slice(key.lastIndexOf('node_modules/') + 13)}@${version}`,
      integrity,
    ]),
  )
  for (const component of bill.components) {
    const [hash] = component.hashes
    const integrity = `${hash.alg.toLowerCase().replace('-', '')}-${Buffer.from(hash.content, 'hex').toString('base64')}`
    assert.equal(integrity, locked.get(component['bom-ref']), component['bom-ref'])
    assert.ok(component.purl.endsWith(`@${component.version}`))
  }
  for (const { dependsOn } of bill.dependencies) for (const ref of dependsOn) assert.ok(refs.has(ref), ref)
  assert.deepEqual(
    { name: bill.metadata.component.name, version: bill.metadata.component.version },
    readManifestOfCairn(),
  )
})

function readManifestOfCairn(): { name: string; version: string } {
  const { name, version } = readManifest(packagePath('.'))
  return { name, version }
}

const library = installPackage('@cyclonedx/cyclonedx-library', '10.3.0')

test('it is valid CycloneDX', { skip: library === undefined && 'the schemas cannot be installed' }, () => {
  const read = (name: string) =>
    JSON.parse(readFileSync(`${library}/res/schema/${name}.SNAPSHOT.schema.json`, 'utf8')) as { $id: string }
  const ajv = new Ajv({ strict: false, validateFormats: false })
  for (const name of ['spdx', 'jsf-0.82']) {
    ajv.addSchema({ ...read(name), $id: `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json` })
  }
  const validate = ajv.compile(read(`bom-${bill.specVersion}`))
  assert.ok(validate(bill), JSON.stringify(validate.errors))
  assert.ok(!validate({ ...bill, components: [{ name: 'without a type' }] }))
})
