import { familyOf } from '../../chain/eth/families/families.js'
import type { CallOutput } from '../../chain/eth/families/family.js'
import { type ChainSpec, type Rules, rulesAt } from '../../chain/eth/forks/rules.js'
import type { Header } from '../../chain/eth/types.js'
import { EMPTY_BYTES } from '../../lib/bytes.js'
import { withTransaction } from '../interpreter/environment.js'
import type { ForkTables } from '../interpreter/forkTables.js'
import type { Journal } from '../interpreter/journal/journal.js'
import type { Machine } from '../interpreter/machine.js'
import { runMessage } from '../interpreter/run.js'
import { beginStateGas } from '../interpreter/stateGas.js'
import { executionHeader } from './familyBlock.js'
import { intrinsicGas } from './intrinsicGas.js'
import { blockEnvironment } from './transaction.js'

/** What a call at the parent of a block runs on. */
export interface ParentCallContext {
  readonly spec: ChainSpec
  readonly machine: Machine
  /** The state at the end of the parent. */
  readonly journal: Journal
  blockHash(number: number): Uint8Array
}

const NO_ADDRESS = new Uint8Array(20)

/** Makes the call of the family's `parentCall` for the block with that header, as `eth_call` at its parent does without
 *  a sender and a gas price: with the gas limit of the parent, and a base fee of zero. Returns what it returned;
 *  undefined where the family makes none. The state does not change. */
export function callAtParent(
  { spec, machine, journal, blockHash }: ParentCallContext,
  { header, parent, tables }: { header: Header; parent: Header; tables(rules: Rules): ForkTables },
): CallOutput | undefined {
  const call = familyOf(spec).execution?.parentCall?.(spec, header, parent)
  if (call === undefined) return undefined
  const { to, input } = call
  const rules = rulesAt(spec, parent.number, parent.timestamp)
  const own = tables(rules)
  machine.rules = own.rules
  machine.precompiles = own.precompiles
  const free = { ...executionHeader(spec, parent), baseFeePerGas: 0n }
  const environment = blockEnvironment(free, rules, { chainId: spec.chainId, blockHash })
  machine.environment = withTransaction(environment, { origin: NO_ADDRESS, gasPrice: 0n, blobVersionedHashes: [] })
  journal.recordAccesses(false)
  if (own.rules.eip8037) beginStateGas(machine, machine.frame(0, journal.account(to)), 0)
  const gas = parent.gasLimit - intrinsicGas({ from: NO_ADDRESS, to, value: 0n, data: input }, rules).gas
  if (gas < 0n) return { output: EMPTY_BYTES, failure: 'out of gas' }
  const snapshot = journal.snapshot()
  const { output, failure } = runMessage(machine, { caller: NO_ADDRESS, to, value: 0n, input, gas })
  journal.revert(snapshot)
  journal.endTransaction(false)
  return { output: output.slice(), failure }
}
