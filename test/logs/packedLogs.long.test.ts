import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Log } from '../../src/chain/eth/types.js'
import { deadlineAfter, noDeadline } from '../../src/lib/deadline.js'
import { TooManyLogs } from '../../src/logs/errors.js'
import type { LogFilter } from '../../src/logs/filter.js'
import { createLogSource, type LogSource } from '../../src/logs/query.js'
import { createChainWriter } from '../../src/store/chain/chainWriter.js'
import type { Database } from '../../src/store/database.js'
import { blockAt } from '../support/blocks.js'
import { inTransaction } from '../support/packedChain.js'
import { seededRandom } from '../support/random.js'
import { randomReceipt, randomTransaction } from '../support/randomBlocks.js'
import { temporaryConnections } from '../support/temporaryConnections.js'
import { asPlaced, expectedMatches, FIRST_BLOCK, randomBlocks, randomFilter, textOf } from './randomFilters.js'
import { hashOfBlock, type PlacedLog, seededFractions, temporaryDatabase, writeLogs } from './randomLogs.js'
import { checkRefusal } from './refusals.js'

/* Log queries while the newest block is packed: the same answers as when it is rows. */

const BLOCKS = 120

/** A chain of rows whose newest block is packed, with about 450 logs, some thousand logs before it. */
function packedChain(db: Database, seed: number): PlacedLog[] {
  const random = seededFractions(seed)
  const placed = writeLogs(db, FIRST_BLOCK, randomBlocks(random, BLOCKS - 1))
  const number = FIRST_BLOCK + BLOCKS - 1
  placed.push(...appendPacked(db, number, randomBlocks(random, 80).flat(), seed))
  return placed
}

/** Appends a block with those logs by transaction. */
function appendPacked(db: Database, number: number, logsOf: Log[][], seed: number): PlacedLog[] {
  const random = seededRandom(seed)
  const { header } = blockAt(number)
  const transactions = logsOf.map(() => randomTransaction(random))
  const receipts = transactions.map((transaction, i) => ({ ...randomReceipt(random, transaction), logs: logsOf[i] }))
  const block = {
    ...{ hash: hashOfBlock(number), header: { ...header, timestamp: BigInt(number * 12) } },
    ...{ transactions, uncles: [], sizeBytes: 0 },
  }
  const writer = createChainWriter(db, { packsTip: true })
  inTransaction(writer, () => writer.insertBlock(block, receipts, 0n))
  let logIndex = 0
  return logsOf.flatMap((logs, transactionIndex) =>
    logs.map((log) => {
      const { hash: transactionHash } = transactions[transactionIndex]
      return { ...log, blockNumber: number, transactionIndex, transactionHash, logIndex: logIndex++ }
    }),
  )
}

/** Asks for random filters, whole and by pages, and compares with a look at every log. */
function check(source: LogSource, logs: PlacedLog[], { seed, filters }: { seed: number; filters: number }) {
  const random = seededFractions(seed)
  const done = { results: 0, refused: 0, cut: 0 }
  for (let i = 0; i < filters; i++) {
    const filter = randomFilter(random, BLOCKS)
    const maxResults = random() < 0.3 ? Math.floor(random() * 400) : 100_000
    const expected = expectedMatches(logs, filter)
    const ask = () => source.query(filter, { deadline: noDeadline, maxResults })
    const explained = source.explain(filter, { deadline: noDeadline, maxResults }).facts
    if (expected.length > maxResults) {
      done.refused++
      checkRefusal(source, logs, filter, maxResults)
      assert.equal(explained.outcome, 'tooMany')
    } else {
      const found = asPlaced(ask()).map(textOf)
      done.results += found.length
      assert.deepEqual(found, expected.map(textOf))
      assert.deepEqual([explained.results, explained.rows.met], [found.length, found.length])
    }
    const size = 1 + Math.floor(random() * 300)
    const pages = readPages(source, filter, size)
    assert.deepEqual(pages.flat().map(textOf), expected.map(textOf))
    // Pages that end in the newest block, with more of it behind them.
    if (pages.slice(0, -1).some((page) => page.at(-1)?.blockNumber === FIRST_BLOCK + BLOCKS - 1)) done.cut++
  }
  return done
}

function readPages(source: LogSource, filter: LogFilter, maxResults: number): PlacedLog[][] {
  const pages: PlacedLog[][] = []
  let fromId: number | undefined
  do {
    const page = source.page(filter, { fromId, maxResults, sliceEnds: noDeadline })
    const logs = asPlaced(page.logs)
    pages.push(logs)
    assert.ok(logs.length <= maxResults)
    // What is done is done: whatever comes later is in a later block.
    if (page.nextId === undefined) assert.equal(page.scannedTo, filter.toBlock)
    else assert.ok(logs.length > 0 && page.scannedTo >= logs.at(-1)!.blockNumber - 1)
    fromId = page.nextId
  } while (fromId !== undefined)
  return pages
}

