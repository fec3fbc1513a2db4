import { inflateSync } from 'node:zlib'
import { findChainId, type L2ChainIdWitness } from '../../chain/starknet/chainIdWitness.js'
import { getL2Network, type L2NetworkName } from '../../chain/starknet/networks.js'
import { createPedersenHasher, type PairHasher } from '../../chain/starknet/pedersen.js'
import { readL2Recording } from '../../chain/starknet/recording/recording.js'
import { parseJsonExact } from '../../lib/json.js'
import type { Database } from '../database.js'
import { createMetaTable, META_L2_CHAIN_ID, META_L2_NETWORK } from '../meta.js'

/** Blocks whose transactions are tried, newest first: most prove the chain id, except those without bodies. */
const TRIED_BLOCKS = 4

/** Stores the layer-2 chain id that an older version left out: that of the named network, or the one that a transaction
 *  hash of a verified block commits to. */
export function deriveL2ChainId(db: Database): void {
  const meta = createMetaTable(db)
  if (meta.get(META_L2_CHAIN_ID) !== undefined) return
  const network = meta.get<L2NetworkName>(META_L2_NETWORK)
  const chainId = network === undefined ? findInBlocks(db) : getL2Network(network).chainId
  if (chainId !== undefined) db.transaction(() => meta.set(META_L2_CHAIN_ID, chainId))()
}

function findInBlocks(db: Database): string | undefined {
  const raws = db
    .prepare<[number], Uint8Array>(
      'SELECT raw FROM l2_blocks WHERE canonical = 1 AND verified = 1 AND raw IS NOT NULL ORDER BY number DESC LIMIT ?',
    )
    .pluck()
  let hasher: PairHasher | undefined
  const pedersenPairs: PairHasher = (pairs) => {
    hasher ??= createPedersenHasher()
    return hasher(pairs)
  }
  for (const raw of raws.iterate(TRIED_BLOCKS)) {
    const witness = readWitness(raw)
    const found = witness && findChainId(witness, pedersenPairs)
    if (found !== undefined) return found
  }
  return undefined
}

/** Undefined for a recording that proves nothing, and for a damaged one, which `cairn verify` reports. */
function readWitness(raw: Uint8Array): L2ChainIdWitness | undefined {
  try {
    return readL2Recording(parseJsonExact(inflateSync(raw).toString())).chainIdWitness
  } catch {
    return undefined
  }
}
