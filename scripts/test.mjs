// `npm test [-- WORD...]`: installs, builds, lints, checks types and runs the tests. Those that take long, in files named
// *.long.test.ts, are run by `npm run test:all` only. With words, the files are run whose paths hold one of them, long ones
// included. Node's summary (tests, pass, fail) is the end of the output.
import { readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { ensureBuilt, ensureInstalled, ensureTestsBuilt, ROOT, run, tool } from './ensure.mjs'

const started = Date.now()
const args = process.argv.slice(2)
const all = args.includes('--all')
const words = args.filter((arg) => arg !== '--all')

ensureInstalled()
run(tool('biome'), ['ci', '--error-on-warnings', '.'])
ensureBuilt()
ensureTestsBuilt()

const folder = join(ROOT, 'build', 'test')
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.js') && isWanted(name))
  .sort()
  .map((name) => join(folder, name))
if (files.length === 0) {
  console.error(`no test has ${words.join(' or ')} in its path`)
  process.exit(2)
}
// By itself node would leave one core idle.
const concurrency = `--test-concurrency=${Math.max(2, availableParallelism())}`
const reporter = `--test-reporter=${join(ROOT, 'scripts', 'testReporter.mjs')}`
run(process.execPath, ['--enable-source-maps', '--test', concurrency, reporter, ...files], {
  stdout: 1,
  env: { TEST_STARTED_MS: String(started), CAIRN_TEST_ALL: all ? '1' : '' },
})

function isWanted(name) {
  if (words.length > 0) return words.some((word) => name.includes(word))
  return all || !name.endsWith('.long.test.js')
}
