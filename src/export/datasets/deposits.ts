import { familyOf } from '../../chain/eth/families/families.js'
import type { StoredBlockLink } from '../../store/rows/exportRows.js'
import { columns, nullable, toU32, toU64, uint256, uint256Cells } from '../columns.js'
import type { Dataset } from '../dataset.js'
import { LAYER_1 } from '../layers.js'
import { receiptsOf } from './transactions.js'

/* What transactions of the OP stack have beside those of Ethereum. cryo has no such datasets. */

export const deposits: Dataset<StoredBlockLink> = {
  name: 'deposits',
  fileName: 'deposits',
  summary:
    'Deposits of the OP stack: transactions that layer 1 commands. `mint` is in wei; `nonce` is that of the receipt, null before Canyon. cryo has no such dataset.',
  layer: LAYER_1,
  needsDeposits: true,
  columns: [
    ...columns('u32', 'block_number', 'transaction_index'),
    ...columns('binary', 'transaction_hash', 'source_hash', 'from_address'),
    ...nullable('binary', 'to_address', 'contract_address'),
    ...uint256('mint'),
    ...uint256('value'),
    ...columns('binary', 'input'),
    ...columns('u64', 'gas_limit', 'gas_used'),
    ...nullable('u64', 'nonce'),
    ...columns('bool', 'is_system_transaction'),
    ...nullable('bool', 'success'),
    ...columns('u64', 'chain_id'),
    ...columns('u32', 'block_timestamp'),
  ],
  batchBlocks: () => 64,
  *rows(source, links) {
    const { chain } = source
    const chainId = chain.chainId()
    for (const link of links) {
      if (link.txCount === 0) continue
      const transactions = chain.transactions(chain.blockByNumber(link.number)!)
      if (transactions.every(({ deposit }) => deposit === undefined)) continue
      const receipts = receiptsOf(source, link)
      for (const [index, { hash, from, to, value, input, gasLimit, nonce, deposit }] of transactions.entries()) {
        if (deposit === undefined) continue
        const { sourceHash, mint = 0n, isSystemTransaction, receiptVersion } = deposit
        const { gasUsed, status, contractAddress } = receipts[index]
        yield [
          ...[link.number, index, hash, sourceHash, from, to ?? null, contractAddress ?? null],
          ...[...uint256Cells(mint), ...uint256Cells(value), input, toU64(gasLimit), toU64(gasUsed)],
          ...[receiptVersion === undefined ? null : toU64(nonce), isSystemTransaction],
          ...[status === undefined ? null : status === 1, chainId, toU32(link.timestamp)],
        ]
      }
    }
  },
}

/** Members of receipts with their columns. All are quantities. */
const FEES = {
  l1Fee: 'l1_fee',
  l1GasUsed: 'l1_gas_used',
  l1GasPrice: 'l1_gas_price',
  l1BlobBaseFee: 'l1_blob_base_fee',
  l1BaseFeeScalar: 'l1_base_fee_scalar',
  l1BlobBaseFeeScalar: 'l1_blob_base_fee_scalar',
  operatorFeeScalar: 'operator_fee_scalar',
  operatorFeeConstant: 'operator_fee_constant',
  daFootprintGasScalar: 'da_footprint_gas_scalar',
} as const

export const l1Fees: Dataset<StoredBlockLink> = {
  name: 'l1-fees',
  fileName: 'l1_fees',
  summary:
    'Fees of layer 1 of transactions of the OP stack, deposits left out, as receipts have them: computed from the first deposit of the block. Prices and fees are in wei; null where the fork does not have one. cryo has no such dataset.',
  layer: LAYER_1,
  needsDeposits: true,
  columns: [
    ...columns('u32', 'block_number', 'transaction_index'),
    ...columns('binary', 'transaction_hash'),
    ...nullable('u64', ...Object.values(FEES)),
    ...nullable('f64', 'l1_fee_scalar'),
    ...columns('u64', 'chain_id'),
    ...columns('u32', 'block_timestamp'),
  ],
  batchBlocks: () => 16,
  *rows({ chain }, links) {
    const chainId = chain.chainId()
    const spec = chain.spec()
    const { receiptMembers } = familyOf(spec)
    if (receiptMembers === undefined) return
    for (const { number, txCount, timestamp } of links) {
      if (txCount === 0) continue
      const block = chain.blockByNumber(number)!
      const transactions = chain.transactions(block)
      const membersOf = receiptMembers(spec, block.header, transactions[0])
      if (membersOf === undefined) continue
      for (const [index, transaction] of transactions.entries()) {
        const members = membersOf(transaction)
        if (members.l1Fee === undefined) continue
        const fees = Object.keys(FEES).map((name) => {
          const value = members[name] as string | undefined
          return value === undefined ? null : toU64(BigInt(value))
        })
        const scalar = members.l1FeeScalar === undefined ? null : Number(members.l1FeeScalar)
        yield [number, index, transaction.hash, ...fees, scalar, chainId, toU32(timestamp)]
      }
    }
  },
}
