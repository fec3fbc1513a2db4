import { appearancesIn } from '../chain/eth/transactionAddresses.js'
import type { Account } from '../evm/interpreter/state.js'
import { loadTraceService, type TraceService } from '../evm/tracing/traceService.js'
import { noDeadline } from '../lib/deadline.js'
import { yieldToEventLoop } from '../lib/pause.js'
import type { Progress } from '../lib/progress.js'
import { createCommitWatch } from '../store/commitWatch.js'
import type { Database } from '../store/database.js'
import { createAppearanceReader, createAppearanceWriter } from '../store/rows/appearances.js'
import { createChainReader } from '../store/rows/chainReader.js'
import { listedAround } from '../store/rows/coverage.js'
import type { StoredBlock } from '../store/rows/types.js'

// Time of executing blocks between two transactions.
const SLICE_MS = 50

/** Returns the number of stored blocks that the address index lacks. */
export function appearanceGap(db: Database): number {
  const { first, head } = createChainReader(db).coverage() ?? { first: 0, head: -1 }
  return head - (createAppearanceReader(db).lastBlock() ?? first - 1)
}

/** Stores the appearances of addresses in the blocks that lack them, of a writable database. Blocks are executed again
 *  where the state of their parents is stored; elsewhere internal calls are left out. Processes blocks in order and
 *  commits every 50 ms, so an interrupted run can be resumed. `progress` receives the number of blocks done so far.
 *  @returns false if `signal` ended it early */
export async function fillAppearances(
  db: Database,
  { progress, signal }: { progress: Progress; signal?: AbortSignal },
): Promise<boolean> {
  const chain = createChainReader(db)
  const coverage = chain.coverage()
  if (coverage === undefined) return true
  const { head, stateFirst = head } = coverage
  const traces = await loadTraceService(db, { chain, watch: createCommitWatch(db) })
  const writer = createAppearanceWriter(db)
  const store = db.transaction((from: number, blocks: readonly Uint8Array[][][]) => {
    for (const [i, appearances] of blocks.entries()) writer.put(from + i, appearances)
  })
  const start = head - appearanceGap(db) + 1
  let next = start
  while (next <= head) {
    if (signal?.aborted) return false
    const blocks: Uint8Array[][][] = []
    const startMs = performance.now()
    while (next + blocks.length <= head && performance.now() - startMs < SLICE_MS) {
      const block = chain.blockByNumber(next + blocks.length)!
      const { number } = block.header
      const isExecuted = number > stateFirst && !listedAround(coverage, number)
      const callees = isExecuted ? calleesIn(traces, block) : []
      const receipts = chain.receipts(block).map(({ receipt }) => receipt)
      blocks.push(appearancesIn(chain.transactions(block), receipts, callees))
    }
    store(next, blocks)
    next += blocks.length
    progress.update(next - start)
    await yieldToEventLoop() // signals are delivered only between transactions
  }
  return true
}

/** Executes a block again: `BlockOutcome.callees`. */
function calleesIn(traces: TraceService, block: StoredBlock): Uint8Array[][] {
  const callees: Uint8Array[][] = []
  traces.replay(block, { deadline: noDeadline, memoryBytes: Number.POSITIVE_INFINITY }, (execution) => {
    const accounts = new Set<Account>()
    execution.machine.callees = accounts
    execution.run()
    callees.push(Array.from(accounts, ({ address }) => address))
  })
  return callees
}
