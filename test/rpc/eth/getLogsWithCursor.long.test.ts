import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LogsUnavailable } from '../../../src/index/logs/errors.js'
import type { LogFilter } from '../../../src/index/logs/filter.js'
import { createLogIndexer } from '../../../src/index/logs/indexer.js'
import { createLogSource } from '../../../src/index/logs/query.js'
import { deadlineAfter, noDeadline } from '../../../src/lib/deadline.js'
import { formatData, formatQuantity } from '../../../src/lib/hex.js'
import { silentLogger } from '../../../src/lib/logger.js'
import type { RpcContext } from '../../../src/rpc/core/context.js'
import { RpcError } from '../../../src/rpc/core/errors.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import type { JsonBytes, Method } from '../../../src/rpc/core/method.js'
import { getLogs } from '../../../src/rpc/eth/getLogs.js'
import { getLogsWithCursor } from '../../../src/rpc/eth/getLogsWithCursor.js'
import { readCursorSecret } from '../../../src/store/cursorSecret.js'
import type { Database } from '../../../src/store/database.js'
import type { LogPlace } from '../../../src/store/rows/blockOfLog.js'
import { createChainReader } from '../../../src/store/rows/chainReader.js'
import { asPlaced, FIRST_BLOCK, randomBlocks, randomFilter, textOf } from '../../index/logs/randomFilters.js'
import {
  numberedBytes,
  type PlacedLog,
  seededFractions,
  temporaryDatabase,
  writeLogs,
} from '../../index/logs/randomLogs.js'
import { ALL, THOROUGH } from '../../support/thorough.js'

const BLOCKS = 500
// At each stage of the index.
const FILTERS = THOROUGH ? 80 : ALL ? 40 : 30

const isAfter = (a: LogPlace, b: LogPlace) =>
  a.blockNumber > b.blockNumber || (a.blockNumber === b.blockNumber && a.logIndex > b.logIndex)

test('the union of pages is the single answer, whatever ends the pages', (t) => {
  const random = seededFractions(21)
  const db = temporaryDatabase(t)
  writeLogs(db, FIRST_BLOCK, randomBlocks(seededFractions(20), BLOCKS))
  const indexer = createLogIndexer(db, { chunkBits: 6 })
  const source = createLogSource(db)
  let pages = 0
  for (let i = 0; i < 3 * FILTERS; i++) {
    if (i === FILTERS) indexer.add([]) // sealed from here on
    if (i === 2 * FILTERS) indexer.work(Number.POSITIVE_INFINITY) // merged
    const filter = randomFilter(random, BLOCKS)
    const whole = source.query(filter, { deadline: noDeadline, maxResults: 100_000 })
    const sliceEnds = random() < 0.5 ? deadlineAfter(-1) : noDeadline
    const maxResults = 1 + Math.floor(random() * 400)
    const parts: PlacedLog[] = []
    let from: LogPlace | undefined
    let scannedTo = filter.fromBlock - 1
    do {
      const page = source.page(filter, { from, maxResults, sliceEnds })
      assert.ok(page.logs.count <= maxResults)
      assert.ok(page.scannedTo >= scannedTo, 'a page never goes back')
      assert.ok(page.next === undefined || from === undefined || isAfter(page.next, from), 'each page continues')
      scannedTo = page.scannedTo
      from = page.next
      parts.push(...asPlaced(page.logs))
      pages++
    } while (from !== undefined)
    assert.equal(scannedTo, filter.toBlock)
    assert.deepEqual(parts.map(textOf), asPlaced(whole).map(textOf), `filter ${i}`)
  }
  assert.ok(pages > 12 * FILTERS, `${pages} pages`)
})

interface Page {
  logs: { blockNumber: string; logIndex: string }[]
  cursor: string | null
  scannedTo: string | null
  headHash: string
}

