import type { Receipt } from '../../chain/eth/types.js'
import { EMPTY_BYTES, padLeft } from '../../lib/bytes.js'
import { memoize } from '../../lib/memoize.js'
import { decodeUint, type StoredUint } from '../columns.js'
import type { Database } from '../database.js'
import { createValueLookup } from '../dictionary.js'
import { createChangedKeysReader, decodeAccountKeys } from '../state/changedKeys.js'
import { accountsInBlock, fromTables, newestRow } from '../state/historySql.js'
import { decodeReceiptRow, type ReceiptRow, SELECT_RECEIPTS } from './receipt.js'
import type { IdRange } from './rowFilter.js'
import { prepareTransactionHashes } from './transaction.js'

/** A block's links, and the ids of its parts. */
export interface StoredBlockLink {
  readonly number: number
  readonly hash: Uint8Array // 32
  readonly parentHash: Uint8Array // 32
  readonly timestamp: bigint
  readonly firstTx: number
  readonly txCount: number
  readonly firstLog: number
  readonly logCount: number
  readonly sizeBytes: number
}

/** A stored log; several may share their byte arrays. */
export interface ExportedLog {
  readonly id: number
  readonly transactionIndex: number
  readonly address: Uint8Array // 20
  readonly topics: readonly (Uint8Array | null)[] // four, null where absent
  readonly data: Uint8Array
}

/** A receipt without its logs. */
export type ExportedReceipt = Omit<Receipt, 'logs' | 'logsBloom'> & { readonly logCount: number }

/** Which logs of a range are read: all, or those with that first topic and number of topics. */
export interface LogShape {
  readonly topic0: Uint8Array
  readonly topicCount: number
}

/** Bulk reads in the order of the chain. Each call is a bounded number of statements; its result is not cached. */
export interface ExportRows {
  /** Blocks [from, to] that are stored, ascending. */
  links(from: number, to: number): StoredBlockLink[]
  /** Those of the blocks with these numbers that are stored, ascending. */
  hashes(numbers: readonly number[]): { readonly number: number; readonly hash: Uint8Array }[]
  /** Hashes of the transactions with ids [from, to), 32 bytes each. */
  transactionHashes(range: IdRange): Uint8Array[]
  receipts(range: IdRange): ExportedReceipt[]
  /** Logs with ids in the range, ascending. */
  logs(range: IdRange, shape?: LogShape): ExportedLog[]
  /** True if a log may have this first topic. */
  hasTopic(topic0: Uint8Array): boolean
  /** The logs with these ids, ascending. */
  logsByIds(ids: readonly number[]): ExportedLog[]
  /** Slots of the contracts that the block destroyed, with a value before it; slots without leading zeros. */
  clearedSlots(blockNumber: number): { address: Uint8Array; slot: Uint8Array }[]
}

type LinkRow = [number, Uint8Array, Uint8Array, StoredUint, number, number, number, number, number]
/** Lengths of topics and data as stored; null: absent, for `dataLength`: 32. */
type LogRow = [
  id: number,
  txIndex: number,
  addressId: number,
  topic0Id: number | null,
  topic1: number | null,
  topic2: number | null,
  topic3: number | null,
  data: number,
  dataLength: number | null,
]

// A statement reads the numbers of the logs, a second one all their bytes as one value: 1.5 µs a log; a Buffer for each
// cell takes 4.1. SQLite's values end at 1 GB.
const LOG_NUMBERS = `id, tx_index, address_id, topic0_id, length(topic1), length(topic2), length(topic3), length(data),
  data_length`
const LOG_BYTES = `ifnull(topic1, '') || ifnull(topic2, '') || ifnull(topic3, '') || data`
const MAX_BYTES = 2 ** 26

const IN_RANGE = 'FROM logs NOT INDEXED WHERE id >= @from AND id < @to'
const IN_LIST = 'FROM logs WHERE id IN (SELECT value FROM json_each(@ids))'
const TOPICS = ['topic0_id', 'topic1', 'topic2', 'topic3']

// A few contracts and events have most logs. Equal values are then one array, which the Parquet writer need not
// compare.
const MAX_KEPT = 100_000

