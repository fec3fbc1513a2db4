// `npm test [-- FILE...]`: installs, builds, lints, checks types and runs the tests, or only those whose path holds one
// of the words given. Node's summary (tests, pass, fail) is the end of the output.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { ensureBuilt, ensureInstalled, ensureTestsBuilt, ROOT, run, tool } from './ensure.mjs'

const words = process.argv.slice(2)

ensureInstalled()
run(tool('biome'), ['ci', '--error-on-warnings', '.'])
ensureBuilt()
ensureTestsBuilt()

const folder = join(ROOT, 'build', 'test')
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.js') && (words.length === 0 || words.some((word) => name.includes(word))))
  .sort()
  .map((name) => join(folder, name))
if (files.length === 0) {
  console.error(`no test has ${words.join(' or ')} in its path`)
  process.exit(2)
}
run(process.execPath, ['--enable-source-maps', '--test', '--test-reporter=spec', ...files], { stdout: 1 })
