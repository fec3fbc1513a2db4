import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Log } from '../../../src/chain/eth/types.js'
import { formatLog } from '../../../src/index/logs/logJson.js'
import { arrayBytesOf, createLogWriter } from '../../../src/index/logs/logText.js'
import { equalBytes, trimLeft } from '../../../src/lib/bytes.js'
import { DeadlineExceeded, deadlineAfter, noDeadline } from '../../../src/lib/deadline.js'
import { encodeUint } from '../../../src/store/columns.js'
import type { Database } from '../../../src/store/database.js'
import type { LogRow } from '../../../src/store/rows/logRows.js'
import type { Clause, RowFilter } from '../../../src/store/rows/rowFilter.js'
import { FIRST_BLOCK, jsonOf } from './randomFilters.js'
import {
  hashOfBlock,
  numberedBytes,
  type PlacedLog,
  seededFractions,
  temporaryDatabase,
  writeLogs,
} from './randomLogs.js'

/** What an object for each log and `JSON.stringify` make of them. */
function stringified(logs: readonly PlacedLog[]): string {
  const objects = logs.map((log) => {
    const { blockNumber, transactionHash, transactionIndex, logIndex } = log
    const block = { blockNumber, blockHash: hashOfBlock(blockNumber), blockTimestamp: BigInt(blockNumber * 12) }
    return formatLog(log, { ...block, transactionHash, transactionIndex, logIndex })
  })
  return JSON.stringify(objects)
}

/** Rows of the logs with these ids, with no more than the writer looks at. */
const rowsOf = (logs: readonly PlacedLog[], ids: readonly number[]): LogRow[] =>
  ids.map((id) => [id, logs[id].data.length])

/** Returns `length` bytes; the first `zeros` are zero, the others are not. */
function bytesWithZeros(random: () => number, length: number, zeros: number): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => (i < zeros ? 0 : 1 + Math.floor(random() * 255)))
}

/** Every number of topics, with none to all of their bytes zero, over data of lengths around a word and of 100 KB. */
function awkwardLog(random: () => number): Log {
  const upTo = (n: number) => Math.floor(random() * (n + 1))
  const pick = (choices: number[]) => choices[upTo(choices.length - 1)]
  const length = random() < 0.01 ? 100_000 : pick([0, 1, 31, 32, 33, 63, 64, 65, 200])
  const blank = random() < 0.1
  const word = () => bytesWithZeros(random, 32, blank ? 32 : pick([0, 1, 12, 31, 32]))
  return {
    address: bytesWithZeros(random, 20, pick([0, 1, 20])),
    topics: Array.from({ length: upTo(4) }, word),
    data: bytesWithZeros(random, length, random() < 0.5 ? upTo(length) : pick([0, length])),
  }
}

const sumOf = (numbers: number[]) => numbers.reduce((a, b) => a + b, 0)

function writeAwkward(db: Database, seed: number): PlacedLog[] {
  const random = seededFractions(seed)
  const blocks = Array.from({ length: 120 }, () =>
    Array.from({ length: Math.floor(random() * 4) }, () =>
      Array.from({ length: Math.floor(random() * 9) }, () => awkwardLog(random)),
    ),
  )
  return writeLogs(db, FIRST_BLOCK, blocks)
}

test('writes the same bytes as JSON.stringify of the objects', (t) => {
  const db = temporaryDatabase(t)
  const logs = writeAwkward(db, 81)
  const { write } = createLogWriter(db)
  const all = logs.map((_, id) => id)
  assert.equal(jsonOf(write(rowsOf(logs, all), { deadline: noDeadline })), stringified(logs))
  const random = seededFractions(82)
  for (const share of [0.9, 0.3, 0.05, 0.005, 0]) {
    const ids = all.filter(() => random() < share)
    const found = write(rowsOf(logs, ids), { deadline: noDeadline })
    const expected = stringified(ids.map((id) => logs[id]))
    assert.equal(jsonOf(found), expected)
    assert.deepEqual([found.count, arrayBytesOf(found)], [ids.length, expected.length])
  }
  // What the test is about must have come up.
  const isBlank = (bytes: Uint8Array) => bytes.every((byte) => byte === 0)
  const kinds = [
    ...[0, 1, 2, 3, 4].map((n) => logs.filter(({ topics }) => topics.length === n)),
    logs.filter(({ topics }) => topics.length > 3 && topics.slice(1).every(isBlank)),
    ...[0, 1, 32, 33, 100_000].map((n) => logs.filter(({ data }) => data.length === n)),
    logs.filter(({ data }) => data.length > 33 && isBlank(data)),
    logs.filter(({ data }) => data.length > 64 && !isBlank(data) && isBlank(data.slice(0, 33))),
  ]
  assert.ok(
    kinds.every(({ length }) => length > 0),
    kinds.map(({ length }) => length).join(),
  )
})

