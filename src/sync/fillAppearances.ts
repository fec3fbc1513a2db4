import { appearancesIn } from '../chain/eth/transactionAddresses.js'
import type { Account } from '../evm/interpreter/state.js'
import { loadTraceService, type TraceService } from '../evm/tracing/traceService.js'
import { UNLIMITED } from '../evm/tracing/unlimited.js'
import type { Progress } from '../lib/progress.js'
import { createCommitWatch } from '../store/commitWatch.js'
import type { Database } from '../store/database.js'
import { createAppearanceReader, createAppearanceWriter } from '../store/rows/appearances.js'
import { createChainReader } from '../store/rows/chainReader.js'
import { listedAround } from '../store/rows/coverage.js'
import type { StoredBlock } from '../store/rows/types.js'
import { countMissing, fillRows } from './fillRows.js'

/** Returns the number of stored blocks that the address index lacks. */
export function appearanceGap(db: Database): number {
  return countMissing(createChainReader(db), createAppearanceReader(db).lastBlock())
}

/** Stores the appearances of addresses in the blocks that lack them, of a writable database. Blocks are executed again
 *  where the state of their parents is stored; elsewhere internal calls are left out. Progress, resumption and result
 *  are those of `fillRows`. */
export async function fillAppearances(
  db: Database,
  run: { progress: Progress; signal?: AbortSignal },
): Promise<boolean> {
  const chain = createChainReader(db)
  const coverage = chain.coverage()
  if (coverage === undefined) return true
  const { head, stateFirst = head } = coverage
  const traces = await loadTraceService(db, { chain, watch: createCommitWatch(db) })
  const make = (block: StoredBlock) => {
    const { number } = block.header
    const isExecuted = number > stateFirst && !listedAround(coverage, number)
    const callees = isExecuted ? calleesIn(traces, block) : []
    const receipts = chain.receipts(block).map(({ receipt }) => receipt)
    return appearancesIn(chain.transactions(block), receipts, callees)
  }
  return fillRows(db, { missing: appearanceGap(db), make, put: createAppearanceWriter(db).put }, run)
}

/** Executes a block again: `BlockOutcome.callees`. */
function calleesIn(traces: TraceService, block: StoredBlock): Uint8Array[][] {
  const callees: Uint8Array[][] = []
  traces.replay(block, UNLIMITED, (execution) => {
    const accounts = new Set<Account>()
    execution.machine.callees = accounts
    execution.run()
    callees.push(Array.from(accounts, ({ address }) => address))
  })
  return callees
}