function contextOf(db: Database, cursorSecret = readCursorSecret(db)): RpcContext {
  return {
    chain: createChainReader(db),
    logs: createLogSource(db),
    limits: DEFAULT_LIMITS,
    cursorSecret,
    deadline: noDeadline,
    log: silentLogger,
  } as unknown as RpcContext
}

/** What the method answers with these parameters as they come in JSON. */
function callMethod<T>(method: Method, db: Database, params: unknown[], cursorSecret?: Uint8Array): T {
  return callIn(contextOf(db, cursorSecret), method, params)
}

function callIn<T>(context: RpcContext, method: Method, params: unknown[]): T {
  const decoded = method.params.map((param, i) => param.decode(params[i], param.name))
  return JSON.parse(Buffer.from((method.handler(context, ...decoded) as JsonBytes).bytes).toString()) as T
}

const placeOf = ({ blockNumber, logIndex }: Page['logs'][number]) => [blockNumber, logIndex]

const askPage = (db: Database, ...params: unknown[]) => callMethod<Page>(getLogsWithCursor, db, params)

function asObject({ fromBlock, toBlock, addresses, topics }: LogFilter) {
  return {
    fromBlock: formatQuantity(fromBlock),
    toBlock: formatQuantity(toBlock),
    address: addresses?.map(formatData),
    topics: topics.map((values) => values?.map(formatData) ?? null),
  }
}

test('the method walks a filter by cursors to the logs of eth_getLogs', (t) => {
  const db = temporaryDatabase(t)
  writeLogs(db, FIRST_BLOCK, randomBlocks(seededFractions(22), BLOCKS))
  const random = seededFractions(23)
  for (let i = 0; i < (THOROUGH ? 20 : 10); i++) {
    const filter = asObject(randomFilter(random, BLOCKS))
    const logs: unknown[] = []
    let cursor: string | null = null
    do {
      const page: Page = askPage(db, filter, cursor, 57)
      logs.push(...page.logs)
      cursor = page.cursor
      assert.equal(page.headHash, formatData(numberedBytes(2_000_000 + Number(filter.toBlock), 32)))
      if (cursor === null) assert.equal(page.scannedTo, filter.toBlock)
    } while (cursor !== null)
    assert.deepEqual(logs, callMethod<unknown[]>(getLogs, db, [filter]))
  }
})

test('a cursor is bound to its filter', (t) => {
  const db = temporaryDatabase(t)
  writeLogs(db, FIRST_BLOCK, randomBlocks(seededFractions(24), BLOCKS))
  const filter = { fromBlock: formatQuantity(FIRST_BLOCK), toBlock: 'latest' }
  const { cursor } = askPage(db, filter, undefined, 10)
  assert.throws(() => askPage(db, { ...filter, topics: [null] }, cursor), /cursor: is of another filter/)
  for (const wrong of ['', 'x', `${cursor}A`, '!!!!']) {
    assert.throws(() => askPage(db, filter, wrong), /cursor: (expected one that|is of another|was altered)/)
  }
  assert.equal(askPage(db, filter, cursor, 10).logs.length, 10)
})

test('a cursor with any bit changed, or of another database, is refused', (t) => {
  const [db, other] = [temporaryDatabase(t), temporaryDatabase(t)]
  for (const each of [db, other]) writeLogs(each, FIRST_BLOCK, randomBlocks(seededFractions(24), 40))
  const filter = { fromBlock: formatQuantity(FIRST_BLOCK), toBlock: 'latest' }
  const { cursor } = askPage(db, filter, undefined, 10)
  const bytes = Buffer.from(cursor!, 'base64url')
  const context = contextOf(db)
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const altered = Buffer.from(bytes)
    altered[bit >> 3] ^= 1 << (bit & 7)
    const expected = bit < 64 ? /cursor: is of another filter/ : /cursor: was altered, or given by another database/
    const params = [filter, altered.toString('base64url')]
    assert.throws(() => callIn(context, getLogsWithCursor, params), expected, `bit ${bit}`)
  }
  assert.throws(() => askPage(other, filter, cursor), /cursor: was altered, or given by another database/)
})

