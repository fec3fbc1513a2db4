import type { AddedFees } from '../../chain/eth/families/family.js'
import { blobBaseFeeOf, GAS_PER_BLOB } from '../../chain/eth/fees.js'
import type { Rules } from '../../chain/eth/forks/rules.js'
import { effectiveGasPrice } from '../../chain/eth/transaction.js'
import { MAX_TRANSACTION_GAS } from '../../chain/eth/transactionLimits.js'
import type { Header, Transaction } from '../../chain/eth/types.js'
import {
  type BlockEnvironment,
  createEnvironment,
  type Environment,
  withTransaction,
} from '../interpreter/environment.js'
import type { Journal } from '../interpreter/journal/journal.js'
import type { JournalAccount } from '../interpreter/journal/journalAccount.js'
import type { Machine } from '../interpreter/machine.js'
import type { AppliedTransaction } from './appliedTransaction.js'
import { type BlockGas, checkAgainst, TransactionRefused } from './checkTransaction.js'
import { runForced } from './forcedTransaction.js'
import { intrinsicGas } from './intrinsicGas.js'
import { executeMessage, settleGas, warmUp } from './message.js'
import type { TransactionContext } from './transactionContext.js'

/** What instructions can read of a block with that header. `blockHash` serves the 256 blocks before it. `blobBaseFee`
 *  replaces that of the header. */
export function blockEnvironment(
  header: Header,
  rules: Rules,
  outside: Pick<BlockEnvironment, 'chainId' | 'blockHash'> & Partial<Pick<BlockEnvironment, 'blobBaseFee'>>,
): Environment {
  const { chainId, blockHash } = outside
  const {
    number,
    timestamp,
    miner: coinbase,
    gasLimit,
    difficulty,
    mixHash: prevRandao,
    excessBlobGas,
    slotNumber,
  } = header
  const baseFeePerGas = header.baseFeePerGas ?? 0n
  const ofHeader = excessBlobGas === undefined || !rules.blobs ? 0n : blobBaseFeeOf(excessBlobGas, rules)
  return createEnvironment(
    {
      number,
      timestamp,
      coinbase,
      gasLimit,
      difficulty,
      prevRandao,
      baseFeePerGas,
      blobBaseFee: outside.blobBaseFee ?? ofHeader,
      slotNumber,
      chainId,
      blockHash,
    },
    rules.isProofOfStake,
  )
}

/** Executes a transaction and leaves its end state in the journal: fees paid, accounts deleted (Yellow Paper, 6;
 *  EIP-1559, 2930, 3529, 4844, 7623, 7702, 7778, 8037). `used` is the block's gas before it. @throws TransactionRefused
 *  with nothing changed; DeadlineExceeded, after which the journal must be discarded. */
export function applyTransaction(
  context: TransactionContext,
  transaction: Transaction,
  used: BlockGas,
): AppliedTransaction {
  const applied = runTransaction(context, transaction, used)
  const { journal, machine } = context
  journal.endTransaction(machine.rules.eip161, machine.rules.eip8246)
  return applied
}

/** Like `applyTransaction`, but does not end the transaction: everything can still be reverted, and accounts to be
 *  deleted still exist. */
export function runTransaction(
  context: TransactionContext,
  transaction: Transaction,
  used: BlockGas,
): AppliedTransaction {
  const { header, family } = context
  const inclusion = family?.rules?.forcedInclusion(transaction)
  if (inclusion !== undefined) return runForced(context, transaction, inclusion, used)
  const fees = family?.rules?.feesOf(transaction, family.state)
  const { intrinsic, floor } = check(context, transaction, used, fees?.upfront)
  const price = effectiveGasPrice(transaction, header.baseFeePerGas)
  return executeTransaction(context, transaction, {
    intrinsic,
    floor,
    price,
    tip: price - (header.baseFeePerGas ?? 0n),
    blobPrice: context.environment.block.blobBaseFee,
    fees,
  })
}

/** Prices of a transaction, in wei per gas. */
export interface TransactionTerms {
  /** Gas due before execution, and the minimum that is paid. */
  intrinsic: bigint
  floor: bigint
  price: bigint
  tip: bigint
  blobPrice: bigint
  /** What a family adds. */
  fees?: AddedFees
}

/** Executes a checked transaction without ending it. @throws DeadlineExceeded, after which the journal must be
 *  discarded. */
