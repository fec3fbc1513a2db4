import type { Database } from '../../../store/database.js'

/** Lets a second writer share the connection of a writer whose transactions stay open across turns of the event
 *  loop. */
export interface WriteTurns {
  /** Runs `work`, which is synchronous, while no transaction is open: at once, or after the next commit. @throws what
   *  `work` throws */
  write<T>(work: () => T): Promise<T>
  /** Call it after each commit of the other writer, before its next transaction. */
  afterCommit(): void
}

// Polling interval: a rollback causes no notification.
const LOOK_MS = 5

/** Creates the turns on the connection `db`. */
export function createWriteTurns(db: Database): WriteTurns {
  let waiting: (() => void)[] = []
  let timer: NodeJS.Timeout | undefined
  const look = () => {
    if (!db.inTransaction) {
      const ready = waiting
      waiting = []
      for (const job of ready) job()
    }
    if (waiting.length > 0) timer ??= setInterval(look, LOOK_MS)
    else {
      clearInterval(timer)
      timer = undefined
    }
  }
  return {
    write: (work) =>
      new Promise((resolve, reject) => {
        waiting.push(() => {
          try {
            resolve(work())
          } catch (error) {
            reject(error)
          }
        })
        look()
      }),
    afterCommit: look,
  }
}
