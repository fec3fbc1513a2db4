import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createLogSource } from '../../src/index/logs/query.js'
import { requireIndexSettings } from '../../src/index/segments/indexSettings.js'
import { describeIndex } from '../../src/index/segments/indexSummary.js'
import { verifyIndex } from '../../src/index/segments/verifyIndex.js'
import { createTransactionFinder } from '../../src/index/transactions/finder.js'
import { noDeadline } from '../../src/lib/deadline.js'
import { noProgress } from '../../src/lib/progress.js'
import type { Database } from '../../src/store/database.js'
import { openForReading } from '../../src/store/open.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { CHAIN_INDEXES } from '../../src/sync/chainIndexer.js'
import { openWritableChain } from '../../src/sync/chainState.js'
import { FIRST_BLOCK, randomBlocks } from '../index/logs/randomFilters.js'
import { type PlacedLog, seededFractions, writeLogs } from '../index/logs/randomLogs.js'
import { temporaryDirectory } from '../support/temporary.js'

const CHAIN = { network: 'mainnet' } as const
const BLOCKS = 300

/** A database whose rows are not indexed yet. */
function makeUnindexed(t: TestContext): { datadir: string; logs: PlacedLog[] } {
  const datadir = temporaryDirectory(t)
  const db = openForWriting(datadir)
  const logs = writeLogs(db, FIRST_BLOCK, randomBlocks(seededFractions(41), BLOCKS))
  requireIndexSettings(db, 6) // chunks of 64, so that there are many
  db.close()
  return { datadir, logs }
}

function checkLookUps(db: Database, logs: readonly PlacedLog[]): void {
  const finder = createTransactionFinder(db)
  for (const { transactionHash, blockNumber, transactionIndex } of logs) {
    assert.deepEqual(finder.locate(transactionHash), { blockNumber, index: transactionIndex })
  }
  const filter = { fromBlock: FIRST_BLOCK, toBlock: FIRST_BLOCK + BLOCKS, topics: [null] }
  const found = createLogSource(db).query(filter, { deadline: noDeadline, maxResults: 1e9 })
  assert.equal(found.count, logs.filter(({ topics }) => topics.length > 0).length)
}

test('rows without an index are indexed, and answers are right after every commit', async (t) => {
  const { datadir, logs } = makeUnindexed(t)
  const db = openForWriting(datadir)
  t.after(() => void db.close())
  checkLookUps(db, logs)
  const reading = openForReading(datadir)
  t.after(() => void reading.close())
  const started: string[] = []
  const reported: number[] = []
  let commits = 0
  await openWritableChain(db, CHAIN, 'none', {
    startProgress: (label, unit, total) => {
      started.push(`${label}, ${total} ${unit}`)
      return { ...noProgress, update: (done) => void reported.push(done) }
    },
    checkpoints: {
      afterCommit: () => {
        if (commits++ % 5 === 0) checkLookUps(reading, logs)
        for (const kind of CHAIN_INDEXES) verifyIndex(reading, kind)
        return undefined
      },
    },
  })
  const transactions = db.prepare<[], number>('SELECT count(*) FROM transactions').pluck().get()!
  assert.deepEqual(started, [`log index, ${logs.length} logs`, `transaction index, ${transactions} transactions`])
  assert.equal(reported.length, commits)
  assert.ok(new Set(reported).size > 20, 'chunk by chunk')
  for (const kind of CHAIN_INDEXES) {
    const { tail, building, dropped } = describeIndex(db, kind)
    assert.ok(tail < 64, `${kind.name}: ${tail} in the tail`)
    assert.deepEqual([building, dropped], [0, 0])
    verifyIndex(db, kind)
  }
  checkLookUps(reading, logs)
})

test('a signal ends it between two commits, and the next start resumes', async (t) => {
  const { datadir, logs } = makeUnindexed(t)
  const db = openForWriting(datadir)
  t.after(() => void db.close())
  const stop = new AbortController()
  let commits = 0
  const afterCommit = () => {
    if (++commits === 3) stop.abort()
    return undefined
  }
  await openWritableChain(db, CHAIN, 'none', { signal: stop.signal, checkpoints: { afterCommit } })
  assert.equal(commits, 3)
  const [logIndex] = CHAIN_INDEXES
  const { sealed, tail } = describeIndex(db, logIndex)
  assert.ok(sealed > 0 && tail >= 64)
  checkLookUps(db, logs)
  await openWritableChain(db, CHAIN, 'none')
  for (const kind of CHAIN_INDEXES) assert.ok(describeIndex(db, kind).tail < 64)
  checkLookUps(db, logs)
})