test('a packed block answers random filters as its rows do', (t) => {
  const db = temporaryDatabase(t)
  const logs = packedChain(db, 81)
  const newest = logs.filter(({ blockNumber }) => blockNumber === FIRST_BLOCK + BLOCKS - 1).length
  assert.ok(newest > 300 && logs.length - newest > 500, `${newest} of ${logs.length} logs`)
  const source = createLogSource(db)
  const done = check(source, logs, { seed: 82, filters: 1_000 })
  assert.ok(done.results > 20_000 && done.refused > 50 && done.cut > 50, JSON.stringify(done))
  const writer = createChainWriter(db)
  inTransaction(writer, () => assert.equal(writer.unpack(), true))
  assert.deepEqual(
    check(source, logs, { seed: 82, filters: 300 }),
    check(createLogSource(db), logs, { seed: 82, filters: 300 }),
  )
})

test('exactly the limit is given and one more refused, wherever the last of them lies', (t) => {
  const db = temporaryDatabase(t)
  const log: Log = {
    address: new Uint8Array(20).fill(1),
    topics: [new Uint8Array(32).fill(5)],
    data: new Uint8Array(0),
  }
  writeLogs(db, FIRST_BLOCK, [[Array(900).fill(log)]])
  appendPacked(db, FIRST_BLOCK + 1, [Array(60).fill(log), Array(40).fill(log)], 83)
  const source = createLogSource(db)
  const range = { fromBlock: FIRST_BLOCK, toBlock: FIRST_BLOCK + 1 }
  const shapes: Partial<LogFilter>[] = [{}, { addresses: [log.address] }, { topics: [log.topics] }, { topics: [null] }]
  for (const shape of shapes) {
    const filter = { ...range, topics: [], ...shape }
    const ask = (maxResults: number) => source.query(filter, { deadline: noDeadline, maxResults })
    assert.equal(ask(1_000).count, 1_000)
    for (const less of [999, 950, 900, 899]) assert.throws(() => ask(less), TooManyLogs)
    const { overflow } = source.explain(filter, { deadline: noDeadline, maxResults: 999 }).facts
    assert.deepEqual(overflow, { log: 999, block: FIRST_BLOCK + 1 })
    // A page of all rows, and one of the packed block alone.
    const rows = source.page(filter, { maxResults: 900, sliceEnds: noDeadline })
    assert.deepEqual([rows.logs.count, rows.nextId, rows.scannedTo], [900, 900, FIRST_BLOCK])
    const rest = source.page(filter, { fromId: 900, maxResults: 900, sliceEnds: noDeadline })
    assert.deepEqual([rest.logs.count, rest.nextId, rest.scannedTo], [100, undefined, FIRST_BLOCK + 1])
  }
  assert.equal(
    source.query({ ...range, toBlock: FIRST_BLOCK, topics: [] }, { deadline: noDeadline, maxResults: 900 }).count,
    900,
  )
})

test('a page whose time is over ends before the packed block, and the next goes on', (t) => {
  const db = temporaryDatabase(t)
  const logs = packedChain(db, 84)
  const source = createLogSource(db)
  const filter = { fromBlock: FIRST_BLOCK, toBlock: FIRST_BLOCK + BLOCKS - 1, topics: [null] }
  const found: PlacedLog[] = []
  let fromId: number | undefined
  do {
    const page = source.page(filter, { fromId, maxResults: 10_000, sliceEnds: deadlineAfter(-1) })
    found.push(...asPlaced(page.logs))
    fromId = page.nextId
  } while (fromId !== undefined)
  assert.deepEqual(found.map(textOf), expectedMatches(logs, filter).map(textOf))
})

test('a source that lives through packing, rows and the next block sees each commit', (t) => {
  const { writing: db, reading } = temporaryConnections(t)
  const logs = writeLogs(db, FIRST_BLOCK, randomBlocks(seededFractions(85), 20))
  const source = createLogSource(reading)
  const writer = createChainWriter(db)
  for (let i = 0; i < 8; i++) {
    logs.push(...appendPacked(db, FIRST_BLOCK + 20 + i, randomBlocks(seededFractions(90 + i), 10).flat(), 90 + i))
    for (const pack of [true, false]) {
      if (!pack && i % 2 === 0) inTransaction(writer, () => writer.unpack())
      const filter = { fromBlock: FIRST_BLOCK, toBlock: FIRST_BLOCK + BLOCKS, topics: [] }
      const found = source.query(filter, { deadline: noDeadline, maxResults: 100_000 })
      assert.deepEqual(asPlaced(found).map(textOf), logs.map(textOf))
    }
  }
})
