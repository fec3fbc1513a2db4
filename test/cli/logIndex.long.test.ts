import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createLogIndexer } from '../../src/index/logs/indexer.js'
import { LOG_SEARCH_INDEX } from '../../src/index/logs/logSearchIndex.js'
import { createLogSource } from '../../src/index/logs/query.js'
import { describeIndex } from '../../src/index/segments/indexSummary.js'
import { noDeadline } from '../../src/lib/deadline.js'
import { openForReading } from '../../src/store/open.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import {
  asPlaced,
  expectedMatches,
  FIRST_BLOCK,
  randomBlocks,
  randomFilter,
  textOf,
} from '../index/logs/randomFilters.js'
import { type PlacedLog, seededFractions, writeLogs } from '../index/logs/randomLogs.js'
import { spawnCairn } from '../support/cairn.js'
import { temporaryDirectory } from '../support/temporary.js'

/* `cairn verify --index`, `cairn reindex`, and the index in `cairn status`, over segments of 64 logs. */

const BLOCKS = 700

const cairn = (args: readonly string[]) => spawnCairn(args).ended

/** The blocks have logs but no receipts, which the index of addresses is made of. */
const REINDEX = ['reindex', '--address-index', 'off', '--datadir']

function prepare(t: TestContext): { datadir: string; logs: PlacedLog[] } {
  const datadir = temporaryDirectory(t)
  const db = openForWriting(datadir)
  const logs = writeLogs(db, FIRST_BLOCK, randomBlocks(seededFractions(31), BLOCKS))
  const indexer = createLogIndexer(db, { chunkBits: 6 })
  indexer.add([])
  indexer.sealNow()
  indexer.work(Number.POSITIVE_INFINITY)
  db.close()
  return { datadir, logs }
}

function harm(datadir: string, sql: string): void {
  const db = openForWriting(datadir)
  db.exec(sql)
  db.close()
}

test('an index is verified, found damaged, and rebuilt', async (t) => {
  const { datadir, logs } = prepare(t)
  const sealed = Math.floor(logs.length / 64) * 64
  const verify = (...args: string[]) => cairn(['verify', '--index', '--datadir', datadir, ...args])
  const right = await verify()
  assert.equal(right.code, 0, right.stderr)
  const words = new RegExp(
    `^log index: \\d+ segments with ${sealed} logs and \\d+ postings are right; ${logs.length - sealed} logs in the tail\n` +
      `transaction index: \\d+ segments with \\d+ transactions and \\d+ postings are right; \\d+ transactions in the tail\n` +
      'address index: 0 segments with 0 transactions and 0 postings are right; 0 transactions in the tail\n$',
  )
  assert.match(right.stdout, words)

  const status = JSON.parse((await cairn(['status', '--json', '--datadir', datadir])).stdout)
  const { levels, tail, bytes } = status.logIndex
  assert.deepEqual([status.logIndex.sealed, tail], [sealed, logs.length - sealed])
  assert.equal(
    levels.reduce((sum: number, level: { items: number }) => sum + level.items, 0),
    sealed,
  )
  assert.ok(bytes === null || bytes > 0)
  const { stdout } = await cairn(['status', '--datadir', datadir])
  assert.match(stdout, /^log index +segments: \d+ of level 0, .*\d logs in the tail/m)

  harm(datadir, 'DELETE FROM log_buckets WHERE id = (SELECT min(id) FROM log_buckets)')
  const wrong = await verify()
  assert.deepEqual([wrong.code, wrong.stdout], [1, ''])
  assert.match(
    wrong.stderr,
    /^cairn: log index, segment \d+, bucket \d+, fingerprint 0x[0-9a-f]{8}, log \d+: the bucket/m,
  )
  const rebuilt = await cairn([...REINDEX, datadir])
  assert.equal(rebuilt.code, 0, rebuilt.stderr)
  assert.match(
    rebuilt.stdout,
    new RegExp(`^log index: \\d+ segments with ${sealed} logs, ${logs.length - sealed} logs in the tail\n`),
  )
  assert.match((await verify()).stdout, words)

  harm(datadir, 'DELETE FROM log_segments')
  assert.equal((await verify()).code, 1)
  assert.equal((await cairn([...REINDEX, datadir])).code, 0)
  assert.match((await verify('--segments', 'all')).stdout, words)
})

