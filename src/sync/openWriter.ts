import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../sources/upstreams/clock.js'
import type { Database } from '../store/database.js'
import { DATABASE_FILE, DatabaseLocked } from '../store/open.js'
import { openForWriting } from '../store/openForWriting.js'
import { closeWritten } from '../store/writeAheadLog.js'
import { ChainNotNamed, type WritableChain } from './chainState.js'

/** A database that this process writes, and the chain in it. */
export interface OpenWriter {
  readonly db: Database
  readonly chain: WritableChain
  /** Empties the write-ahead log and closes the database. Never throws. */
  close(): void
}

/** Opens the database of `datadir`, creating it if missing, and its chain by `openChain`. `isNamed` says whether the
 *  caller knows which chain a new database is for.
 *  @throws ChainNotNamed before a database is created; DatabaseLocked; what `openChain` throws, after closing the
 *  database */
export async function openWriter(
  { datadir, isNamed }: { datadir: string; isNamed: boolean },
  openChain: (db: Database) => Promise<WritableChain>,
): Promise<OpenWriter> {
  if (!isNamed && !existsSync(join(datadir, DATABASE_FILE))) throw new ChainNotNamed()
  const db = openForWriting(datadir)
  const close = () => closeWritten(db)
  try {
    return { db, chain: await openChain(db), close }
  } catch (error) {
    close()
    throw error
  }
}

// Between two attempts to open a database that another process writes.
const LOCKED_MS = 500

/** Returns what `open` returns, once no other process, such as `cairn rewind`, writes the database.
 *  @throws the reason of the signal; what `open` throws, except DatabaseLocked */
export async function whenUnlocked<T>(open: () => Promise<T>, clock: Clock, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await open()
    } catch (error) {
      if (!(error instanceof DatabaseLocked)) throw error
      await clock.sleep(LOCKED_MS, signal)
    }
  }
}
