import { BUSY_KINDS, type BusyChainPlan } from './busyChain.js'
import { requireBusyChain, runOnce } from './imports.js'
import type { TraceIndexFigures, TraceIndexPlan } from './plans.js'

/** Imports each chain of full blocks with and without the trace index, in turn, and asks methods that use it with and
 *  without. Processor time, in one process for each chain. */
export async function measureTraceIndex({
  rounds,
  ...chainPlan
}: BusyChainPlan & { rounds: number }): Promise<TraceIndexFigures[]> {
  const figures: TraceIndexFigures[] = []
  for (const name of BUSY_KINDS) {
    process.stderr.write(`\rtrace index: ${name}\x1b[K`)
    const { chain } = await requireBusyChain(name, chainPlan)
    const plan: TraceIndexPlan = { name, chain, directory: chainPlan.directory, rounds }
    figures.push(await runOnce<TraceIndexFigures>('evmTraceIndex', plan))
  }
  process.stderr.write('\n')
  return figures
}
