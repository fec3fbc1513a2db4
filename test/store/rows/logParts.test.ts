import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Log } from '../../../src/chain/eth/types.js'
import { formatData, formatQuantity } from '../../../src/lib/hex.js'
import { openForReading } from '../../../src/store/open.js'
import { type BlockChange, ChainFollower, ChangesMissed } from '../../../src/store/rows/chainFollower.js'
import { createPartOfLogs, LOG_PART } from '../../../src/store/rows/logParts.js'
import type { StoredLog } from '../../../src/store/rows/types.js'
import { type InventedBlock, inventLog, openInventedChain } from '../../support/chains/inventedChain.js'
import { seededRandom } from '../../support/random.js'
import { temporaryDirectory } from '../../support/temporary.js'

/* Logs of a new block are read in parts, between which the chain may change. */

/** A chain whose blocks have what `inventLogs` gives, and a started follower. */
async function openFollowed(t: Parameters<typeof temporaryDirectory>[0], inventLogs: () => Log[]) {
  const datadir = temporaryDirectory(t)
  const chain = await openInventedChain(datadir, { random: seededRandom(6), logsPerBlock: 2, inventLogs })
  const db = openForReading(datadir)
  t.after(() => {
    db.close()
    chain.close()
  })
  const follower = new ChainFollower(db)
  follower.start()
  return { chain, db, follower }
}

/** What identifies and describes a log, of the block as it was stored. */
const describe = ({ block, receipts }: InventedBlock) =>
  receipts
    .flatMap(({ logs }) => logs)
    .map(({ address, topics, data }, i) => [
      formatData(block.hash),
      formatQuantity(i),
      formatData(address),
      topics.map(formatData),
      formatData(data),
    ])

const describeStored = ({ log: { address, topics, data }, position: { blockHash, logIndex } }: StoredLog) => [
  formatData(blockHash),
  formatQuantity(logIndex),
  formatData(address),
  topics.map(formatData),
  formatData(data),
]

test('whatever happens to a block while its logs are read, they are those that it had', async (t) => {
  const random = seededRandom(7)
  const { chain, follower } = await openFollowed(t, () =>
    Array.from({ length: random.below(3 * LOG_PART.logs) }, () => ({
      ...inventLog(random),
      ...(random.below(100) === 0 && { data: random.bytes(random.below(LOG_PART.dataBytes)) }),
    })),
  )
  const stored = new Map<string, InventedBlock>()
  const change = () => {
    chain.change(random.below(Math.min(3, chain.blocks.length - 1)), random.below(3))
    for (const each of chain.blocks) stored.set(formatData(each.block.hash), each)
  }
  let [removedMeanwhile, checked] = [0, 0]
  for (let round = 0; round < 40; round++) {
    change()
    for (let next = follower.next(); next !== undefined; next = follower.next()) {
      if (next.kind === 'removed') continue
      const expected = describe(stored.get(formatData(next.block.hash))!)
      const changeAt = random.below(expected.length + 1)
      const logs: unknown[] = []
      for (const log of next.logs) {
        if (logs.length === changeAt && round < 39) change()
        logs.push(describeStored(log))
      }
      assert.deepEqual(logs, expected, `round ${round}`)
      checked++
      if (!chain.blocks.some(({ block }) => formatData(block.hash) === formatData((next as BlockChange).block.hash))) {
        removedMeanwhile++
      }
      if (checked > 60) break
    }
  }
  assert.ok(removedMeanwhile > 5, `${removedMeanwhile} of ${checked} blocks were removed while they were read`)
})

test('one part is read at once; logs that are not kept any more are missed, not left out', async (t) => {
  const random = seededRandom(8)
  const { chain, follower } = await openFollowed(t, () =>
    Array.from({ length: LOG_PART.logs + 100 }, () => inventLog(random)),
  )
  chain.change(0, 1)
  const { logs } = follower.next()!
  const read = logs[Symbol.iterator]()
  read.next()
  chain.change(1, 0)
  chain.db.exec('DELETE FROM removed_blocks')
  for (let i = 1; i < LOG_PART.logs; i++) assert.equal(read.next().done, false)
  assert.throws(() => read.next(), ChangesMissed)
})

test('a part has as many logs as its bounds allow, at least one', async (t) => {
  const random = seededRandom(9)
  const lengths = () => [0, 32, 40, 5_000, LOG_PART.dataBytes, LOG_PART.dataBytes + 1][random.below(6)]
  let spread = true
  const { chain, db } = await openFollowed(t, () =>
    Array.from({ length: 400 }, () => ({ ...inventLog(random), data: random.bytes(spread ? lengths() : 32) })),
  )
  spread = false
  chain.change(0, 1)
  const partOf = createPartOfLogs(db)
  const stored = chain.blocks.flatMap(({ receipts }) => receipts.flatMap(({ logs }) => logs))
  for (let firstLog = 0; firstLog < stored.length; firstLog++) {
    const logCount = 1 + random.below(stored.length - firstLog)
    let [count, bytes] = [0, 0]
    for (const { data } of stored.slice(firstLog, firstLog + logCount)) {
      bytes += data.length
      if (count > 0 && (count === LOG_PART.logs || bytes > LOG_PART.dataBytes)) break
      count++
    }
    assert.equal(partOf({ firstLog, logCount }), count, `from log ${firstLog}, ${logCount} logs`)
  }
})