export function executeTransaction(
  context: TransactionContext,
  transaction: Transaction,
  { intrinsic, floor, price, tip, blobPrice, fees }: TransactionTerms,
): AppliedTransaction {
  const { machine, journal, header } = context
  const sender = journal.account(transaction.from)
  machine.environment = withTransaction(context.environment, {
    origin: transaction.from,
    gasPrice: price,
    blobVersionedHashes: transaction.blobVersionedHashes ?? [],
  })
  const blobs = BigInt(transaction.blobVersionedHashes?.length ?? 0)
  const blobCost = blobs === 0n ? 0n : blobs * GAS_PER_BLOB * blobPrice
  journal.recorder?.account(sender)
  journal.setBalance(sender, sender.balance - transaction.gasLimit * price - blobCost - (fees?.upfront ?? 0n))
  warmUp(context, transaction)
  const { gasLimit } = transaction
  const outcome = executeMessage(context, transaction, { gasLimit, intrinsic })

  const { gasUsed, gasRefunded } = settleGas(context, { gasLimit, gasLeft: outcome.gasLeft, floor })
  const spent = gasLimit - outcome.gasLeft
  const blockGas = blockGasOf(machine, { spent, gasUsed, floor })
  journal.setBalance(sender, sender.balance + (gasLimit - gasUsed) * price)
  const coinbase = journal.account(context.family?.feeRecipient ?? header.miner)
  journal.recorder?.account(coinbase)
  journal.setBalance(coinbase, coinbase.balance + gasUsed * tip)
  if (fees !== undefined) settleFees(journal, sender, fees, gasUsed)
  const { logs } = journal
  return {
    status: outcome.status,
    succeeded: outcome.status === 'success',
    failure: outcome.failure,
    lacksCode: outcome.lacksCode,
    output: outcome.output,
    gasUsed,
    blockGas,
    gasRefunded,
    peakGas: spent < floor ? floor : spent,
    logs,
    contractAddress: outcome.createdAddress,
    effectiveGasPrice: price,
  }
}

/** Returns what is left of the fees that a family adds, and makes the payments. */
function settleFees(journal: Journal, sender: JournalAccount, fees: AddedFees, gasUsed: bigint): void {
  journal.setBalance(sender, sender.balance + fees.refund(gasUsed))
  for (const { address, wei } of fees.payments(gasUsed)) {
    const account = journal.account(address)
    journal.recorder?.account(account)
    journal.setBalance(account, account.balance + wei)
  }
}

/** Intrinsic gas and its floor. `addedWei` is due beside the gas. @throws TransactionRefused. */
function check(context: TransactionContext, transaction: Transaction, used: BlockGas, addedWei?: bigint) {
  const { rules, header } = context
  const sender = context.journal.account(transaction.from)
  const code = context.machine.state.code(sender)
  const broken = checkAgainst(
    {
      nonce: sender.nonce,
      balance: sender.balance,
      hasCode: code.length > 0 && !(rules.delegations && code.delegation !== undefined),
    },
    transaction,
    { header, rules, used, addedWei },
  )
  if (broken) throw new TransactionRefused(broken.rule, broken.detail)
  const { from, to, value, input: data, accessList, authorizationList, gasLimit } = transaction
  const { gas: intrinsic, floor } = intrinsicGas({ from, to, value, data, accessList, authorizationList }, rules)
  const least = intrinsic > floor ? intrinsic : floor
  if (gasLimit < least) throw new TransactionRefused('intrinsic gas', `needs ${least}, the gas limit is ${gasLimit}`)
  // EIP-7825, EIP-8037: the limit applies to the gas that execution may use.
  if (context.machine.rules.eip8037Full && least > MAX_TRANSACTION_GAS) {
    throw new TransactionRefused('intrinsic gas', `needs ${least}, at most ${MAX_TRANSACTION_GAS} are possible`)
  }
  return { intrinsic, floor }
}

/** Gas that counts against the block's limit for a transaction that `spent` gas before refunds and paid for
 *  `gasUsed`. */
function blockGasOf(
  { rules, stateUsed }: Machine,
  { spent, gasUsed, floor }: { spent: bigint; gasUsed: bigint; floor: bigint },
): BlockGas {
  if (!rules.eip8037Full) return { execution: gasUsed, state: 0n }
  const state = BigInt(stateUsed)
  const execution = spent - state
  return { execution: execution < floor ? floor : execution, state }
}
