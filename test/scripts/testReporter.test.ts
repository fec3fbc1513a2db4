import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { packagePath } from '../../src/store/open.js'
import { spawnNode } from '../support/cairn.js'
import { temporaryDirectory } from '../support/temporary.js'

/** What a run of the test file says, and its exit code. */
async function runTests(t: TestContext, source: string): Promise<{ code: number | null; text: string }> {
  const folder = temporaryDirectory(t)
  const path = join(folder, 'some.test.mjs')
  writeFileSync(path, `import { test } from 'node:test'\n${source}`)
  const perFile = pathToFileURL(packagePath('scripts/testFile.mjs')).href
  const args = [`--import=${perFile}`, '--test', `--test-reporter=${packagePath('scripts/testReporter.mjs')}`, path]
  const env = {
    TEST_STARTED_MS: String(Date.now() - 65_000),
    TEST_CPU_FILE: join(folder, 'cpu.ndjson'),
    NODE_TEST_CONTEXT: undefined,
  }
  const { code, stdout } = await spawnNode(args, env).ended
  return { code, text: stdout }
}

test('a run ends with why tests were skipped, how long it took, and the summary', async (t) => {
  const { code, text } = await runTests(
    t,
    `test('passes', () => {})
     test('first', { skip: 'no folder' }, () => {})
     test('second', (t) => t.skip('no folder'))
     test('parent', (t) => t.test('child', { skip: true }, () => {}))`,
  )
  assert.equal(code, 0)
  const end = text.slice(text.indexOf('\nskipped'))
  const list =
    /^\nskipped: no folder\n {2}\S+some\.test\.mjs: first\n.*: second\n\nskipped: no reason given\n.*: child\n/
  assert.match(end, list)
  assert.match(
    end,
    /\nslowest files: \S+ \d+\.\d s\nprocessor time: \d+\.\d s, of it \S+some\.test\.mjs \d+\.\d s\nall took 1 min \d+ s\n\nℹ tests 5\n(ℹ [a-z]+ \d+\n){6}ℹ duration_ms .*\n$/,
  )
})

test('a run with a failed test says so before the summary, and exits with 1', async (t) => {
  const { code, text } = await runTests(t, `test('fails', () => { throw new Error('so') })`)
  assert.equal(code, 1)
  assert.match(text, /failing tests:[\s\S]*Error: so[\s\S]*\nℹ fail 1\n(ℹ [a-z]+ \d+\n){3}ℹ duration_ms .*\n$/)
})