test('wrong use is said, with exit code 2', async (t) => {
  const { datadir } = prepare(t)
  const nowhere = temporaryDirectory(t)
  const cases: [string[], RegExp][] = [
    [['verify', '--from', '3', '--datadir', datadir], /--from and --to are for --blocks/],
    [['verify', '--segments', 'log:1', '--datadir', datadir], /--segments is for --index/],
    [['verify', '--index', 'operand'], /unexpected operand/],
    [['verify', '--index', '--datadir', nowhere], /no database at/],
    [['verify', '--index', '--segments', 'some'], /expected all, log:ID, transaction:ID or address:ID, got "some"/],
    [
      ['verify', '--index', '--segments', 'log:99999', '--datadir', datadir],
      /log index: no live segment 99999; there is \d+/,
    ],
    [['reindex', 'operand'], /unexpected operand/],
    [['reindex', '--datadir', nowhere], /no database at/],
  ]
  for (const [args, words] of cases) {
    const { code, stdout, stderr } = await cairn(args)
    assert.deepEqual([code, stdout], [2, ''], `${args.join(' ')}: ${stderr}`)
    assert.match(stderr, words)
  }
})

/** Starts a rebuild and ends it by the signal when it is half done; false when it was done before. */
async function endHalfway(datadir: string, signal: NodeJS.Signals, halfway: () => boolean): Promise<boolean> {
  const running = spawnCairn([...REINDEX, datadir])
  let over = false
  running.child.once('exit', () => {
    over = true
  })
  while (!over && !halfway()) await new Promise(setImmediate)
  running.child.kill(signal)
  const ended = await running.ended
  if (signal === 'SIGKILL') return ended.signal === 'SIGKILL'
  const interrupted = /interrupted: an import, or running it again, completes the index/.test(ended.stdout)
  assert.equal(ended.code, interrupted ? 130 : 0, ended.stderr)
  return interrupted
}

for (const signal of ['SIGKILL', 'SIGINT'] as const) {
  test(`${signal} in the middle of a rebuild leaves an index that answers right`, async (t) => {
    const { datadir, logs } = prepare(t)
    const db = openForReading(datadir)
    t.after(() => void db.close())
    const before = describeIndex(db, LOG_SEARCH_INDEX).sealed
    const halfway = () => {
      const { sealed, levels } = describeIndex(db, LOG_SEARCH_INDEX)
      return sealed < before && levels.length > 0
    }
    // On a busy machine it may be done before it is seen: then once more.
    let caught = false
    for (let attempt = 0; attempt < 10 && !caught; attempt++) caught = await endHalfway(datadir, signal, halfway)
    assert.ok(caught, 'it was ended half done')
    assert.ok(describeIndex(db, LOG_SEARCH_INDEX).sealed < before)
    const random = seededFractions(32)
    const source = createLogSource(db)
    for (let i = 0; i < 30; i++) {
      const filter = randomFilter(random, BLOCKS)
      const found = asPlaced(source.query(filter, { deadline: noDeadline, maxResults: 100_000 }))
      assert.deepEqual(found.map(textOf), expectedMatches(logs, filter).map(textOf), `filter ${i}`)
    }
    assert.equal((await cairn(['verify', '--index', '--datadir', datadir])).code, 0)
    assert.equal((await cairn([...REINDEX, datadir])).code, 0)
    assert.equal(describeIndex(db, LOG_SEARCH_INDEX).sealed, before)
  })
}
