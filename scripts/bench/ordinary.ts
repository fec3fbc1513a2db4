import SqliteDatabase from 'better-sqlite3'
import { formatData } from '../../src/lib/hex.js'
import type { Database } from '../../src/store/open.js'
import type { BenchBlock } from './blocks.js'
import type { Question } from './shapes.js'

/** The logs as an ordinary indexer keeps them: hex TEXT columns with a B-tree on each that filters name. Only logs: what
 *  such an indexer holds of blocks and transactions beside them is left out, in its favour. */
export interface OrdinaryLogs {
  readonly db: Database
  /** Inserts rows of `ordinaryRows` in one transaction. */
  insert(rows: readonly unknown[][]): void
  /** Rows that the filter wants, in the order of the chain, at most 10,001. */
  find(question: Question): unknown[]
  close(): void
}

/** Makes the database at `path`, with the pragmas that ours has. */
export function openOrdinary(path: string): OrdinaryLogs {
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
    CREATE TABLE logs (
      block_number INTEGER NOT NULL, log_index INTEGER NOT NULL, block_hash TEXT NOT NULL,
      transaction_hash TEXT NOT NULL, transaction_index INTEGER NOT NULL, address TEXT NOT NULL,
      topic0 TEXT, topic1 TEXT, topic2 TEXT, topic3 TEXT, data TEXT NOT NULL,
      PRIMARY KEY (block_number, log_index)
    );
    CREATE INDEX logs_address ON logs (address);
    CREATE INDEX logs_topic0 ON logs (topic0);
    CREATE INDEX logs_topic1 ON logs (topic1);
    CREATE INDEX logs_topic2 ON logs (topic2);
    CREATE INDEX logs_topic3 ON logs (topic3);`)
  const insertRow = db.prepare('INSERT INTO logs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
  const insert = db.transaction((rows: readonly unknown[][]) => {
    for (const row of rows) insertRow.run(...row)
  })
  return {
    db,
    insert,
    find: (question) => {
      const { sql, values } = toSql(question)
      return db.prepare(sql).raw().all(values)
    },
    close: () => void db.close(),
  }
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
