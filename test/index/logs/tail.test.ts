import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LogTail } from '../../../src/index/logs/tail.js'
import { noDeadline } from '../../../src/lib/deadline.js'
import { openForReading } from '../../../src/store/open.js'
import { openInventedChain } from '../../support/chains/inventedChain.js'
import { seededRandom } from '../../support/random.js'
import { temporaryDirectory } from '../../support/temporary.js'

test('after a reorg the tail reads the logs of the new branch, and few of the blocks before', async (t) => {
  const datadir = temporaryDirectory(t)
  const random = seededRandom(77)
  const chain = await openInventedChain(datadir, { random, logsPerBlock: 40 })
  const db = openForReading(datadir)
  t.after(() => {
    db.close()
    chain.close()
  })
  const counts = () => chain.blocks.map(({ receipts }) => receipts.reduce((sum, { logs }) => sum + logs.length, 0))
  const logsFrom = (number: number) =>
    counts()
      .slice(number)
      .reduce((sum, count) => sum + count, 0)
  const tail = new LogTail(db)
  /** @returns rows read */
  const refresh = () => {
    const facts = { firstLog: 0, logs: 0, loaded: 0, candidates: 0 }
    tail.refresh(0, logsFrom(0), { deadline: noDeadline, facts })
    return facts.loaded
  }
  const scan = (scanned: typeof tail) => {
    const range = { from: 0, to: logsFrom(0) }
    return Array.from({ length: 12 }, (_, id) =>
      scanned.scan([{ column: 'address_id', keys: [id + 1], values: [] }], 0, range),
    )
  }
  for (let i = 0; i < 600; i++) {
    chain.change(0, 1)
    refresh()
  }
  for (let reorg = 0; reorg < 40; reorg++) {
    const removed = 1 + random.below(30)
    chain.change(removed, removed - 1 + random.below(3))
    const read = refresh()
    // The rows that the reorg before it read are a unit.
    const first = Math.max(0, chain.blocks.length - 2 - removed - 32)
    assert.ok(read <= logsFrom(first), `${read} rows read, the branch has ${logsFrom(first)}`)
    const fresh = new LogTail(db)
    fresh.refresh(0, logsFrom(0), { deadline: noDeadline })
    assert.deepEqual(scan(tail), scan(fresh))
  }
})
