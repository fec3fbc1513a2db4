import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import SqliteDatabase from 'better-sqlite3'
import type { Receipt } from '../../../src/chain/eth/types.js'
import type { Database } from '../../../src/store/database.js'
import { DATABASE_FILE, DatabaseOutdated, openForReading } from '../../../src/store/open.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { createChainWriter } from '../../../src/store/rows/chainWriter.js'
import { leaveAtMigration } from '../../support/chains/olderDatabase.js'
import { filledBlock } from '../../support/chains/randomBlocks.js'
import { seededRandom } from '../../support/random.js'
import { temporaryDirectory } from '../../support/temporary.js'

/* Databases of schema version 8, whose newest block was stored as one blob when the process was killed. */

const TABLES = ['blocks', 'transactions', 'receipts', 'logs', 'addresses', 'topics']

function rowsOf(db: Database): unknown {
  return TABLES.map((table) => {
    const columns = (db.pragma(`table_info(${table})`) as { name: string }[]).map(({ name }) => name)
    const typed = columns.map((name) => `${name}, typeof(${name})`).join(', ')
    return [table, db.prepare(`SELECT ${typed} FROM ${table} ORDER BY 1`).raw().all()]
  })
}

type Value = null | number | string | Uint8Array

/** A value in the form that version 8 wrote. */
function packValue(value: Value): Buffer {
  if (value === null) return Buffer.of(0xf0)
  if (typeof value === 'string') return Buffer.concat([Buffer.of(0xf4, value.length), Buffer.from(value)])
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(9)
    if (value < 2 ** 8) return Buffer.of(0xf1, value)
    if (value < 2 ** 32) return bytes.subarray(0, bytes.writeUInt32LE(value, 1)).fill(0xf2, 0, 1)
    return bytes.subarray(0, bytes.writeDoubleLE(value, 1)).fill(0xf3, 0, 1)
  }
  if (value.length <= 0xef) return Buffer.concat([Buffer.of(value.length), value])
  const length = Buffer.alloc(5, 0xf5)
  length.writeUInt32LE(value.length, 1)
  return Buffer.concat([length, value])
}

/** Packs the body of the newest block, which has these receipts. */
function packHead(db: Database, receipts: readonly Receipt[]): void {
  const { number, first_tx, first_log } = db
    .prepare<[], { number: number; first_tx: number; first_log: number }>(
      'SELECT number, first_tx, first_log FROM blocks ORDER BY number DESC LIMIT 1',
    )
    .get()!
  const rows = (table: string, id: string) =>
    db.prepare<[number], Value[]>(`SELECT * FROM ${table} WHERE ${id} >= ? ORDER BY ${id}`).raw().all(first_tx)
  const [transactionRows, receiptRows] = [rows('transactions', 'id'), rows('receipts', 'tx_id')]
  const values: Value[] = [transactionRows.length]
  for (const [i, { logs }] of receipts.entries()) {
    values.push(...transactionRows[i], ...receiptRows[i])
    for (const { address, topics, data } of logs) values.push(address, topics.length, ...topics, data)
  }
  const data = Buffer.concat(values.map(packValue))
  db.prepare('INSERT INTO packed_bodies (block_number, data) VALUES (?, ?)').run(number, data)
  db.prepare('DELETE FROM transactions WHERE id >= ?').run(first_tx)
  db.prepare('DELETE FROM receipts WHERE tx_id >= ?').run(first_tx)
  db.prepare('DELETE FROM logs WHERE id >= ?').run(first_log)
}

test('the newest block of an older database becomes rows when it is opened for writing, and is refused before', (t) => {
  const random = seededRandom(53)
  for (let round = 0; round < 8; round++) {
    const datadir = temporaryDirectory(t)
    const made = openForWriting(datadir)
    const writer = createChainWriter(made)
    let newestReceipts: readonly Receipt[] = []
    writer.begin()
    for (let number = 0; number < 3; number++) {
      const { block, receipts } = filledBlock(random, number)
      writer.insertBlock(block, receipts, BigInt(number))
      newestReceipts = receipts
    }
    writer.commit()
    const expected = rowsOf(made)
    made.close()

    leaveAtMigration(datadir, 8)
    const old = new SqliteDatabase(join(datadir, DATABASE_FILE))
    packHead(old, newestReceipts)
    assert.notDeepEqual(rowsOf(old), expected)
    old.close()
    assert.throws(() => openForReading(datadir), DatabaseOutdated)

    const opened = openForWriting(datadir)
    assert.deepEqual(rowsOf(opened), expected)
    assert.equal(opened.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'packed_bodies'").get(), undefined)
    opened.close()
  }
})
