import type { ChainSpec, Rules } from '../../chain/eth/forks/rules.js'
import type { Header, Log } from '../../chain/eth/types.js'
import { EMPTY_BYTES } from '../../lib/bytes.js'
import { formatData } from '../../lib/hex.js'
import { withTransaction } from '../interpreter/environment.js'
import { type Outcome, runMessage } from '../interpreter/run.js'
import { beginStateGas } from '../interpreter/stateGas.js'
import {
  hashRequests,
  readDeposits,
  SYSTEM_ADDRESS,
  SYSTEM_CALL_GAS,
  SYSTEM_CALL_STATE_GAS,
  SystemCallFailed,
} from './system.js'
import type { TransactionContext } from './transactionContext.js'

/** System calls before the first transaction: the parent's beacon root (EIP-4788) and the parent's hash (EIP-2935).
 *  Without code at their address they do nothing; a development chain may omit them. */
export function callSystemBefore(context: TransactionContext, header: Header, rules: Rules): void {
  if (rules.omitsSystemCalls) return
  for (const { address, input } of rules.systemCalls) callSystemContract(context, address, { input: header[input]! })
}

/** The requests hash of the block (EIP-7685), 32 bytes: deposits from the logs (EIP-6110), then the output of the
 *  request contracts (EIP-7002, 7251, 8282), which a development chain may lack. @throws SystemCallFailed if a
 *  contract is missing or fails, or a deposit log is malformed. */
export function requestsOf(context: TransactionContext, logs: readonly Log[], spec: ChainSpec): Uint8Array {
  const deposits = readDeposits(logs, spec.depositContract)
  return hashRequests([
    deposits,
    ...context.rules.requestContracts.map((address) => requireSystemCall(context, address, spec)),
  ])
}

function requireSystemCall(context: TransactionContext, address: Uint8Array, { isDevelopment }: ChainSpec): Uint8Array {
  const outcome = callSystemContract(context, address, { input: EMPTY_BYTES })
  if (!outcome && isDevelopment) return EMPTY_BYTES
  if (!outcome) throw new SystemCallFailed(`no code at the system contract ${formatData(address)}`)
  if (outcome.failure !== undefined) {
    throw new SystemCallFailed(`system contract ${formatData(address)}: ${outcome.failure}`)
  }
  return outcome.output
}

/** Calls a contract as the system and ends the call as a transaction. Returns undefined if there is no code. Changes
 *  neither the caller's account, unless the family has it created, nor the block's gas. */
export function callSystemContract(
  { machine, journal, environment, family }: TransactionContext,
  to: Uint8Array,
  { input, gas = SYSTEM_CALL_GAS }: { input: Uint8Array; gas?: bigint },
): Outcome | undefined {
  const called = journal.account(to)
  journal.recorder?.account(called)
  if (journal.code(called).length === 0) return undefined
  const { eip8037, eip8037Full, eip161, eip8246 } = machine.rules
  if (eip8037) beginStateGas(machine, machine.frame(0, called), eip8037Full ? Number(SYSTEM_CALL_STATE_GAS) : 0)
  machine.environment = withTransaction(environment, { origin: SYSTEM_ADDRESS, gasPrice: 0n, blobVersionedHashes: [] })
  const outcome = runMessage(machine, { caller: SYSTEM_ADDRESS, to, value: 0n, input, gas })
  if (family?.keepsSystemAccount) journal.touch(journal.account(SYSTEM_ADDRESS))
  journal.endTransaction(eip161, eip8246)
  return outcome
}
