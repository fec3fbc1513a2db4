import type { Database } from '../../../store/database.js'

/** Lets a second writer share the connection of the one that keeps transactions open over turns of the event loop. */
export interface WriteTurns {
  /** Does `work`, which is synchronous, while no transaction is open: at once, or after the next commit. @throws what `work` throws */
  write<T>(work: () => T): Promise<T>
  /** To be called after each commit of the other writer, before it begins again. */
  afterCommit(): void
}

// A transaction that was rolled back tells nobody.
const LOOK_MS = 5

/** Turns on the connection `db`. */
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
