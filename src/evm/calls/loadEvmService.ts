import { type CommitWatch, createCommitWatch, readsInSnapshot } from '../../store/commitWatch.js'
import type { Database } from '../../store/database.js'
import { createChainReader } from '../../store/rows/chainReader.js'
import type { ChainReader } from '../../store/rows/types.js'
import { SlotReader } from '../../store/state/slotReader.js'
import { createStateReader } from '../../store/state/stateReader.js'
import { createTables } from '../interpreter/forkTables.js'
import { loadKzgVerifier } from '../interpreter/precompiles/kzg.js'
import { createPrecompileTable, NO_CURVES } from '../interpreter/precompiles/precompileTable.js'
import type { EvmKind } from '../kinds.js'
import { createPastTries } from '../state/pastTries.js'
import { SlotCache } from '../state/slotCache.js'
import { findAccessList } from './accessList.js'
import { BlockReplay } from './blockReplay.js'
import { BUDGET_CHECK_INTERVALS, type Budget } from './budget.js'
import { clampGas, requireOutput } from './callContext.js'
import { CallRunner, type CallRunnerParts } from './callRunner.js'
import { finishSearch, searchGasLimit } from './estimateGas.js'
import type { EvmService } from './evmService.js'
import { createSimulator } from './simulation/simulator.js'
import { createAccountProver, createStateHasher } from './stateProofs.js'

/** Readers of the service; created from the database if absent. */
export interface EvmReads {
  readonly watch: CommitWatch
  readonly chain: ChainReader
}

/** Creates an EVM service over an open database with that interpreter. */
export async function loadEvmService(db: Database, kind: EvmKind, reads?: EvmReads): Promise<EvmService> {
  // Includes the curve precompiles, which a budgeted service never loads.
  const { createForkTables } = await import('../interpreter/allPrecompiles.js')
  const tables = createForkTables(await loadKzgVerifier())
  const own = createEvmService(db, { ...(reads ?? createReads(db)), tables })
  if (kind === 'cairn') return own
  const { createReferenceService } = await import('../reference/evmService.js')
  return createReferenceService(db, own)
}

/** Creates a service for the main thread: each call runs under the budget, which is also its deadline. It starts no
 *  long operations, so it has no curve precompiles. All methods may throw OutOfBudget. */
export function createBudgetedService(db: Database, reads: EvmReads, budget: Budget): EvmService {
  const tables = createTables((rules) => createPrecompileTable(rules, NO_CURVES))
  return createEvmService(db, { ...reads, tables, budget })
}

// Half a million slots. Up to 20,000 changes of new blocks are looked up, which takes some milliseconds; beyond that
// the cache is cleared.
const THREAD_SLOTS = { maxBytes: 48 * 2 ** 20, maxChanges: 20_000 }
const BUDGETED_SLOTS = { maxBytes: 12 * 2 ** 20, maxChanges: 500 }

function createReads(db: Database): EvmReads {
  const watch = createCommitWatch(db)
  return { watch, chain: createChainReader(db, watch) }
}

function createEvmService(
  db: Database,
  { watch, chain, tables, budget }: EvmReads & Pick<CallRunnerParts, 'tables'> & { budget?: Budget },
): EvmService {
  const beforeRead = () => {
    budget?.countRead()
    watch.beforeRead()
  }
  const reader = readsInSnapshot(createStateReader(db), { beforeRead })
  const checkIntervals = budget && BUDGET_CHECK_INTERVALS
  const slots = new SlotCache(new SlotReader(db, beforeRead), budget ? BUDGETED_SLOTS : THREAD_SLOTS)
  const tries = createPastTries(db, { chain, reader })
  const replay = new BlockReplay({ chain, reader, tables, tries })
  const proveAccount = createAccountProver({ chain, reader, tries })
  const hashStates = createStateHasher({ chain, tries })
  const simulate = createSimulator({ chain, reader, tries, tables })
  const runner = new CallRunner({ chain, reader, slots, beforeRead, tables, checkIntervals })
  const inSnapshot = <T>(work: () => T): T =>
    watch.withSnapshot(
      () => {
        beforeRead()
        return work()
      },
      { reads: true },
    )
  return {
    // A request sees one snapshot, checked once and not at each read.
    call: (request, blockNumber, limits, deadline) =>
      watch.withSnapshot(() => {
        const context = runner.at(blockNumber, request.overrides)
        const gasLimit = clampGas(context.blockGasLimit, request.gas, limits)
        return requireOutput(context.run(request, { gasLimit, memoryBytes: limits.callMemoryBytes, deadline }), limits)
      }),
    estimateGas: (request, blockNumber, limits, deadline) =>
      watch.withSnapshot(() => {
        const context = runner.at(blockNumber, request.overrides)
        const search = searchGasLimit(context, request, limits)
        const memoryBytes = limits.callMemoryBytes
        return finishSearch(search, (gasLimit) =>
          context.run(request, { gasLimit, memoryBytes, deadline, isTransaction: true }),
        )
      }),
    blockAccessList: (blockNumber, deadline) => inSnapshot(() => replay.accessList(blockNumber, deadline)),
    executionWitness: (blockNumber, deadline) => inSnapshot(() => replay.witness(blockNumber, deadline)),
    proveAccount: (request, blockNumber, deadline) => inSnapshot(() => proveAccount(request, blockNumber, deadline)),
    stateRoots: (changes, blockNumber, deadline) => inSnapshot(() => hashStates(changes, blockNumber, deadline)),
    createAccessList: (request, blockNumber, limits, deadline) =>
      inSnapshot(() => {
        const context = runner.at(blockNumber, request.overrides)
        const gasLimit = clampGas(context.blockGasLimit, request.gas, limits)
        return findAccessList(context, request, { gasLimit, memoryBytes: limits.callMemoryBytes, deadline })
      }),
    simulate: (simulation, blockNumber, limits, deadline) =>
      inSnapshot(() => simulate(simulation, blockNumber, { limits, deadline })),
  }
}
