import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { createLogIndexer } from '../../src/index/logs/indexer.js'
import type { ExplanationJson } from '../../src/rpc/cairn/formatFacts.js'
import { packagePath } from '../../src/store/open.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { FIRST_BLOCK, randomBlocks } from '../index/logs/randomFilters.js'
import { seededFractions, writeLogs } from '../index/logs/randomLogs.js'
import { EMITTER, NUMBERED_TOPIC } from '../support/chains/fixtureChain.js'
import { temporaryDirectory } from '../support/temporary.js'

const MAIN = packagePath('dist/cli/main.js')
const FOLDER = packagePath('fixtures/chain')

/** Runs `cairn` to its end, with `input` on standard input. */
function cairn(args: readonly string[], input = ''): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const done = (error: Error | null, stdout: string, stderr: string) =>
      resolve({ code: error === null ? 0 : Number((error as { code?: unknown }).code), stdout, stderr })
    execFile(process.execPath, [MAIN, ...args], done).stdin!.end(input)
  })
}

const datadir = temporaryDirectory({ after })
const imported = await cairn([
  'import',
  '--datadir',
  datadir,
  '--genesis',
  `${FOLDER}/genesis.json`,
  `${FOLDER}/chain.rlp`,
])
assert.equal(imported.code, 0, imported.stderr)

const folder = temporaryDirectory({ after })
const fileOf = (value: unknown) => {
  const path = join(folder, 'filter.json')
  writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value))
  return path
}
const explain = (value: unknown, ...args: string[]) =>
  cairn(['explain-logs', '--datadir', datadir, ...args, fileOf(value)])

const filter = { address: EMITTER, topics: [NUMBERED_TOPIC], fromBlock: '0x36', toBlock: '0x39' }

test('a filter of the bundled chain is explained as a table and as JSON', async () => {
  const table = await explain(filter)
  assert.equal(table.code, 0, table.stderr)
  assert.match(table.stdout, /^range {5}blocks 54 to 57, 8,4\d\d logs, with at least 1 topics$/m)
  assert.match(table.stdout, /^outcome {3}8,400 logs, [\d,]+ bytes of JSON$/m)
  assert.match(table.stdout, /^tail {6}8,4\d\d logs scanned, [\d,]+ read into memory first, 8,400 candidates$/m)
  assert.match(table.stdout, /^rows {6}8,400 read, 8,400 met the filter, 0 did not$/m)
  const json = await explain(filter, '--json')
  const explanation = JSON.parse(json.stdout) as ExplanationJson
  assert.deepEqual([explanation.outcome, explanation.results], ['answered', 8400])
})

test('a request is read as its filter, from a file and from standard input', async () => {
  const request = { jsonrpc: '2.0', id: 1, method: 'eth_getLogs', params: [filter] }
  const byName = { ...request, params: { filter } }
  for (const value of [request, byName, { ...request, method: 'eth_getLogsWithCursor' }]) {
    assert.match((await explain(value)).stdout, /^outcome {3}8,400 logs/m)
  }
  const piped = await cairn(['explain-logs', '--datadir', datadir, '-'], JSON.stringify(request))
  assert.match(piped.stdout, /^outcome {3}8,400 logs/m)
})

test('a refused query is explained, by the limits of the options', async () => {
  const { code, stdout } = await explain({ ...filter, toBlock: '0x3a' })
  assert.equal(code, 0)
  assert.match(stdout, /^outcome {3}refused: more than 10,000 logs, limit exceeded in block 58$/m)
  assert.match(
    stdout,
    /^ {2}- more than 10,000 logs match; the limit is exceeded in block 58: set toBlock to 57, or use eth_getLogsWithCursor$/m,
  )
  const more = await explain({ ...filter, toBlock: '0x3a' }, '--max-logs', '20000')
  assert.match(more.stdout, /^outcome {3}10,500 logs/m)
})

test('segments are shown with their clauses', async (t) => {
  const own = temporaryDirectory(t)
  const db = openForWriting(own)
  writeLogs(db, FIRST_BLOCK, randomBlocks(seededFractions(81), 200))
  const indexer = createLogIndexer(db, { chunkBits: 6 })
  while (indexer.sealNext());
  db.close()
  const wide = { fromBlock: `0x${FIRST_BLOCK.toString(16)}`, topics: [null, null] }
  const { stdout, stderr } = await cairn(['explain-logs', '--datadir', own, fileOf(wide)])
  assert.match(stdout, /^ +\d+ +0 +\d+-\d+ +64 +topics\.length +1 +1 +\d+ +\d+ +\d+\.\d\d$/m, stderr)
})

test('wrong use is said, with exit code 2', async () => {
  const cases: [unknown, RegExp][] = [
    ['{', /invalid JSON: /],
    [[filter], /expected a filter object or one request, got an array of 1/],
    ['7', /expected a filter object or one request, got 7/],
    [{ method: 'eth_call', params: [filter] }, /expected a request of eth_getLogs, .*, got "eth_call"/],
    [{ method: 'eth_getLogs', params: [] }, /the request has no filter/],
    [{ topics: ['0x12'] }, /invalid argument 0: filter\.topics\[0\]: expected 32-byte data, got "0x12"/],
    [{ fromBlock: '0x99' }, /block range extends beyond current head block/],
  ]
  for (const [value, words] of cases) {
    const { code, stdout, stderr } = await explain(value)
    assert.deepEqual([code, stdout], [2, ''], stderr)
    assert.match(stderr, words)
    assert.equal(stderr.split('\n').length, 2, 'one line')
  }
  const none = await cairn(['explain-logs', '--datadir', datadir])
  assert.deepEqual([none.code, /no file with a filter/.test(none.stderr)], [2, true])
  const two = await cairn(['explain-logs', '--datadir', datadir, 'a', 'b'])
  assert.deepEqual([two.code, /unexpected operand 'b'/.test(two.stderr)], [2, true])
  const missing = await cairn(['explain-logs', '--datadir', datadir, join(folder, 'none.json')])
  assert.deepEqual([missing.code, /cannot read .*none\.json/.test(missing.stderr)], [2, true])
  const nowhere = await cairn(['explain-logs', '--datadir', folder, fileOf(filter)])
  assert.deepEqual([nowhere.code, /no database at/.test(nowhere.stderr)], [2, true])
  const unknown = await explain({ blockHash: `0x${'5a'.repeat(32)}` })
  assert.deepEqual([unknown.code, unknown.stderr], [1, 'cairn: unknown block\n'])
})
