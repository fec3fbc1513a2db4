import type { Database } from '../../src/store/database.js'

const LOG_TABLES = ['logs', 'addresses', 'topics']
const INDEX_TABLES = ['log_buckets', 'log_big_postings', 'log_segments']

/** Bytes on disk per log: log rows, dictionaries and index together, and the index alone. */
export function measureBytes(db: Database): { bytesPerLog: number; indexBytesPerLog: number } {
  const logs = countLogs(db)
  const index = bytesOfTables(db, INDEX_TABLES)
  return { bytesPerLog: (bytesOfTables(db, LOG_TABLES) + index) / logs, indexBytesPerLog: index / logs }
}

/** Bytes on disk per log of the ordinary design: the rows and their B-trees. */
export function measureOrdinaryBytes(db: Database): number {
  return bytesOfTables(db, ['logs']) / countLogs(db)
}

/** Pages of the tables and of all their indexes. */
export function bytesOfTables(db: Database, tables: readonly string[]): number {
  const select = db
    .prepare<[string], number>(
      `SELECT ifnull(sum(pgsize), 0) FROM dbstat
       WHERE aggregate = TRUE AND name IN (SELECT name FROM sqlite_schema WHERE tbl_name = ?)`,
    )
    .pluck()
  return tables.reduce((sum, table) => sum + select.get(table)!, 0)
}

function countLogs(db: Database): number {
  return db.prepare<[], number>('SELECT count(*) FROM logs').pluck().get()!
}
