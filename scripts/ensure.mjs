// What `npm start` and `npm test` need before they can do anything: the packages of package-lock.json, and dist/ built
// from src/. Plain JavaScript without packages, since it runs before there are any.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('..', import.meta.url))

const LOCK_STAMP = join(ROOT, 'node_modules', '.cairn-lock-hash')

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

/** Installs the packages unless those of this package-lock.json are there and load. */
export function ensureInstalled() {
  checkNode()
  const wanted = hashFiles([join(ROOT, 'package-lock.json')], process.versions.modules)
  if (existsSync(LOCK_STAMP) && readFileSync(LOCK_STAMP, 'utf8') === wanted) return
  console.error('installing packages (better-sqlite3 is compiled, which takes a minute or two)')
  run('npm', ['ci', '--no-audit', '--no-fund'])
  run(process.execPath, ['-e', "new (require('better-sqlite3'))(':memory:').close()"])
  writeFileSync(LOCK_STAMP, wanted)
}

/** Compiles src/ to dist/ unless dist/ was made from this very source. */
export function ensureBuilt() {
  compile(join(ROOT, 'dist'), ['src'], ['-p', 'tsconfig.json'])
}

/** Compiles src/, test/ and scripts/ to build/ unless it was made from these very sources. */
export function ensureTestsBuilt() {
  compile(join(ROOT, 'build'), ['src', 'test', 'scripts'], ['-p', 'test/tsconfig.json'])
}

function compile(outDir, folders, args) {
  const configs = ['package-lock.json', 'tsconfig.json', 'test/tsconfig.json'].map((name) => join(ROOT, name))
  const sources = folders.flatMap((folder) => listSources(join(ROOT, folder)))
  const wanted = hashFiles([...configs, ...sources], '')
  const stamp = join(outDir, '.cairn-source-hash')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return
  // Of a file that is gone, nothing must be left that could still be imported or run as a test.
  rmSync(outDir, { recursive: true, force: true })
  run(tool('tsc'), args)
  writeFileSync(stamp, wanted)
}

function listSources(folder) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.includes('node_modules'))
    .sort()
    .map((name) => join(folder, name))
}

function hashFiles(paths, salt) {
  const hash = createHash('sha256').update(salt)
  for (const path of paths) hash.update(path).update(existsSync(path) ? readFileSync(path) : '')
  return hash.digest('hex')
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major > 20 || (major === 20 && minor >= 19)) return
  console.error(`Cairn needs Node 20.19 or later; this is ${process.versions.node}`)
  process.exit(2)
}