test('writes numbers beyond 32 bits, and the first and last log of a block', (t) => {
  const db = temporaryDatabase(t)
  const log: Log = { address: numberedBytes(1, 20), topics: [], data: new Uint8Array(0) }
  const [first, ...rest] = writeLogs(db, 0, [[[log, log, log]]])
  const far = { number: 2 ** 53 - 1, firstLog: 2 ** 33, firstTx: 2 ** 34 }
  const txIndex = 2 ** 31 + 5
  db.prepare('UPDATE blocks SET number = :number, first_log = :firstLog, first_tx = :firstTx').run(far)
  db.prepare('UPDATE transactions SET id = ?').run(far.firstTx + txIndex)
  db.prepare('UPDATE logs SET tx_index = ?, id = id + ? + 2147483647 * (id > 0)').run(txIndex, far.firstLog)
  const ids = [0, 2 ** 31, 2 ** 31 + 1]
  const rows = ids.map((id): LogRow => [far.firstLog + id, 0])
  const { write } = createLogWriter(db)
  const exact = 2n ** 53n - 1n
  const times = [2n ** 40n + 1n, exact, exact + 1n, exact + 2n, 10n ** 18n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 1n]
  const random = seededFractions(85)
  for (let i = 0; i < 50; i++) times.push(exact + BigInt(Math.floor(random() * 2 ** (1 + (i % 63)))))
  for (const blockTimestamp of times) {
    db.prepare('UPDATE blocks SET timestamp = ?').run(encodeUint(blockTimestamp))
    const objects = [first, ...rest].map(({ transactionHash }, i) =>
      formatLog(log, {
        blockNumber: far.number,
        blockHash: hashOfBlock(0),
        blockTimestamp,
        transactionHash,
        transactionIndex: txIndex,
        logIndex: ids[i],
      }),
    )
    assert.equal(jsonOf(write(rows, { deadline: noDeadline })), JSON.stringify(objects))
  }
})

test('writes numbers of every length in UTF-8, and those that are not code points', (t) => {
  const db = temporaryDatabase(t)
  const log: Log = { address: numberedBytes(1, 20), topics: [numberedBytes(2, 32)], data: new Uint8Array(0) }
  const numbers = [
    0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xd800, 0xdfff, 0xfffc, 0xfffd, 0xfffe, 0xffff, 0x10000, 0xf_fffd, 0xf_ffff,
  ]
  numbers.push(0x10_0000, 0x10_ffff, 0x11_0000, 0xfffd * 2 ** 20, 2 ** 35, 2 ** 36)
  const [placed] = writeLogs(db, 0, [[[log]]])
  const { write, writeWanted } = createLogWriter(db)
  for (const number of numbers) {
    for (const column of ['transactionIndex', 'logIndex', 'blockNumber', 'address'] as const) {
      const values = { transactionIndex: 0, logIndex: 0, blockNumber: 0, address: 1, [column]: number }
      db.prepare('UPDATE blocks SET number = ?, n_logs = ?').run(values.blockNumber, values.logIndex + 1)
      db.prepare('UPDATE transactions SET id = ?').run(values.transactionIndex)
      db.prepare('UPDATE addresses SET id = ?').run(values.address)
      db.prepare('UPDATE logs SET tx_index = :transactionIndex, id = :logIndex, address_id = :address').run(values)
      const { blockNumber, transactionIndex, logIndex } = values
      const block = { blockNumber, blockHash: hashOfBlock(0), blockTimestamp: 0n }
      const place = { ...block, transactionIndex, logIndex, transactionHash: placed.transactionHash }
      const expected = JSON.stringify([formatLog(log, place)])
      assert.equal(jsonOf(write([[logIndex, 0]], { deadline: noDeadline })), expected, `${column} ${number}`)
      const everything: RowFilter = { clauses: [], minTopics: 0 }
      for (const candidates of [[logIndex], { from: logIndex, to: logIndex + 1 }]) {
        const texts = writeWanted(candidates, everything, { deadline: noDeadline })
        if (texts) assert.equal(jsonOf(texts), expected, `${column} ${number}`)
        else assert.ok(number === 0xfffd || number >= 0xf_fffd, `${column} ${number}`)
      }
    }
  }
})

