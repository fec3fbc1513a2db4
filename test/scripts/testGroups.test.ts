import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { packagePath } from '../../src/store/open.js'
import { spawnNode } from '../support/cairn.js'
import { temporaryDirectory } from '../support/temporary.js'

const MODULE = pathToFileURL(packagePath('scripts/testGroups.mjs')).href

type GroupTests = (names: string[], folders: { tests: string; folder: string }) => string[]

test('files of a group run one after the other, each with its own hooks, and a failure names its file', async (t) => {
  const directory = temporaryDirectory(t)
  const [tests, folder, steps] = ['tests', 'groups', 'steps.txt'].map((name) => join(directory, name))
  mkdirSync(join(tests, 'room'), { recursive: true })
  const names = ['room/a.test.js', 'room/b.test.js']
  for (const name of names) writeFileSync(join(tests, name), testFile(name, steps))
  const { groupTests } = (await import(MODULE)) as { groupTests: GroupTests }
  const paths = groupTests(names, { tests, folder })
  assert.equal(paths.length, 1)
  const { code, stdout } = await spawnNode(['--test', ...paths], { NODE_TEST_CONTEXT: undefined }).ended
  assert.equal(code, 1)
  assert.match(stdout, /test\/room\/b\.test\.ts[\s\S]*Error: room\/b\.test\.js fails/)
  assert.match(stdout, /fail 2\n/) // the test and its file
  const run = (name: string) => [`${name} loaded`, `${name} each`, `${name} first`, `${name} each`, `${name} second`]
  const expected = names.flatMap((name) => [...run(name), `${name} each`, `${name} after`])
  assert.deepEqual(readFileSync(steps, 'utf8').trim().split('\n'), expected)
})

test('long files have groups of their own, which run first, and benches run alone', async (t) => {
  const directory = temporaryDirectory(t)
  const { groupTests } = (await import(MODULE)) as { groupTests: GroupTests }
  const names = ['rpc/a.test.js', 'rpc/eth/b.long.test.js', 'rpc/eth/c.test.js', 'bench/logs.long.test.js']
  const folder = join(directory, 'groups')
  const paths = groupTests(names, { tests: directory, folder })
  const expected = ['groups/rpc.long.1.test.mjs', 'bench/logs.long.test.js', 'groups/rpc.1.test.mjs']
  assert.deepEqual(
    paths.map((path) => relative(directory, path).replaceAll('\\', '/')),
    expected,
  )
  const group = readFileSync(paths[2], 'utf8')
  assert.ok(group.includes('rpc/a.test.js') && group.includes('rpc/eth/c.test.js'))
})

/** A file whose second test is declared when the first has ended; that of `b` fails. */
function testFile(name: string, steps: string): string {
  return `import { appendFileSync } from 'node:fs'
import { after, beforeEach, test } from 'node:test'
const note = (step) => appendFileSync(${JSON.stringify(steps)}, '${name} ' + step + '\\n')
note('loaded')
beforeEach(() => note('each'))
after(() => note('after'))
let ended
const first = new Promise((resolve) => { ended = resolve })
test('first', () => { note('first'); setTimeout(ended, 20) })
await first
test('second', () => { note('second'); if (${name.includes('b.test')}) throw new Error('${name} fails') })
`
}