test("servers with one secret take each other's cursors, also when they begin with different blocks", (t) => {
  const [whole, late] = [temporaryDatabase(t), temporaryDatabase(t)]
  const blocks = randomBlocks(seededFractions(26), BLOCKS)
  writeLogs(whole, FIRST_BLOCK, blocks)
  const skipped = 100
  writeLogs(late, FIRST_BLOCK + skipped, blocks.slice(skipped))
  const secret = readCursorSecret(whole)
  const filter = { fromBlock: formatQuantity(FIRST_BLOCK + skipped), toBlock: formatQuantity(FIRST_BLOCK + BLOCKS - 1) }
  const logs: unknown[] = []
  let cursor: string | null = null
  let pages = 0
  do {
    const page: Page = callMethod(getLogsWithCursor, pages++ % 2 === 0 ? whole : late, [filter, cursor, 101], secret)
    logs.push(...page.logs.map(placeOf))
    cursor = page.cursor
  } while (cursor !== null)
  assert.ok(pages > 4, `${pages} pages`)
  const expected = callMethod<Page['logs']>(getLogs, late, [filter])
  assert.deepEqual(logs, expected.map(placeOf))
  const first = callMethod<Page>(
    getLogsWithCursor,
    whole,
    [{ fromBlock: formatQuantity(FIRST_BLOCK) }, undefined, 1],
    secret,
  )
  assert.throws(
    () => callMethod(getLogsWithCursor, late, [{ fromBlock: formatQuantity(FIRST_BLOCK) }, first.cursor], secret),
    LogsUnavailable,
  )
})

test('a server that does not hold the last block of the query yet says so, and leaves out nothing', (t) => {
  const [ahead, behind, caughtUp] = [temporaryDatabase(t), temporaryDatabase(t), temporaryDatabase(t)]
  const blocks = randomBlocks(seededFractions(27), BLOCKS)
  for (const each of [ahead, caughtUp]) writeLogs(each, FIRST_BLOCK, blocks)
  writeLogs(behind, FIRST_BLOCK, blocks.slice(0, -1))
  const secret = readCursorSecret(ahead)
  const filter = { fromBlock: formatQuantity(FIRST_BLOCK), toBlock: 'latest' }
  const { cursor } = callMethod<Page>(getLogsWithCursor, ahead, [filter, undefined, 10], secret)
  const head = FIRST_BLOCK + BLOCKS - 2
  const message = `the query of the cursor ends with block ${head + 1}, the newest block is ${head}; try again`
  assert.throws(() => callMethod(getLogsWithCursor, behind, [filter, cursor], secret), { message })
  const page = (db: Database) => callMethod<Page>(getLogsWithCursor, db, [filter, cursor, 50], secret).logs.map(placeOf)
  assert.deepEqual(page(caughtUp), page(ahead))
})

test('a reorg below the cursor is an error that names the fork block; one above it is none', (t) => {
  const db = temporaryDatabase(t)
  writeLogs(db, FIRST_BLOCK, randomBlocks(seededFractions(25), BLOCKS))
  const filter = { fromBlock: formatQuantity(FIRST_BLOCK), toBlock: 'latest' }
  const { cursor, scannedTo } = askPage(db, filter, undefined, 700)
  const seen = Number(scannedTo) + 1
  const replace = (from: number) =>
    db.prepare("UPDATE blocks SET hash = CAST(printf('%032d', number) AS BLOB) WHERE number >= ?").run(from)
  replace(seen + 1)
  assert.ok(askPage(db, filter, cursor, 700).logs.length > 0)
  for (const fork of [seen, seen - 1, seen - 20, seen - 63]) {
    replace(fork)
    assert.throws(
      () => askPage(db, filter, cursor),
      (error) => error instanceof RpcError && (error.data as { forkBlock: string }).forkBlock === formatQuantity(fork),
    )
  }
})
