import { blobBaseFeeOf, GAS_PER_BLOB } from '../../chain/eth/fees.js'
import type { Rules } from '../../chain/eth/forks/rules.js'
import { effectiveGasPrice } from '../../chain/eth/transaction.js'
import { MAX_TRANSACTION_GAS, nextNonce } from '../../chain/eth/transactionLimits.js'
import type { AccessListEntry, Header, Log, Transaction } from '../../chain/eth/types.js'
import { CairnError } from '../../lib/errors.js'
import {
  type BlockEnvironment,
  createEnvironment,
  type Environment,
  withTransaction,
} from '../interpreter/environment.js'
import type { Machine } from '../interpreter/machine.js'
import { createContract, type Outcome, runMessage } from '../interpreter/run.js'
import type { Account, EvmState } from '../interpreter/state.js'
import { beginStateGas } from '../interpreter/stateGas.js'
import { LIMBS, setBytes } from '../interpreter/words/words.js'
import { applyAuthorizations } from './authorizations.js'
import { type BlockGas, checkAgainst } from './checkTransaction.js'
import { intrinsicGas } from './intrinsicGas.js'
import { executeWithStateGas } from './stateGasMessage.js'
import type { MessageGas, TransactionContext, TransactionMessage } from './transactionContext.js'
import { initiallyWarm } from './warmSet.js'

/** A transaction cannot be executed in its block. `rule` is the short name of the broken rule, `detail` the values. */
export class TransactionRefused extends CairnError {
  readonly rule: string
  readonly detail: string
  constructor(rule: string, detail: string) {
    super(`${rule}: ${detail}`)
    this.rule = rule
    this.detail = detail
  }
}

/** Outcome of a transaction, as far as its receipt needs it. */
export interface AppliedTransaction {
  status: Outcome['status']
  succeeded: boolean
  /** Why it failed, in geth's words. */
  failure?: string
  /** True for a creation before Homestead that succeeded without its code. */
  lacksCode?: boolean
  output: Uint8Array
  /** Gas that the sender pays for. */
  gasUsed: bigint
  /** Gas that counts against the block's limit; before Amsterdam equal to `gasUsed` (EIP-7778, EIP-8037). */
  blockGas: BlockGas
  /** Gas refunded at the end; not part of `gasUsed`. */
  gasRefunded: bigint
  /** Gas used before the refund. */
  peakGas: bigint
  logs: Log[]
  contractAddress?: Uint8Array // 20; set for every creation, failed ones too
  effectiveGasPrice: bigint // wei
}

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
  const { journal, header } = context
  const { intrinsic, floor } = check(context, journal.account(transaction.from), transaction, used)
  const price = effectiveGasPrice(transaction, header.baseFeePerGas)
  return executeTransaction(context, transaction, {
    intrinsic,
    floor,
    price,
    tip: price - (header.baseFeePerGas ?? 0n),
    blobPrice: context.environment.block.blobBaseFee,
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
}

/** Executes a checked transaction without ending it. @throws DeadlineExceeded, after which the journal must be
 *  discarded. */
export function executeTransaction(
  context: TransactionContext,
  transaction: Transaction,
  { intrinsic, floor, price, tip, blobPrice }: TransactionTerms,
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
  journal.setBalance(sender, sender.balance - transaction.gasLimit * price - blobCost)
  warmUp(context, transaction)
  const { gasLimit } = transaction
  const outcome = executeMessage(context, transaction, { gasLimit, intrinsic })

  const { gasUsed, gasRefunded } = settleGas(context, { gasLimit, gasLeft: outcome.gasLeft, floor })
  const spent = gasLimit - outcome.gasLeft
  const blockGas = blockGasOf(machine, { spent, gasUsed, floor })
  journal.setBalance(sender, sender.balance + (gasLimit - gasUsed) * price)
  const coinbase = journal.account(header.miner)
  journal.recorder?.account(coinbase)
  journal.setBalance(coinbase, coinbase.balance + gasUsed * tip)
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

/** Intrinsic gas and its floor. @throws TransactionRefused. */
function check(context: TransactionContext, sender: Account, transaction: Transaction, used: BlockGas) {
  const { rules, header } = context
  const code = context.machine.state.code(sender)
  const broken = checkAgainst(
    {
      nonce: sender.nonce,
      balance: sender.balance,
      hasCode: code.length > 0 && !(rules.delegations && code.delegation !== undefined),
    },
    transaction,
    { header, rules, used },
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
