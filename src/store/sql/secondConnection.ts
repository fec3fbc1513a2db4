import type { Database } from '../database.js'
import { openForReading } from '../open.js'

/** Returns a function that returns a second read-only connection to the database of `datadir`, for SQL functions that
 *  read: a connection runs no other statement during a query. It opens at the first use and closes with `db`.
 *  The function throws as `openForReading`. */
export function secondConnection(db: Database, datadir: string): () => Database {
  let second: Database | undefined
  const close = db.close.bind(db)
  db.close = () => {
    second?.close()
    return close()
  }
  return () => {
    second ??= openForReading(datadir)
    return second
  }
}
