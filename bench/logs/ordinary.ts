import SqliteDatabase from 'better-sqlite3'
import { formatData } from '../../src/lib/hex.js'
import type { Database } from '../../src/store/database.js'
import type { BenchBlock } from '../../test/support/chains/logBlocks.js'
import { measureOrdinaryBytes } from '../lib/size.js'
import type { Question } from './shapes.js'
import type { LogStore } from './store.js'

/** The ordinary design as a store: it answers at once. */
export interface OrdinaryLogs extends LogStore {
  find(question: Question): number
}

/** The logs as an ordinary indexer keeps them: hex TEXT columns with a B-tree on each that filters name. Only logs:
 *  what such an indexer holds of blocks and transactions beside them is left out, in its favour. The database at `path`
 *  is made when it is not there, with the pragmas that ours has. */
export function openOrdinary(path: string): OrdinaryLogs {
  const db = openTable(path)
  const insertRow = db.prepare('INSERT INTO logs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
  const insert = db.transaction((rows: readonly unknown[][]) => {
    for (const row of rows) insertRow.run(...row)
  })
  return {
    name: 'ordinary',
    stage: (blocks) => {
      const rows = blocks.flatMap(ordinaryRows)
      return () => insert(rows)
    },
    finish: () => {
      db.pragma('analysis_limit = 1000')
      db.exec('ANALYZE')
      db.pragma('wal_checkpoint(TRUNCATE)')
    },
    find: (question) => {
      const { sql, values } = toSql(question)
      return db.prepare(sql).raw().all(values).length
    },
    bytesPerLog: () => measureOrdinaryBytes(db),
    close: () => void db.close(),
  }
}

function openTable(path: string): Database {
  const db = new SqliteDatabase(path)
  for (const pragma of [
    'mmap_size = 2147483648',
    'cache_size = -65536',
    'temp_store = MEMORY',
    'journal_mode = WAL',
    'synchronous = NORMAL',
    'wal_autocheckpoint = 16000',
  ]) {
    db.pragma(pragma)
  }
  db.exec(`
    CREATE TABLE IF NOT EXISTS logs (
      block_number INTEGER NOT NULL, log_index INTEGER NOT NULL, block_hash TEXT NOT NULL,
      transaction_hash TEXT NOT NULL, transaction_index INTEGER NOT NULL, address TEXT NOT NULL,
      topic0 TEXT, topic1 TEXT, topic2 TEXT, topic3 TEXT, data TEXT NOT NULL,
      PRIMARY KEY (block_number, log_index)
    );
    CREATE INDEX IF NOT EXISTS logs_address ON logs (address);
    CREATE INDEX IF NOT EXISTS logs_topic0 ON logs (topic0);
    CREATE INDEX IF NOT EXISTS logs_topic1 ON logs (topic1);
    CREATE INDEX IF NOT EXISTS logs_topic2 ON logs (topic2);
    CREATE INDEX IF NOT EXISTS logs_topic3 ON logs (topic3);`)
  return db
}

/** The rows of a block's logs. Such an indexer gets hex from its node: making it here is no part of its time. */
export function ordinaryRows({ block, receipts }: BenchBlock): unknown[][] {
  const blockHash = formatData(block.hash)
  const rows: unknown[][] = []
  for (const [index, { logs }] of receipts.entries()) {
    const transactionHash = formatData(block.transactions[index].hash)
    for (const { address, topics, data } of logs) {
      const hex = [0, 1, 2, 3].map((i) => (topics[i] === undefined ? null : formatData(topics[i])))
      const place = [block.header.number, rows.length, blockHash, transactionHash, index]
      rows.push([...place, formatData(address), ...hex, formatData(data)])
    }
  }
  return rows
}

function toSql({ fromBlock, toBlock, address, topics }: Question): { sql: string; values: unknown[] } {
  const conditions = ['block_number BETWEEN ? AND ?']
  const values: unknown[] = [fromBlock, toBlock]
  const add = (column: string, wanted: string[]) => {
    conditions.push(wanted.length === 1 ? `${column} = ?` : `${column} IN (${wanted.map(() => '?').join(',')})`)
    values.push(...wanted)
  }
  if (address !== undefined) add('address', address)
  for (const [position, wanted] of (topics ?? []).entries()) {
    if (wanted === null) conditions.push(`topic${position} IS NOT NULL`)
    else add(`topic${position}`, wanted)
  }
  const sql = `SELECT * FROM logs WHERE ${conditions.join(' AND ')} ORDER BY block_number, log_index LIMIT 10001`
  return { sql, values }
}
