import { yieldToEventLoop } from '../lib/pause.js'
import type { Progress } from '../lib/progress.js'
import type { Database } from '../store/database.js'
import { createChainReader } from '../store/rows/chainReader.js'
import type { ChainReader, StoredBlock } from '../store/rows/types.js'

// Time of executing blocks between two transactions.
const SLICE_MS = 50

/** Returns the number of stored blocks above the last one that has a row; undefined: none has. */
export function countMissing(chain: Pick<ChainReader, 'coverage'>, last: number | undefined): number {
  const { first, head } = chain.coverage() ?? { first: 0, head: -1 }
  return head - (last ?? first - 1)
}

/** How rows of blocks are made and stored. */
interface RowSource<Row> {
  /** Number of blocks at the end of the chain that have no row. */
  readonly missing: number
  make(block: StoredBlock): Row
  put(blockNumber: number, row: Row): void
}

/** Stores a row for each of the newest blocks that have none. Processes blocks in order and commits every 50 ms, so an
 *  interrupted run can be resumed. `progress` receives the number of blocks done so far.
 *  @returns false if `signal` ended it early */
export async function fillRows<Row>(
  db: Database,
  { missing, make, put }: RowSource<Row>,
  { progress, signal }: { progress: Progress; signal?: AbortSignal },
): Promise<boolean> {
  const chain = createChainReader(db)
  const head = chain.head() ?? -1
  const store = db.transaction((from: number, rows: readonly Row[]) => {
    for (const [i, row] of rows.entries()) put(from + i, row)
  })
  const start = head - missing + 1
  let next = start
  while (next <= head) {
    if (signal?.aborted) return false
    const rows: Row[] = []
    const startMs = performance.now()
    while (next + rows.length <= head && performance.now() - startMs < SLICE_MS) {
      rows.push(make(chain.blockByNumber(next + rows.length)!))
    }
    store(next, rows)
    next += rows.length
    progress.update(next - start)
    await yieldToEventLoop() // signals are delivered only between transactions
  }
  return true
}
