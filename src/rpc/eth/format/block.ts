import { encodeBlock } from '../../../chain/eth/block.js'
import { familyOf } from '../../../chain/eth/families/families.js'
import { hashHeader } from '../../../chain/eth/header.js'
import type { Block, Header, Withdrawal } from '../../../chain/eth/types.js'
import { formatData, formatQuantity } from '../../../lib/hex.js'
import type { ChainReader, StoredBlock } from '../../../store/rows/types.js'
import type { Compatibility } from '../../core/context.js'
import type { PendingView } from '../pendingBlock.js'
import { formatPendingTransaction, formatTransaction } from './transaction.js'

/** The block object of the API specification, with `mixHash` and later header fields where present. `fullTransactions`
 *  false: hashes only. */
export function formatBlock(chain: ChainReader, block: StoredBlock, fullTransactions: boolean) {
  const transactions = fullTransactions
    ? chain.transactions(block).map((transaction, i) => formatTransaction(transaction, block, i))
    : chain.transactionHashes(block).map(formatData)
  return {
    ...formatHeader(block.header),
    hash: formatData(block.hash),
    size: formatQuantity(block.sizeBytes),
    totalDifficulty: formatQuantity(block.totalDifficulty),
    transactions,
    uncles: chain.uncleHashes(block.header.number).map(formatData),
    withdrawals: block.withdrawals?.map(formatWithdrawal),
    ...familyOf(chain.spec()).blockMembers?.(block.header),
  }
}

/** The object of a block with its parts, of whole transactions or their hashes. */
export function formatWholeBlock(block: Block, totalDifficulty: bigint, fullTransactions: boolean) {
  const { transactions, uncles, withdrawals } = block
  return {
    ...formatHeader(block.header),
    hash: formatData(block.hash),
    size: formatQuantity(block.sizeBytes),
    totalDifficulty: formatQuantity(totalDifficulty),
    transactions: transactions.map((each, i) =>
      fullTransactions ? formatTransaction(each, block, i) : formatData(each.hash),
    ),
    uncles: uncles.map((uncle) => formatData(hashHeader(uncle))),
    withdrawals: withdrawals?.map(formatWithdrawal),
  }
}

/** The header object of `newHeads` notifications, written like geth's `types.Header`: the members of a block object
 *  that its hash covers, and the hash. Members of inactive forks are null; a block object omits them. */
export function formatHead({ header, hash }: StoredBlock) {
  const members = Object.entries(formatHeader(header)).map(([name, value]) => [name, value ?? null])
  return { ...Object.fromEntries(members), hash: formatData(hash) }
}

/** The header object of the API specification: the members of a block object that its hash covers, and the hash.
 *  Members of inactive forks are absent. */
export function formatHeaderOnly({ header, hash }: StoredBlock) {
  return { ...formatHeader(header), hash: formatData(hash) }
}

/** The uncle object: a block object without `transactions`. `parentTotalDifficulty` undefined: unknown. */
export function formatUncle(header: Header, parentTotalDifficulty: bigint | undefined) {
  const totalDifficulty = parentTotalDifficulty === undefined ? undefined : parentTotalDifficulty + header.difficulty
  return {
    ...formatHeader(header),
    hash: formatData(hashHeader(header)),
    size: formatQuantity(sizeOfEmptyBlock(header)),
    totalDifficulty: totalDifficulty === undefined ? null : formatQuantity(totalDifficulty),
    uncles: [],
  }
}

/** The pending block object: `hash` and `nonce` are null, and in the form of the API specification also `number` and
 *  `logsBloom`. */
export function formatPendingBlock(pending: PendingView, fullTransactions: boolean, form: Compatibility) {
  const { header, totalDifficulty, transactions, withdrawals } = pending
  return {
    ...formatHeader(header),
    hash: null,
    nonce: null,
    ...(form === 'specification' ? { number: null, logsBloom: null } : {}),
    size: formatQuantity(encodeBlock({ header, transactions, uncles: [], withdrawals }).length),
    totalDifficulty: formatQuantity(totalDifficulty),
    transactions: transactions.map((each) =>
      fullTransactions ? formatPendingTransaction(each, header) : formatData(each.hash),
    ),
    uncles: [],
    withdrawals: withdrawals?.map(formatWithdrawal),
  }
}

function formatHeader(header: Header) {
  return {
    baseFeePerGas: optional(header.baseFeePerGas, formatQuantity),
    blobGasUsed: optional(header.blobGasUsed, formatQuantity),
    blockAccessListHash: optional(header.blockAccessListHash, formatData),
    difficulty: formatQuantity(header.difficulty),
    excessBlobGas: optional(header.excessBlobGas, formatQuantity),
    extraData: formatData(header.extraData),
    gasLimit: formatQuantity(header.gasLimit),
    gasUsed: formatQuantity(header.gasUsed),
    logsBloom: formatData(header.logsBloom),
    miner: formatData(header.miner),
    mixHash: formatData(header.mixHash),
    nonce: formatData(header.nonce),
    number: formatQuantity(header.number),
    parentBeaconBlockRoot: optional(header.parentBeaconBlockRoot, formatData),
    parentHash: formatData(header.parentHash),
    receiptsRoot: formatData(header.receiptsRoot),
    requestsHash: optional(header.requestsHash, formatData),
    sha3Uncles: formatData(header.unclesHash),
    slotNumber: optional(header.slotNumber, formatQuantity),
    stateRoot: formatData(header.stateRoot),
    timestamp: formatQuantity(header.timestamp),
    transactionsRoot: formatData(header.transactionsRoot),
    withdrawalsRoot: optional(header.withdrawalsRoot, formatData),
  }
}

function formatWithdrawal(withdrawal: Withdrawal) {
  return {
    index: formatQuantity(withdrawal.index),
    validatorIndex: formatQuantity(withdrawal.validatorIndex),
    address: formatData(withdrawal.address),
    amount: formatQuantity(withdrawal.amountGwei),
  }
}

/** Undefined stays undefined: JSON omits such members. */
function optional<T>(value: T | undefined, format: (value: T) => string): string | undefined {
  return value === undefined ? undefined : format(value)
}

function sizeOfEmptyBlock(header: Header): number {
  const withdrawals = header.withdrawalsRoot ? [] : undefined
  return encodeBlock({ header, transactions: [], uncles: [], withdrawals }).length
}