test('500 logs with 8 KiB of data each are written in one go', (t) => {
  const db = temporaryDatabase(t)
  const data = Uint8Array.from({ length: 8_192 }, (_, i) => i | 1)
  const log: Log = { address: numberedBytes(1, 20), topics: [1, 2, 3, 4].map((n) => numberedBytes(n, 32)), data }
  const logs = writeLogs(db, 0, [[Array(500).fill(log)]])
  const texts = createLogWriter(db).writeWanted(
    { from: 0, to: 500 },
    { clauses: [], minTopics: 0 },
    { deadline: noDeadline },
  )
  assert.ok(texts && jsonOf(texts) === stringified(logs))
})

test('writes in the order in which logs are asked for', (t) => {
  const db = temporaryDatabase(t)
  const logs = writeAwkward(db, 83)
  const random = seededFractions(84)
  const shuffled = logs.map((_, id) => ({ id, at: random() })).sort((a, b) => a.at - b.at)
  const rows = rowsOf(
    logs,
    shuffled.map(({ id }) => id),
  )
  const { write } = createLogWriter(db, { logs: rows.length, dataBytes: Number.POSITIVE_INFINITY })
  assert.equal(jsonOf(write(rows, { deadline: noDeadline })), stringified(shuffled.map(({ id }) => logs[id])))
})

test('a statement writes a limited number of logs and bytes of data, and a log with more data alone', (t) => {
  const db = temporaryDatabase(t)
  const logs = writeAwkward(db, 85)
  const rows = rowsOf(
    logs,
    logs.map((_, id) => id),
  )
  const limits = { logs: 7, dataBytes: 300 }
  let statements = 0
  const deadline = { ...noDeadline, check: () => void statements++ }
  assert.equal(jsonOf(createLogWriter(db, limits).write(rows, { deadline })), stringified(logs))
  const batches: number[][] = []
  for (const [, size] of rows) {
    const last = batches.at(-1)
    const isFull = last === undefined || last.length === limits.logs || sumOf(last) + size > limits.dataBytes
    if (isFull) batches.push([size])
    else last.push(size)
  }
  assert.equal(statements, batches.length)
  const kinds = [
    batches.some(([size]) => size > limits.dataBytes),
    batches.some(({ length }) => length === limits.logs),
  ]
  assert.deepEqual(kinds, [true, true])
})

test('a log that lost its transaction or its address is an error, not a shorter answer', (t) => {
  for (const table of ['transactions', 'addresses']) {
    const db = temporaryDatabase(t)
    const logs = writeAwkward(db, 87)
    db.prepare(`DELETE FROM ${table} WHERE id = (SELECT max(id) FROM ${table})`).run()
    const rows = rowsOf(
      logs,
      logs.map((_, id) => id),
    )
    assert.throws(() => createLogWriter(db).write(rows, { deadline: noDeadline }), /lack/)
  }
})

test('looks at the deadline before each statement', (t) => {
  const db = temporaryDatabase(t)
  const logs = writeAwkward(db, 86)
  const rows = rowsOf(logs, [0, 1, 2, 3, 4])
  const { write } = createLogWriter(db, { logs: 1, dataBytes: 1_000_000 })
  let checks = 0
  write(rows, { deadline: { ...noDeadline, check: () => void checks++ } })
  assert.equal(checks, 5)
  assert.throws(() => write(rows, { deadline: deadlineAfter(-1) }), DeadlineExceeded)
})

