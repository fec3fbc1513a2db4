import { CALL, CREATE } from '../../chain/eth/callOpcodes.js'
import type { ForcedInclusion } from '../../chain/eth/families/family.js'
import { createAddress } from '../../chain/eth/transaction.js'
import { nextNonce } from '../../chain/eth/transactionLimits.js'
import type { Transaction } from '../../chain/eth/types.js'
import { EMPTY_BYTES } from '../../lib/bytes.js'
import { withTransaction } from '../interpreter/environment.js'
import { FAILED_DEPOSIT } from '../interpreter/failures.js'
import type { Outcome } from '../interpreter/run.js'
import type { AppliedTransaction } from './appliedTransaction.js'
import { type BlockGas, checkRoom, TransactionRefused } from './checkTransaction.js'
import { intrinsicGas } from './intrinsicGas.js'
import { executeMessage, settleGas, warmUp } from './message.js'
import type { TransactionContext } from './transactionContext.js'

/** Executes a force-included transaction without ending it. It pays nothing for its gas, and fails where another one
 *  would be refused: its sender then keeps what was minted, and its nonce increases. @throws TransactionRefused if no
 *  block may contain it; DeadlineExceeded, after which the journal must be discarded */
export function runForced(
  context: TransactionContext,
  transaction: Transaction,
  inclusion: ForcedInclusion,
  used: BlockGas,
): AppliedTransaction {
  const { machine, journal, rules, header } = context
  const { gasLimit } = transaction
  const { mint, isUncounted, reportsGas, reportsNonce } = inclusion
  const broken = inclusion.broken ?? (isUncounted ? undefined : checkRoom(gasLimit, { header, rules, used }))
  if (broken) throw new TransactionRefused(broken.rule, broken.detail)
  const sender = journal.account(transaction.from)
  journal.recorder?.account(sender)
  const { nonce } = sender
  const isCreation = transaction.to === undefined
  if (mint > 0n) journal.setBalance(sender, sender.balance + mint)
  machine.environment = withTransaction(context.environment, {
    origin: transaction.from,
    gasPrice: 0n,
    blobVersionedHashes: [],
  })
  const { intrinsic, floor, failure } = costsOf(context, transaction)
  let outcome: Outcome
  let gas: { gasUsed: bigint; gasRefunded: bigint }
  if (failure === undefined) {
    warmUp(context, transaction)
    outcome = executeMessage(context, transaction, { gasLimit, intrinsic, isUncapped: true })
    gas = settleGas(context, { gasLimit, gasLeft: outcome.gasLeft, floor })
  } else {
    outcome = { status: 'halt', failure, output: EMPTY_BYTES, gasLeft: 0n }
    journal.setNonce(sender, nextNonce(nonce))
    gas = { gasUsed: gasLimit, gasRefunded: 0n }
    const { from, to = createAddress(from, nonce), input, value } = transaction
    machine.hooks?.enter?.({ opcode: isCreation ? CREATE : CALL, from, to, input, gas: 0n, value })
    machine.hooks?.exit?.(outcome)
  }
  if (!reportsGas) gas = { gasUsed: isUncounted ? 0n : gasLimit, gasRefunded: 0n }
  const { gasUsed, gasRefunded } = gas
  const spent = gasLimit - outcome.gasLeft
  return {
    status: outcome.status,
    succeeded: outcome.status === 'success',
    failure: outcome.failure,
    output: outcome.output,
    gasUsed,
    blockGas: { execution: gasUsed, state: 0n },
    gasRefunded,
    peakGas: spent < floor ? floor : spent,
    logs: journal.logs,
    // As it follows from the receipt: without the nonce it is not known.
    contractAddress: isCreation && reportsNonce ? createAddress(transaction.from, nonce) : undefined,
    effectiveGasPrice: 0n,
    reportedNonce: reportsNonce ? nonce : undefined,
  }
}

/** Intrinsic gas and its floor, and why the transaction fails before it runs. */
function costsOf(
  { machine, journal, rules }: TransactionContext,
  { from, to, value, input: data, gasLimit }: Transaction,
): { intrinsic: bigint; floor: bigint; failure?: string } {
  const { gas: intrinsic, floor } = intrinsicGas({ from, to, value, data }, rules)
  const least = intrinsic > floor ? intrinsic : floor
  const isTooPoor = value > journal.account(from).balance
  const isTooLong = to === undefined && data.length > machine.rules.maxInitCodeSize
  const failure = gasLimit < least || isTooPoor || isTooLong ? FAILED_DEPOSIT : undefined
  return { intrinsic, floor, failure }
}
