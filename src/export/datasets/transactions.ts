import { effectiveGasPrice, encodeTransaction } from '../../chain/eth/transaction.js'
import type { Transaction } from '../../chain/eth/types.js'
import { bigIntToFixedBytes, equalBytes } from '../../lib/bytes.js'
import type { ExportedReceipt, StoredBlockLink } from '../../store/rows/exportRows.js'
import { columns, nullable, type Row, toU32, toU64, toU64OrNull, uint256, uint256Cells } from '../columns.js'
import type { Dataset } from '../dataset.js'
import { LAYER_1 } from '../layers.js'
import type { ExportSource } from '../source.js'

export const transactions: Dataset<StoredBlockLink> = {
  name: 'transactions',
  fileName: 'transactions',
  summary: 'Transactions, with the outcome of their receipts.',
  layer: LAYER_1,
  filtersAddresses: true,
  columns: [
    ...columns('u32', 'block_number'),
    ...columns('u64', 'transaction_index'),
    ...columns('binary', 'transaction_hash'),
    ...columns('u64', 'nonce'),
    ...columns('binary', 'from_address'),
    ...nullable('binary', 'to_address'),
    ...uint256('value'),
    ...columns('binary', 'input'),
    ...columns('u64', 'gas_limit', 'gas_used', 'gas_price'),
    ...columns('u32', 'transaction_type'),
    ...nullable('u64', 'max_priority_fee_per_gas', 'max_fee_per_gas'),
    ...nullable('bool', 'success'),
    ...columns('u32', 'n_input_bytes', 'n_input_zero_bytes', 'n_input_nonzero_bytes', 'n_rlp_bytes'),
    ...columns('binary', 'block_hash'),
    ...columns('u64', 'chain_id'),
    ...columns('u32', 'timestamp'),
    ...columns('binary', 'r', 's'),
    ...columns('bool', 'v'),
  ],
  batchBlocks: () => 16,
  rows(source, links) {
    const { addresses } = source
    return transactionRows(source, links, (transaction) => addresses === undefined || isOfAny(transaction, addresses))
  },
}

type TransactionSource = Pick<ExportSource, 'chain' | 'rows'>

/** Yields the rows of the wanted transactions of the blocks, in chain order. Call it in a snapshot. */
export function* transactionRows(
  source: TransactionSource,
  links: readonly StoredBlockLink[],
  isWanted: (transaction: Transaction) => boolean,
): Generator<Row> {
  const { chain } = source
  const chainId = chain.chainId()
  for (const link of links) {
    if (link.txCount === 0) continue
    const block = chain.blockByNumber(link.number)!
    const { baseFeePerGas } = block.header
    const receipts = receiptsOf(source, link)
    const place = { chainId, blockNumber: link.number, blockHash: link.hash, timestamp: toU32(link.timestamp) }
    for (const [index, transaction] of chain.transactions(block).entries()) {
      if (!isWanted(transaction)) continue
      const gasPrice = effectiveGasPrice(transaction, baseFeePerGas)
      yield rowOf(transaction, receipts[index], { ...place, index, gasPrice })
    }
  }
}

/** Returns the receipts of a block, one per transaction. */
export function receiptsOf(
  { rows }: Pick<ExportSource, 'rows'>,
  { number, firstTx, txCount }: StoredBlockLink,
): ExportedReceipt[] {
  const receipts = rows.receipts({ from: firstTx, to: firstTx + txCount })
  if (receipts.length === txCount) return receipts
  throw new Error(`block ${number} has ${txCount} transactions and ${receipts.length} receipts; run 'cairn verify'`)
}

function isOfAny({ from, to }: Transaction, addresses: readonly Uint8Array[]): boolean {
  return addresses.some((each) => equalBytes(each, from) || (to !== undefined && equalBytes(each, to)))
}

interface Place {
  blockNumber: number
  blockHash: Uint8Array
  timestamp: number
  chainId: bigint
  index: number
  gasPrice: bigint
}

function rowOf(transaction: Transaction, receipt: ExportedReceipt, place: Place): Row {
  const { input, v, type } = transaction
  const zeros = countZeros(input)
  return [
    place.blockNumber,
    place.index,
    transaction.hash,
    toU64(transaction.nonce),
    transaction.from,
    transaction.to ?? null,
    ...uint256Cells(transaction.value),
    input,
    toU64(transaction.gasLimit),
    toU64(receipt.gasUsed),
    toU64(place.gasPrice),
    type,
    toU64OrNull(transaction.maxPriorityFeePerGas),
    toU64OrNull(transaction.maxFeePerGas),
    receipt.status === undefined ? null : receipt.status === 1,
    input.length,
    zeros,
    input.length - zeros,
    encodeTransaction(transaction).length,
    place.blockHash,
    place.chainId,
    place.timestamp,
    bigIntToFixedBytes(transaction.r, 32),
    bigIntToFixedBytes(transaction.s, 32),
    // y parity: v of typed transactions. Legacy v is 27 or 28, or 35 or 36 plus twice the chain id (EIP-155).
    (type === 0) === (v % 2n === 0n),
  ]
}

function countZeros(bytes: Uint8Array): number {
  let zeros = 0
  for (const byte of bytes) if (byte === 0) zeros++
  return zeros
}