test('candidates are compared and written in one go, unless there are long data or something is missing', (t) => {
  const db = temporaryDatabase(t)
  const logs = writeAwkward(db, 88)
  const { writeWanted: write } = createLogWriter(db)
  const random = seededFractions(89)
  const short = logs.map((_, id) => id).filter((id) => logs[id].data.length <= 8_192)
  const addressId = db.prepare<[Uint8Array], number>('SELECT id FROM addresses WHERE address = ?').pluck()
  const filterOf = ({ address, topics }: PlacedLog, position: number): RowFilter => {
    const column = (['address_id', 'topic1', 'topic2', 'topic3'] as const)[position]
    const value = position === 0 ? address : topics[position]
    const key = position === 0 ? addressId.get(address)! : trimLeft(value)
    return { clauses: [{ column, keys: [key], values: [value] }], minTopics: 0 }
  }
  let wanted = 0
  for (let i = 0; i < 200; i++) {
    const ids = short.filter(() => random() < 0.3)
    const chosen = logs[ids[Math.floor(random() * ids.length)]]
    const position = Math.floor(random() * Math.max(1, chosen.topics.length))
    const filter = filterOf(chosen, position)
    filter.minTopics = Math.floor(random() * 5)
    const isWanted = ({ address, topics }: PlacedLog) =>
      topics.length >= filter.minTopics &&
      (position === 0
        ? equalBytes(address, chosen.address)
        : topics.length > position && equalBytes(topics[position], chosen.topics[position]))
    const expected = ids.map((id) => logs[id]).filter(isWanted)
    wanted += expected.length
    assert.equal(jsonOf(write(ids, filter, { deadline: noDeadline })!), stringified(expected))
  }
  assert.ok(wanted > 100)
  const everything: RowFilter = { clauses: [], minTopics: 0 }
  const long = logs.findIndex(({ data }) => data.length > 8_192)
  assert.equal(write([short[0], long], everything, { deadline: noDeadline }), undefined)
  assert.equal(write([short[0]], everything, { deadline: noDeadline })?.count, 1)
  for (const table of ['transactions', 'blocks']) {
    db.exec('BEGIN')
    db.exec(`DELETE FROM ${table}`)
    assert.equal(write([short[0]], everything, { deadline: noDeadline }), undefined, table)
    const range = { from: short[0], to: short[0] + 1 }
    assert.equal(write(range, everything, { deadline: noDeadline }), undefined, table)
    db.exec('ROLLBACK')
  }
})

test('candidates with lists of values, and ranges of ids, are compared and written in one go', (t) => {
  const db = temporaryDatabase(t)
  const logs = writeAwkward(db, 90)
  const { writeWanted } = createLogWriter(db, { logs: 50, dataBytes: 1_000_000 })
  const random = seededFractions(91)
  const addressId = db.prepare<[Uint8Array], number>('SELECT id FROM addresses WHERE address = ?').pluck()
  const pick = (count: number) => Array.from({ length: count }, () => logs[Math.floor(random() * logs.length)])
  let [wanted, refused] = [0, 0]
  for (let i = 0; i < 200; i++) {
    const from = Math.floor(random() * logs.length)
    const to = from + Math.floor(random() * (logs.length - from + 1))
    const length = 1 + Math.floor(random() * 18)
    const addresses = pick(length).map(({ address }) => address)
    const topics = pick(length).flatMap((log) => log.topics.slice(2, 3))
    const clauses: Clause[] = [
      { column: 'address_id', keys: addresses.map((address) => addressId.get(address)!), values: addresses },
      { column: 'topic2', keys: topics.map(trimLeft), values: topics },
    ]
    const used = clauses.filter(({ keys }) => keys.length > 0 && random() < 0.7)
    const filter: RowFilter = { clauses: used, minTopics: 0 }
    const isWanted = (log: PlacedLog) =>
      filter.clauses.every(({ column, values }) => {
        const value = column === 'address_id' ? log.address : log.topics[2]
        return value !== undefined && values.some((other) => equalBytes(other, value))
      })
    const inRange = logs.slice(from, to)
    const expected = inRange.filter(isWanted)
    const ids = inRange.map((_, at) => from + at)
    for (const candidates of [{ from, to }, ids]) {
      const texts = writeWanted(candidates, filter, { deadline: noDeadline })
      if (filter.clauses.some(({ keys }) => keys.length > 16) || expected.some(({ data }) => data.length > 8_192)) {
        assert.equal(texts, undefined)
        refused++
      } else {
        assert.equal(jsonOf(texts!), stringified(expected))
        wanted += expected.length
      }
    }
  }
  assert.ok(wanted > 1_000 && refused > 10, `${wanted} wanted, ${refused} refused`)
})

test('announces its work before the first statement', (t) => {
  const db = temporaryDatabase(t)
  const logs = writeAwkward(db, 92)
  const ids = logs.map((_, id) => id)
  const { writeWanted } = createLogWriter(db)
  const everything: RowFilter = { clauses: [], minTopics: 0 }
  const announced: number[] = []
  const check = () => assert.fail('a statement ran')
  const checkAhead = (ms: number) => {
    announced.push(ms)
    throw new DeadlineExceeded(0)
  }
  const deadline = { ...noDeadline, check, checkAhead }
  for (const candidates of [ids, ids.slice(0, 10), { from: 0, to: ids.length }])
    assert.throws(() => writeWanted(candidates, everything, { deadline }), DeadlineExceeded)
  const [all, ten, range] = announced
  assert.ok(ten > 0 && ten < all && range < all && range > 0)
})
