import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import SqliteDatabase from 'better-sqlite3'
import { CairnError } from '../lib/errors.js'
import { createAddedAbiTable, type NewAbi } from './addedAbis.js'
import { DATABASE_FILE } from './open.js'

/** The transaction of another writer took too long. */
export class DatabaseBusy extends CairnError {}

/** The database has as many ABIs as a client may add. */
export class TooManyAbis extends CairnError {}

/** Clients add at most this many; a decoder keeps all of them in memory, and looks through them for errors. */
const MAX_ABIS = 1000

/** An import writes for up to a second at a time, a reorg for longer. */
const PATIENCE_MS = 10_000
const RETRY_MS = 50

/** Returns a function that adds an ABI to the database of `datadir` between the transactions of its writer, without
 *  blocking the thread, and returns the id. */
export function createAbiAdder(datadir: string): (abi: NewAbi) => Promise<number> {
  return async (abi) => {
    for (const begun = performance.now(); ; await sleep(RETRY_MS)) {
      const id = tryToAdd(join(datadir, DATABASE_FILE), abi)
      if (id !== undefined) return id
      if (performance.now() - begun > PATIENCE_MS) throw new DatabaseBusy('the database is busy')
    }
  }
}

/** Returns undefined while another connection writes. */
function tryToAdd(path: string, abi: NewAbi): number | undefined {
  const db = new SqliteDatabase(path, { timeout: 0, fileMustExist: true })
  try {
    db.pragma('wal_autocheckpoint = 0') // the writer's thread makes checkpoints
    const table = createAddedAbiTable(db)
    if (table.count() >= MAX_ABIS) throw new TooManyAbis(`the database has ${MAX_ABIS} ABIs`)
    return table.add(abi)
  } catch (error) {
    if (String((error as { code?: string }).code).startsWith('SQLITE_BUSY')) return undefined
    throw error
  } finally {
    db.close()
  }
}
