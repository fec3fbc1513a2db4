import { nextNonce } from '../../chain/eth/transactionLimits.js'
import type { AccessListEntry, Transaction } from '../../chain/eth/types.js'
import { createContract, type Outcome, runMessage } from '../interpreter/run.js'
import type { EvmState } from '../interpreter/state.js'
import { beginStateGas } from '../interpreter/stateGas.js'
import { LIMBS, setBytes } from '../interpreter/words/words.js'
import { applyAuthorizations } from './authorizations.js'
import { executeWithStateGas } from './stateGasMessage.js'
import type { MessageGas, TransactionContext, TransactionMessage } from './transactionContext.js'
import { initiallyWarm } from './warmSet.js'

/** Gas used of a gas limit, at least `floor`, and the refund in it (EIP-3529). Call it before the transaction ends,
 *  because that clears the refund counter. */
export function settleGas(
  { journal, rules }: TransactionContext,
  { gasLimit, gasLeft, floor }: { gasLimit: bigint; gasLeft: bigint; floor: bigint },
): { gasUsed: bigint; gasRefunded: bigint } {
  const spent = gasLimit - gasLeft
  const most = spent / rules.refundQuotient
  const refund = BigInt(journal.refund)
  const gasRefunded = refund < most ? refund : most
  const gasUsed = spent - gasRefunded
  return { gasUsed: gasUsed < floor ? floor : gasUsed, gasRefunded }
}

/** Warms the accounts and slots that are warm before authorizations are applied, except precompiles (EIP-2929, 2930,
 *  3651). */
export function warmUp(
  context: TransactionContext,
  transaction: Pick<Transaction, 'from' | 'to' | 'accessList'>,
): void {
  const { rules, state } = context.machine
  if (!rules.eip2929) return
  for (const account of initiallyWarm(context, transaction)) state.warmAccount(account)
  if (transaction.accessList) warmAccessList(state, transaction.accessList)
}

/** Warms the entries of an access list (EIP-2930). */
function warmAccessList(state: EvmState, accessList: readonly AccessListEntry[]): void {
  const word = new Int32Array(LIMBS)
  for (const { address, storageKeys } of accessList) {
    const account = state.account(address)
    state.warmAccount(account)
    for (const key of storageKeys) {
      setBytes(word, 0, key, 0, 32)
      state.warmSlot(state.slot(account, word, 0))
    }
  }
}

/** Runs a transaction's call or creation, and increments the sender's nonce. @throws DeadlineExceeded */
export function executeMessage(
  context: TransactionContext,
  message: TransactionMessage,
  messageGas: MessageGas,
): Outcome {
  const { machine, journal, chainId } = context
  if (machine.rules.eip8037Full) return executeWithStateGas(context, message, messageGas)
  // A reservoir that starts empty ends empty: refills repay what was spilled.
  if (machine.rules.eip8037) beginStateGas(machine, machine.frame(0, journal.account(message.from)), 0)
  const gas = messageGas.gasLimit - messageGas.intrinsic
  const { from: caller, to, value, input, authorizationList = [] } = message
  if (to === undefined) return createContract(machine, { caller, value, gas, initCode: input })
  const sender = journal.account(caller)
  journal.setNonce(sender, nextNonce(sender.nonce))
  applyAuthorizations(journal, authorizationList, chainId)
  return runMessage(machine, { caller, to, value, gas, input })
}
