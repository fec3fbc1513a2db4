import { blobBaseFeeOf, GAS_PER_BLOB } from '../../chain/eth/fees.js'
import type { Rules } from '../../chain/eth/forks/rules.js'
import { MAX_NONCE, MAX_TRANSACTION_GAS } from '../../chain/eth/transactionLimits.js'
import type { Header, Transaction } from '../../chain/eth/types.js'
import { CairnError } from '../../lib/errors.js'
import { formatData } from '../../lib/hex.js'

/** A rule that a transaction breaks: its short name and the values. */
export interface BrokenRule {
  rule: string
  detail: string
}

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

/** Sender fields that the checks need. */
export interface Sender {
  nonce: bigint
  balance: bigint
  /** It has code that is not a delegation (EIP-3607, EIP-7702). */
  hasCode: boolean
}

/** Gas of a block's transactions, split by what it pays for (EIP-8037). State gas is zero before Amsterdam. */
export interface BlockGas {
  execution: bigint
  state: bigint
}

/** The first rule that the transaction breaks in its block; undefined if it is valid. Rules: Yellow Paper 6.1,
 *  EIP-1559, EIP-3607, EIP-4844, EIP-7702. `addedWei` is due beside the gas. Intrinsic gas is checked at execution. */
export function checkAgainst(
  sender: Sender,
  transaction: Transaction,
  { header, rules, used, addedWei = 0n }: { header: Header; rules: Rules; used: BlockGas; addedWei?: bigint },
): BrokenRule | undefined {
  const { gasLimit, nonce } = transaction
  const room = checkRoom(gasLimit, { header, rules, used })
  if (room) return room
  const fees = checkFees(transaction, header, rules)
  if (fees) return fees
  const { nonce: expected, balance } = sender
  if (nonce !== expected) {
    return {
      rule: 'nonce',
      detail: `too ${nonce < expected ? 'low' : 'high'}: the sender's is ${expected}, got ${nonce}`,
    }
  }
  if (nonce >= MAX_NONCE) return { rule: 'nonce', detail: `${nonce} cannot be increased (EIP-2681)` }
  if (sender.hasCode) return { rule: 'sender', detail: `${formatData(transaction.from)} has code (EIP-3607)` }
  const cost = upfrontCost(transaction) + addedWei
  if (balance < cost) return { rule: 'funds', detail: `the sender has ${balance} wei, and up to ${cost} may be needed` }
  return undefined
}

/** The rule about the gas that a block has left, if a gas limit breaks it. */
export function checkRoom(
  gasLimit: bigint,
  { header, rules, used }: { header: Header; rules: Rules; used: BlockGas },
): BrokenRule | undefined {
  const available = header.gasLimit - used.execution
  const forState = header.gasLimit - used.state
  if (gasLimit <= available && gasLimit <= forState) return undefined
  const hasStateGas = rules.eip8037Full
  const execution = hasStateGas && gasLimit > MAX_TRANSACTION_GAS ? MAX_TRANSACTION_GAS : gasLimit
  if (execution > available) {
    return {
      rule: 'block gas limit',
      detail: `gas limit ${gasLimit} is above the ${available} that the block has left`,
    }
  }
  if (hasStateGas && gasLimit > forState) {
    const detail = `gas limit ${gasLimit} is above the ${forState} that the block has left for state`
    return { rule: 'block gas limit', detail }
  }
  return undefined
}

function checkFees(transaction: Transaction, header: Header, rules: Rules): BrokenRule | undefined {
  const maxFee = transaction.maxFeePerGas ?? transaction.gasPrice ?? 0n
  const { maxPriorityFeePerGas: priority, maxFeePerBlobGas } = transaction
  if (priority !== undefined && priority > maxFee) {
    return { rule: 'priority fee', detail: `${priority} is above the fee cap ${maxFee}` }
  }
  if (header.baseFeePerGas !== undefined && maxFee < header.baseFeePerGas) {
    return { rule: 'fee cap', detail: `${maxFee} is below the base fee ${header.baseFeePerGas}` }
  }
  if (maxFeePerBlobGas !== undefined) {
    const blobFee = blobBaseFeeOf(header.excessBlobGas!, rules)
    if (maxFeePerBlobGas < blobFee) {
      return { rule: 'blob fee cap', detail: `${maxFeePerBlobGas} is below the blob base fee ${blobFee}` }
    }
  }
  return undefined
}

function upfrontCost(transaction: Transaction): bigint {
  const maxFee = transaction.maxFeePerGas ?? transaction.gasPrice ?? 0n
  const blobGas = BigInt(transaction.blobVersionedHashes?.length ?? 0) * GAS_PER_BLOB
  return transaction.gasLimit * maxFee + transaction.value + blobGas * (transaction.maxFeePerBlobGas ?? 0n)
}
