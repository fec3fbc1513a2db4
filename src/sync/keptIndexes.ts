import type { EvmKind } from '../evm/kinds.js'
import { createAppearanceFinder } from '../index/addresses/finder.js'
import { UsageError } from '../lib/errors.js'
import type { Logger } from '../lib/logger.js'
import type { Database } from '../store/database.js'
import { createMetaTable, META_TRACES } from '../store/meta.js'
import { createTraceReader, describeMissingTraces } from '../store/rows/traceRows.js'

/** Which optional indexes get the blocks of a chain. */
export interface IndexChoices {
  /** Keep the address index of a database that has it, or is new. Default: true. */
  readonly addressIndex?: boolean
  /** Keep the trace index. Default: as the database does; a new one does not. */
  readonly traces?: boolean
}

/** How the blocks of a chain are executed. */
interface Execution {
  /** False with `--state none`. */
  readonly isExecuted: boolean
  readonly evm?: EvmKind
  /** True for a replica, whose blocks come with their state changes and without their calls. */
  readonly lazyTrie?: boolean
}

/** Returns whether blocks are added to the address index. An index that lacks earlier blocks would return incomplete
 *  results. */
export function keepsAddressIndex(
  db: Database,
  { addressIndex = true, isExecuted, evm }: IndexChoices & Execution,
  log: Logger,
): boolean {
  if (!addressIndex) return false
  if (!createAppearanceFinder(db).isComplete()) {
    log.info({}, "the address index lacks earlier blocks and is not kept; 'cairn reindex' makes it")
    return false
  }
  if (!isExecuted || evm !== 'reference') return true
  log.info(
    {},
    "--evm reference does not report internal calls, so the address index is not kept; 'cairn reindex' makes it",
  )
  return false
}

/** Returns whether blocks are added to the trace index, which has all blocks or none. @throws UsageError if it is
 *  requested and not possible */
export function keepsTraceIndex(
  db: Database,
  { traces: isWanted, isExecuted, evm, lazyTrie }: IndexChoices & Execution,
  log: Logger,
): boolean {
  const rows = createTraceReader(db)
  const [last, head] = [rows.lastBlock(), rows.head()]
  const isBegun = head === undefined ? createMetaTable(db).get<boolean>(META_TRACES) === true : last !== undefined
  if (!(isWanted ?? isBegun)) return false
  let obstacle: string | undefined
  if (!isExecuted) obstacle = 'with --state none no block is executed, so that calls are not known'
  else if (evm === 'reference') obstacle = "--evm reference does not report calls; 'cairn reindex --traces' adds them"
  else if (last !== head) obstacle = describeMissingTraces(last, head)
  if (obstacle === undefined) return !lazyTrie
  if (isWanted) throw new UsageError(`--traces on: ${obstacle}`)
  if (!lazyTrie) log.info({}, `the trace index is not kept: ${obstacle}`)
  return false
}
