// `npm test [-- WORD...]`: installs, builds, lints, checks types and runs the tests. Those that take long, in files named
// *.long.test.ts, are run by `npm run test:all` only. With words, the files are run whose paths hold one of them, long ones
// included. `test:all` then runs the tests of BOUNDARY on the other releases of Node that Cairn supports. With --thorough,
// repeated and seeded checks run as often as their acceptance names. A file that hangs is ended by testFile.mjs. Node's
// summary (tests, pass, fail) is the end of the output.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { fetchNode, PINNED_NODES, pathWith } from './currentNode.mjs'
import { ensureBuilt, ensureInstalled, ensureTestsBuilt, ROOT, run, tool } from './ensure.mjs'
import { groupTests } from './testGroups.mjs'

/** Tests of what depends on the release of Node: the native database, threads, sockets, processes. The rest is JavaScript alone. */
const BOUNDARY = /^((e2e|server\/(http|plain|websocket)|sql|wasm|workers)\/|store\/[^/]+$)/
/** Heavy ones of these, which meet nothing of Node that the others do not. */
const COVERED =
  /^(e2e\/(recorded|conformance|readme|logCursor|amsterdam|followStart|op\w+|engine|gnosisExecution|kill)|sql\/(views|traceViews|tokens|addresses|callViews|eventViews)|store\/(growthForecast|views|columns|keepPlans))\.test/

const started = Date.now()
const args = process.argv.slice(2)
const all = args.includes('--all')
const thorough = args.includes('--thorough')
const words = args.filter((arg) => !arg.startsWith('--'))

ensureInstalled()
const lint = startLint()
ensureTestsBuilt()
ensureBuilt({ isChecked: true })
await lint

const folder = join(ROOT, 'build', 'test')
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .map((name) => name.replaceAll('\\', '/'))
  .filter((name) => name.endsWith('.test.js') && isWanted(name))
  .sort()
if (files.length === 0) {
  console.error(`no test has ${words.join(' or ')} in its path`)
  process.exit(2)
}
// Two more than there are cores: tests wait for processes and timers two fifths of their time.
const concurrency = `--test-concurrency=${availableParallelism() + 2}`
const reporter = `--test-reporter=${join(ROOT, 'scripts', 'testReporter.mjs')}`
runTests(process.execPath, files)
if (all && words.length === 0) {
  for (const [major, version] of Object.entries(PINNED_NODES)) {
    if (process.versions.node.startsWith(`${major}.`)) continue
    console.log(`\nOn Node ${version}:`)
    runTests(fetchNode(version, `fetching Node ${version} into .node/`), files.filter(isAtBoundary))
  }
}

/** Lints beside the compilers: each uses one of the cores for half of its time. Resolves when it has passed, and ends this
 *  process if it fails; its report comes then. */
async function startLint() {
  const child = spawn(tool('biome'), ['ci', '--error-on-warnings', '.'], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const texts = Promise.all([child.stdout, child.stderr].map(text))
  const [code] = await once(child, 'close')
  console.error((await texts).join('').trimEnd())
  if (code !== 0) process.exit(code ?? 1)
}

function runTests(node, names) {
  const cpuFile = join(ROOT, 'build', 'testCpu.ndjson')
  rmSync(cpuFile, { force: true })
  const variables = {
    TEST_CPU_FILE: cpuFile,
    CAIRN_TEST_ALL: all ? '1' : '',
    CAIRN_TEST_THOROUGH: thorough ? '1' : '',
    NODE_COMPILE_CACHE: join(ROOT, 'build', 'compileCache'), // a tenth of what a start of the program takes
  }
  const paths = groupTests(names, { tests: folder, folder: join(ROOT, 'build', 'testGroups') })
  const perFile = `--import=${pathToFileURL(join(ROOT, 'scripts', 'testFile.mjs'))}`
  run(node, ['--enable-source-maps', perFile, '--test', concurrency, reporter, ...paths], {
    stdout: 1,
    env: { TEST_STARTED_MS: String(started), PATH: pathWith(node), ...variables },
  })
}

function isAtBoundary(name) {
  return BOUNDARY.test(name) && !COVERED.test(name) && !isLong(name)
}

function isLong(name) {
  return name.endsWith('.long.test.js')
}

function isWanted(name) {
  if (words.length > 0) return words.some((word) => name.includes(word))
  return all || !isLong(name)
}
