import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { verifyIndex } from '../../../src/index/segments/verifyIndex.js'
import { createTransactionFinder } from '../../../src/index/transactions/finder.js'
import { formatData } from '../../../src/lib/hex.js'
import type { Database } from '../../../src/store/database.js'
import { openAnySchema, openForReading, requireCurrentSchema } from '../../../src/store/open.js'
import { HISTORY_TABLES } from '../../../src/store/state/historySql.js'
import { createStateReader } from '../../../src/store/state/stateReader.js'
import { CHAIN_INDEXES } from '../../../src/sync/chainIndexer.js'
import { ACCOUNT_ROWS, STORAGE_ROWS } from '../chains/historyRows.js'
import { checkStateTrie } from './checkStateTrie.js'
import { hashStoredState } from './hashStoredState.js'

/** The newest block of a checked database. */
export interface CheckedHead {
  number: number
  hash: string
  stateRoot: string
}

/** Fails unless the database is sound: SQLite's own check, blocks that follow on each other, dense ids, counts that
 *  agree in every table, indexes that are what the rows make, and, where state is stored, a state of the head with the
 *  root that its header says.
 *  @returns the head; undefined when no block is stored. */
export function checkDatabase(datadir: string): CheckedHead | undefined {
  const db = openAnySchema(datadir)
  try {
    assert.equal(db.pragma('integrity_check', { simple: true }), 'ok')
    // Whoever was killed before the schema was committed leaves an empty file.
    if (db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'blocks'").get() === undefined) return undefined
    requireCurrentSchema(db)
    const blocks = db.prepare<[], BlockRow>('SELECT * FROM blocks ORDER BY number').all()
    checkChain(blocks)
    checkIds(db, blocks)
    checkIndexes(db)
    const head = blocks.at(-1)
    if (head === undefined) return undefined
    checkState(db, head)
    return { number: head.number, hash: formatData(head.hash), stateRoot: formatData(head.state_root) }
  } finally {
    db.close()
  }
}

interface BlockRow {
  number: number
  hash: Uint8Array
  parent_hash: Uint8Array
  state_root: Uint8Array
  first_tx: number
  n_tx: number
  first_log: number
  n_logs: number
}

interface TransactionRow {
  hash: Uint8Array
  blockNumber: number
  index: number
}

interface ReceiptRow {
  tx_id: number
  first_log: number
  n_logs: number
}

function checkChain(blocks: BlockRow[]): void {
  for (const [i, block] of blocks.entries()) {
    const parent = blocks[i - 1]
    if (parent === undefined) continue
    assert.equal(block.number, parent.number + 1)
    assert.equal(formatData(block.parent_hash), formatData(parent.hash), `parent of block ${block.number}`)
    assert.equal(block.first_tx, parent.first_tx + parent.n_tx, `transactions of block ${block.number}`)
    assert.equal(block.first_log, parent.first_log + parent.n_logs, `logs of block ${block.number}`)
  }
}

function checkIds(db: Database, blocks: BlockRow[]): void {
  const head = blocks.at(-1)
  const transactions = head ? head.first_tx + head.n_tx : 0
  const logs = head ? head.first_log + head.n_logs : 0
  assert.deepEqual(denseIds(db, 'transactions', 'id'), expectedIds(transactions))
  assert.deepEqual(denseIds(db, 'receipts', 'tx_id'), expectedIds(transactions))
  assert.deepEqual(denseIds(db, 'logs', 'id'), expectedIds(logs))
  let nextLog = 0
  for (const receipt of db.prepare<[], ReceiptRow>('SELECT * FROM receipts ORDER BY tx_id').iterate()) {
    assert.equal(receipt.first_log, nextLog, `first log of transaction ${receipt.tx_id}`)
    nextLog += receipt.n_logs
  }
  assert.equal(nextLog, logs)
  const astray = `SELECT count(*) FROM transactions t JOIN blocks b ON b.number = t.block_number
    WHERE t.id < b.first_tx OR t.id >= b.first_tx + b.n_tx`
  assert.equal(db.prepare(astray).pluck().get(), 0)
  const unnamed = `SELECT count(*) FROM logs l LEFT JOIN addresses a ON a.id = l.address_id
    LEFT JOIN topics t ON t.id = l.topic0_id WHERE a.id IS NULL OR (l.topic0_id IS NOT NULL AND t.id IS NULL)`
  assert.equal(db.prepare(unnamed).pluck().get(), 0)
}

function checkIndexes(db: Database): void {
  for (const kind of CHAIN_INDEXES) verifyIndex(db, kind)
  const finder = createTransactionFinder(db)
  const placed = `SELECT t.hash, t.block_number AS blockNumber, t.id - b.first_tx AS "index"
    FROM transactions t JOIN blocks b ON b.number = t.block_number`
  for (const { hash, ...place } of db.prepare<[], TransactionRow>(placed).all()) {
    assert.deepEqual(finder.locate(hash), place, `look-up of ${formatData(hash)}`)
  }
}

function denseIds(db: Database, table: string, id: string): unknown {
  return db.prepare(`SELECT count(*) AS n, min(${id}) AS first, max(${id}) AS last FROM ${table}`).get()
}

function expectedIds(count: number): unknown {
  return count === 0 ? { n: 0, first: null, last: null } : { n: count, first: 0, last: count - 1 }
}

function checkState(db: Database, head: BlockRow): void {
  const newest = db.prepare<[], number | null>(`SELECT max(block_number) FROM ${ACCOUNT_ROWS}`).pluck().get()
  if (newest === null || newest === undefined) return // imported without state
  for (const table of [...HISTORY_TABLES, 'uncles']) {
    const above = db.prepare(`SELECT count(*) FROM ${table} WHERE block_number > ?`).pluck().get(head.number)
    assert.equal(above, 0, `rows of ${table} above the head`)
  }
  const root = hashStoredState(createStateReader(db))
  assert.equal(formatData(root), formatData(head.state_root), `state of block ${head.number}`)
  checkStateTrie(db, formatData(head.state_root))
}

/** A hash over every row of the tables that an import writes: equal for databases that hold the same. */
export function digestDatabase(datadir: string): string {
  const db = openForReading(datadir)
  const hash = createHash('sha256')
  const tables = ['blocks', 'uncles', 'transactions', 'receipts', 'logs', 'addresses', 'topics', 'code']
  for (const table of [...tables, ACCOUNT_ROWS, STORAGE_ROWS]) {
    const columns = db.prepare(`SELECT * FROM ${table}`).columns()
    const order = columns.map(({ name }) => name).join(', ')
    for (const row of db.prepare(`SELECT ${order} FROM ${table} ORDER BY ${order}`).raw().iterate()) {
      hash.update(JSON.stringify(row))
    }
  }
  db.close()
  return hash.digest('hex')
}
