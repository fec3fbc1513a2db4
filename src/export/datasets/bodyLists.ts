import type { StoredBlockLink } from '../../store/rows/exportRows.js'
import { columns, toU32, toU64 } from '../columns.js'
import type { Dataset } from '../dataset.js'
import { LAYER_1 } from '../layers.js'

export const withdrawals: Dataset<StoredBlockLink> = {
  name: 'withdrawals',
  fileName: 'withdrawals',
  summary: 'Withdrawals of validators (EIP-4895). The amount is in Gwei. cryo has no such dataset.',
  layer: LAYER_1,
  columns: [
    ...columns('u32', 'block_number'),
    ...columns('u64', 'withdrawal_index', 'validator_index'),
    ...columns('binary', 'address'),
    ...columns('u64', 'amount_gwei', 'chain_id'),
    ...columns('u32', 'block_timestamp'),
  ],
  batchBlocks: () => 1_000,
  *rows({ chain }, links) {
    const chainId = chain.chainId()
    for (const { number, timestamp } of links) {
      for (const { index, validatorIndex, address, amountGwei } of chain.blockByNumber(number)!.withdrawals ?? []) {
        const integers = [toU64(index), toU64(validatorIndex)]
        yield [number, ...integers, address, toU64(amountGwei), chainId, toU32(timestamp)]
      }
    }
  },
}

export const blobs: Dataset<StoredBlockLink> = {
  name: 'blobs',
  fileName: 'blobs',
  summary: 'Versioned hashes of the blobs of each transaction (EIP-4844), in their order. cryo has no such dataset.',
  layer: LAYER_1,
  columns: [
    ...columns('u32', 'block_number', 'transaction_index'),
    ...columns('binary', 'transaction_hash'),
    ...columns('u32', 'blob_index'),
    ...columns('binary', 'versioned_hash'),
    ...columns('u64', 'chain_id'),
    ...columns('u32', 'block_timestamp'),
  ],
  batchBlocks: () => 16,
  *rows({ chain }, links) {
    const chainId = chain.chainId()
    for (const { number, txCount, timestamp } of links) {
      if (txCount === 0) continue
      for (const [index, { hash, blobVersionedHashes = [] }] of chain
        .transactions(chain.blockByNumber(number)!)
        .entries()) {
        for (const [at, versionedHash] of blobVersionedHashes.entries()) {
          yield [number, index, hash, at, versionedHash, chainId, toU32(timestamp)]
        }
      }
    }
  },
}
