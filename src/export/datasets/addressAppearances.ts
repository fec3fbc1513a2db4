import { keyOfBytes } from '../../lib/bytes.js'
import { decodeAppearances } from '../../store/rows/appearances.js'
import type { StoredBlockLink } from '../../store/rows/exportRows.js'
import { columns, nullable, toU32 } from '../columns.js'
import type { Dataset } from '../dataset.js'
import { LAYER_1 } from '../layers.js'

/** The index has no relationships: the column of cryo stays null. */
export const addressAppearances: Dataset<StoredBlockLink> = {
  name: 'address-appearances',
  fileName: 'address_appearances',
  summary:
    'Addresses in which each transaction appears, each once, from the address index: sender, recipient, created contract, all that its calls reach (not with --state none), and the parties of token transfers. `relationship` is null: the index does not have it.',
  layer: LAYER_1,
  needsAppearances: true,
  filtersAddresses: true,
  columns: [
    ...columns('u32', 'block_number'),
    ...columns('binary', 'block_hash', 'transaction_hash', 'address'),
    ...nullable('string', 'relationship'),
    ...columns('u64', 'chain_id'),
    ...columns('u32', 'transaction_index', 'block_timestamp'),
  ],
  batchBlocks: () => 16,
  *rows({ chain, rows, appearances, addressOf, addresses }, links) {
    const chainId = chain.chainId()
    const wanted = addresses && new Set(addresses.map(keyOfBytes))
    for (const { number, hash, timestamp, firstTx, txCount } of links) {
      if (txCount === 0) continue
      const hashes = rows.transactionHashes({ from: firstTx, to: firstTx + txCount })
      for (const [index, ids] of decodeAppearances(appearances.block(number)!).entries()) {
        for (const address of ids.map(addressOf).sort(Buffer.compare)) {
          if (wanted !== undefined && !wanted.has(keyOfBytes(address))) continue
          yield [number, hash, hashes[index], address, null, chainId, index, toU32(timestamp)]
        }
      }
    }
  },
}
