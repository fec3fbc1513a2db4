// What `npm start` and `npm test` need before they can do anything: the packages of package-lock.json, and dist/ built
// from src/. Plain JavaScript without packages, since it runs before there are any.
//
// Each step leaves a stamp that says what it was made from. Stamps hold no absolute path, so that a checkout can be moved
// or copied with all that was made in it.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ensureCurrentNode, runNpm } from './currentNode.mjs'

// Before anything else of any script.
await ensureCurrentNode()

export const ROOT = fileURLToPath(new URL('..', import.meta.url))

const INSTALL_STAMP = 'node_modules/.cairn-stamp'
const ENTRIES = 'scripts/bundleEntries.mjs'

/** Runs a program in the repository, its output on standard error; ends this process with its exit code if it fails. */
export function run(command, args, { env = {}, stdout = 2 } = {}) {
  const result = spawnSync(command, args, { cwd: ROOT, stdio: [0, stdout, 2], env: { ...process.env, ...env } })
  if (result.error) {
    console.error(`${command}: ${result.error.message}`)
    process.exit(1)
  }
  if (result.status !== 0) process.exit(result.status ?? 1)
}

/** The path of a tool that a package brings. */
export function tool(name) {
  return join(ROOT, 'node_modules', '.bin', name)
}

/** A duration in words: `4.2 s`, `3 min 41 s`. */
export function formatDuration(ms) {
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

/** Installs the packages unless those of this package-lock.json are there, for this platform. Runs no install script: native
 *  packages have their binaries in them. */
export function ensureInstalled() {
  const platform = `${process.platform}-${process.arch}`
  const wanted = `${platform} ${hashFiles(['package-lock.json'])}`
  const found = readStamp(INSTALL_STAMP)
  if (found === wanted) return
  const why = found !== undefined && !found.startsWith(`${platform} `) ? ` for ${platform}` : ''
  step(`installing packages${why}`, () => {
    const { status, error } = runNpm(['ci', '--ignore-scripts'], { cwd: ROOT })
    if (error) console.error(`npm: ${error.message}`)
    if (status !== 0) process.exit(status ?? 1)
    checkDatabase(platform)
  })
  writeStamp(INSTALL_STAMP, wanted)
}

/** Ends the process with a line that says why, where the binary of SQLite cannot be loaded. */
function checkDatabase(platform) {
  const program = "new (require('better-sqlite3'))(':memory:').close()"
  const { status, stderr } = spawnSync(process.execPath, ['-e', program], { cwd: ROOT, encoding: 'utf8' })
  if (status === 0) return
  const reason = /^\w*Error: (.*)$/m.exec(stderr)?.[1] ?? stderr.trim()
  console.error(
    `better-sqlite3 cannot be loaded here (${platform}, Node ${process.versions.node}): ${reason}; put the checkout on a file system ` +
      "that allows execution, or compile SQLite with 'npm rebuild better-sqlite3 --build-from-source'",
  )
  process.exit(1)
}

/** Checks the types of src/ and bundles it to dist/cli and dist/web, unless they were made from this very source.
 *  `isChecked`: its types were checked before, by `ensureTestsBuilt`. */
export function ensureBuilt({ isChecked = false } = {}) {
  ensureWebBuilt()
  compile('dist/cli', ['src'], ['scripts/bundle.mjs', ENTRIES, 'scripts/contained.mjs', 'tsconfig.types.json'], () => {
    if (!isChecked) run(tool('tsc'), ['-p', 'tsconfig.json'])
    run(process.execPath, [join(ROOT, 'scripts', 'bundle.mjs')])
  })
}

/** Builds src/web, the page for browsers, to dist/web, unless that was made from this very source. */
export function ensureWebBuilt() {
  compile('dist/web', ['src/web'], ['scripts/bundleWeb.mjs', 'scripts/contained.mjs', 'src/web/tsconfig.json'], () => {
    run(tool('tsc'), ['-p', 'src/web/tsconfig.json'])
    run(process.execPath, [join(ROOT, 'scripts', 'bundleWeb.mjs')])
  })
}

/** Checks the types of src/, test/, bench/ and tools/ and compiles them to build/, unless it was made from these very
 *  sources. */
export function ensureTestsBuilt() {
  compile(
    'build',
    ['src', 'src/web', 'test', 'bench', 'tools'],
    ['scripts/bundlePackages.mjs', 'scripts/bundleTestThreads.mjs', ENTRIES],
    () => {
      run(tool('tsc'), ['-p', 'test/tsconfig.json'])
      run(process.execPath, ['scripts/bundlePackages.mjs'])
      run(process.execPath, ['scripts/bundleTestThreads.mjs'])
    },
  )
}

function compile(outDir, folders, tools, work) {
  const configs = ['package-lock.json', 'tsconfig.json', 'test/tsconfig.json']
  const sources = folders.flatMap(listSources)
  if (sources.length === 0) return
  const wanted = hashFiles([...configs, ...tools, ...sources])
  const stamp = `${outDir}/.cairn-stamp`
  if (readStamp(stamp) === wanted) return
  // Of a file that is gone, nothing must be left that could still be imported or run as a test.
  rmSync(join(ROOT, outDir), { recursive: true, force: true })
  step(`compiling ${folders.map((folder) => `${folder}/`).join(', ')} to ${outDir}/`, work)
  writeStamp(stamp, wanted)
}

/** Says what is done, and then how long it took. */
function step(what, work) {
  console.error(`${what} ...`)
  const begun = performance.now()
  work()
  console.error(`  done in ${formatDuration(performance.now() - begun)}`)
}

/** The sources below a folder. Those of the page are only its own: nothing else imports them. */
function listSources(folder) {
  if (!existsSync(join(ROOT, folder))) return []
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    .filter((path) => /\.(tsx?|css|html|svg)$/.test(path) && !path.includes('node_modules'))
    .filter((path) => path.startsWith('src/web/') === (folder === 'src/web'))
    .sort()
}

/** A hash of the names and contents of files, named by their paths in the repository. */
function hashFiles(paths) {
  const hash = createHash('sha256')
  for (const path of paths) {
    const content = existsSync(join(ROOT, path)) ? readFileSync(join(ROOT, path)) : ''
    hash.update(`${path} ${content.length}\n`).update(content)
  }
  return hash.digest('hex')
}

function readStamp(path) {
  const file = join(ROOT, path)
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined
}

function writeStamp(path, text) {
  const file = join(ROOT, path)
  // By a new file: the old one may be shared with another checkout by a hard link.
  writeFileSync(`${file}.new`, `${text}\n`)
  renameSync(`${file}.new`, file)
}
