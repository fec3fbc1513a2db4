import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Log } from '../../src/chain/eth/types.js'
import { LOG_SEARCH_INDEX } from '../../src/index/logs/logSearchIndex.js'
import { verifyIndex } from '../../src/index/segments/verifyIndex.js'
import { equalBytes } from '../../src/lib/bytes.js'
import { formatData, formatQuantity } from '../../src/lib/hex.js'
import { createSegmentStore } from '../../src/store/index/segmentStore.js'
import { openForReading } from '../../src/store/open.js'
import { CHAIN_INDEXES } from '../../src/sync/chainIndexer.js'
import { spawnNode, startCairn } from '../support/cairn.js'
import { indexedBlocks } from '../support/chains/indexedChain.js'
import type { BenchBlock } from '../support/chains/logBlocks.js'
import type { IndexWriterOptions } from '../support/indexWriterProcess.js'
import { type SeededRandom, seededRandom } from '../support/random.js'
import { resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'

/* The index under a writer that is killed, and under one that takes blocks back, as clients of the server see it. */

const SEED = 5
const HEAD = 40 // 10,000 logs: 157 chunks, two segments of the highest level

const made = new Map<number | undefined, BenchBlock[]>()

function takeBlocks(head: number, forkedAt?: number): BenchBlock[] {
  const blocks = made.get(forkedAt) ?? []
  made.set(forkedAt, blocks)
  if (blocks.length === 0) {
    for (const each of indexedBlocks({ seed: SEED, forkedAt })) {
      if (each.block.header.number > HEAD + 2) break
      blocks.push(each)
    }
  }
  return blocks.filter(({ block }) => block.header.number <= head)
}

/** Runs the writer to its end. @returns the signal that ended it */
async function write(datadir: string, options: Omit<IndexWriterOptions, 'seed'>): Promise<string | null> {
  const program = fileURLToPath(new URL('../support/indexWriterProcess.js', import.meta.url))
  const { code, signal, stderr } = await spawnNode([program, datadir, JSON.stringify({ seed: SEED, ...options })]).ended
  assert.ok(signal !== null || code === 0, stderr)
  return signal
}

/** What is stored and under way: the levels of segments that are being built, and the newest block. */
function look(datadir: string): { building: number[]; head: number } {
  const db = openForReading(datadir)
  try {
    for (const kind of CHAIN_INDEXES) verifyIndex(db, kind)
    const building = createSegmentStore(db, LOG_SEARCH_INDEX.tables).segments('building')
    const head = db.prepare<[], number>('SELECT max(number) FROM blocks').pluck().get()!
    return { building: building.map(({ level }) => level), head }
  } finally {
    db.close()
  }
}

/** Holds answers to filters made of logs that there are against a look at every log. */
async function compare(url: string, blocks: readonly BenchBlock[], random: SeededRandom, where: string): Promise<void> {
  const logs = blocks.flatMap(({ block, logs }) => logs.map((log, logIndex) => ({ log, block, logIndex })))
  for (let i = 0; i < 12; i++) {
    const model = logs[random.below(logs.length)].log
    const position = i % (model.topics.length + 1)
    const wanted = (log: Log) =>
      position === 0
        ? equalBytes(log.address, model.address)
        : log.topics.length >= position && equalBytes(log.topics[position - 1], model.topics[position - 1])
    const topics = position === 0 ? [] : [...Array(position - 1).fill(null), formatData(model.topics[position - 1])]
    const address = position === 0 ? formatData(model.address) : undefined
    const filter = { fromBlock: '0x0', toBlock: 'latest', address, topics }
    const found = await resultOf<{ blockHash: string; logIndex: string; data: string }[]>(url, 'eth_getLogs', [filter])
    assert.deepEqual(
      found.map(({ blockHash, logIndex, data }) => [blockHash, logIndex, data].join()),
      logs
        .filter(({ log }) => wanted(log))
        .map(({ log, block, logIndex }) =>
          [formatData(block.hash), formatQuantity(logIndex), formatData(log.data)].join(),
        ),
      `${where}, filter ${i}`,
    )
  }
}

async function serve(t: TestContext, datadir: string) {
  return startCairn(t, ['--datadir', datadir, '--open', '--max-logs', '100000'])
}

const OTHER_KILLS = [
  { dieAt: 33, steps: 40 },
  { dieAt: 2_600, steps: 2_000 },
  { dieAt: 1_500, steps: 1_000 },
]

test('an index whose writer is killed inside seals and merges answers right, is completed, and follows reorgs', async (t) => {
  const datadir = temporaryDirectory(t)
  const random = seededRandom(3)
  const interrupted = new Set<number>()
  // Few steps after a block leave a seal half done, hundreds a merge.
  for (const { dieAt, steps } of [
    { dieAt: 5, steps: 20 },
    { dieAt: 700, steps: 600 },
    ...(THOROUGH ? OTHER_KILLS : []),
  ]) {
    assert.equal(await write(datadir, { head: HEAD, steps, dieAt }), 'SIGKILL')
    const { building, head } = look(datadir)
    for (const level of building) interrupted.add(level)
    const { url, stop } = await serve(t, datadir)
    await compare(url, takeBlocks(head), random, `killed at step ${dieAt}`)
    await stop()
  }
  assert.ok(interrupted.has(0) && interrupted.size > 1, `a seal and a merge: ${[...interrupted]}`)
  assert.equal(await write(datadir, { head: HEAD, steps: 10 }), null)
  assert.deepEqual(look(datadir), { building: [], head: HEAD })
  const { url } = await serve(t, datadir)
  await compare(url, takeBlocks(HEAD), random, 'completed')
  // Into the second segment of the highest level, then, half merged, into the first.
  await write(datadir, { head: HEAD - 2, forkedAt: 30, rewindTo: 29, steps: 50 })
  await compare(url, takeBlocks(HEAD - 2, 30), random, 'forked at 30')
  await write(datadir, { head: HEAD + 2, forkedAt: 8, rewindTo: 7, steps: 500, dieAt: 9_000 })
  const { head } = look(datadir)
  await compare(url, takeBlocks(head, 8), random, 'forked at 8')
})