/** Creates the bulk reads over an open database, with statements prepared once. */
export function createExportRows(db: Database): ExportRows {
  const selectLinks = db
    .prepare<[number, number], LinkRow>(
      `SELECT number, hash, parent_hash, timestamp, first_tx, n_tx, first_log, n_logs, size
       FROM blocks WHERE number >= ? AND number <= ? ORDER BY number`,
    )
    .raw()
  const selectBlockHashes = db.prepare<[string], { number: number; hash: Uint8Array }>(
    'SELECT number, hash FROM blocks WHERE number IN (SELECT value FROM json_each(?)) ORDER BY number',
  )
  const selectHashes = prepareTransactionHashes(db)
  const selectReceipts = db.prepare<[number, number], ReceiptRow>(SELECT_RECEIPTS)
  const clearedSlots = createClearedSlots(db)
  const selectTopicId = db.prepare<[Uint8Array], number>('SELECT id FROM topics WHERE topic = ?').pluck()
  const address = createValueLookup(db, 'addresses', { most: MAX_KEPT })
  const topic = createValueLookup(db, 'topics', { most: MAX_KEPT })
  const statements = memoize((where: string) => ({
    numbers: db.prepare<[object], LogRow>(`SELECT ${LOG_NUMBERS} ${where} ORDER BY id`).raw(),
    bytes: db
      .prepare<[object], Uint8Array | null>(
        `SELECT CAST(group_concat(bytes, '') AS BLOB) FROM (SELECT ${LOG_BYTES} AS bytes ${where} ORDER BY id)`,
      )
      .pluck(),
  }))

  const decode = (rows: readonly LogRow[], bytes: Uint8Array): ExportedLog[] => {
    let at = 0
    const take = (length: number, full: number) => {
      const value = padLeft(bytes.subarray(at, at + length), full)
      at += length
      return value
    }
    const topicOf = (length: number | null) => (length === null ? null : take(length, 32))
    return rows.map(([id, transactionIndex, addressId, topic0Id, topic1, topic2, topic3, data, dataLength]) => ({
      id,
      transactionIndex,
      address: address(addressId),
      topics: [topic0Id === null ? null : topic(topic0Id), topicOf(topic1), topicOf(topic2), topicOf(topic3)],
      data: take(data, dataLength ?? 32),
    }))
  }
  const bytesIn = (rows: readonly LogRow[]) =>
    rows.reduce((sum, row) => sum + (row[4] ?? 0) + (row[5] ?? 0) + (row[6] ?? 0) + row[7], 0)
  const read = (where: string, { from, to }: IdRange, values: object): ExportedLog[] => {
    const { numbers, bytes } = statements(where)
    const bound = { ...values, from, to }
    const rows = numbers.all(bound)
    if (rows.length > 1 && bytesIn(rows) > MAX_BYTES) {
      const middle = rows[rows.length >> 1][0]
      return [...read(where, { from, to: middle }, values), ...read(where, { from: middle, to }, values)]
    }
    return rows.length === 0 ? [] : decode(rows, bytes.get(bound) ?? EMPTY_BYTES)
  }
  return {
    hasTopic: (topic0) => selectTopicId.get(topic0) !== undefined,
    clearedSlots,
    links: (from, to) => selectLinks.all(from, to).map(decodeLink),
    hashes: (numbers) => selectBlockHashes.all(JSON.stringify(numbers)),
    transactionHashes: ({ from, to }) => selectHashes.all(from, to),
    receipts: ({ from, to }) => selectReceipts.all(from, to).map(decodeReceipt),
    logs: (range, shape) => {
      if (shape === undefined) return read(IN_RANGE, range, {})
      const topic0 = selectTopicId.get(shape.topic0)
      if (topic0 === undefined) return []
      const counted = TOPICS.map((column, i) => `${column} IS ${i < shape.topicCount ? 'NOT ' : ''}NULL`)
      return read([IN_RANGE, 'topic0_id = @topic0', ...counted].join(' AND '), range, { topic0 })
    },
    logsByIds: (ids) =>
      ids.length === 0
        ? []
        : read(
            `${IN_LIST} AND id >= @from AND id < @to`,
            { from: ids[0], to: ids[ids.length - 1] + 1 },
            {
              ids: JSON.stringify(ids),
            },
          ),
  }
}

function createClearedSlots(db: Database): ExportRows['clearedSlots'] {
  // An account's row has another incarnation than the one before when its storage was cleared in between.
  const previous = newestRow('account', 'incarnation', 'address_id = h.address_id AND block_number < h.block_number')
  const changedKeys = createChangedKeysReader(db)
  const changed = accountsInBlock(
    (from) => `SELECT h.address_id, a.address, h.incarnation, (${previous}) AS previous
       FROM ${from} JOIN addresses a ON a.id = h.address_id`,
  )
  const slotsBefore = fromTables(
    'storage',
    (table) => `SELECT c.address_id, c.address, s.slot, s.value, s.block_number
       FROM cleared c CROSS JOIN ${table} s ON s.address_id = c.address_id AND s.incarnation = c.previous
       WHERE s.block_number < @number`,
  )
  const selectCleared = db.prepare<[object], { address: Uint8Array; slot: Uint8Array }>(
    `WITH cleared AS MATERIALIZED (SELECT * FROM (${changed}) WHERE previous <> incarnation)
     SELECT address, slot FROM (
       SELECT address, slot, value, max(block_number) FROM (${slotsBefore}) GROUP BY address_id, slot)
     WHERE length(value) > 0`,
  )
  return (number) => {
    const keys = changedKeys.block(number)
    return keys ? selectCleared.all({ number, ids: JSON.stringify(decodeAccountKeys(keys.accounts)) }) : []
  }
}

function decodeLink([
  number,
  hash,
  parentHash,
  timestamp,
  firstTx,
  txCount,
  firstLog,
  logCount,
  sizeBytes,
]: LinkRow): StoredBlockLink {
  return { number, hash, parentHash, timestamp: decodeUint(timestamp), firstTx, txCount, firstLog, logCount, sizeBytes }
}

function decodeReceipt(row: ReceiptRow): ExportedReceipt {
  return { ...decodeReceiptRow(row), logCount: row.n_logs }
}
