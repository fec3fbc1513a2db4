import type { L2NetworkName } from './networks.js'
import { createPedersenHasher, type PairHasher } from './pedersen.js'
import type { L2Block } from './types.js'
import { type L2Verdict, verifyL2Block } from './verify.js'

/** A function that verifies block after block on the thread that calls it; the Pedersen tables are made for the first
 *  block that needs them (60 ms) and kept. */
export function createBlockVerifier(): (block: L2Block, network?: L2NetworkName) => L2Verdict {
  let hasher: PairHasher | undefined
  const pedersenPairs: PairHasher = (pairs) => {
    hasher ??= createPedersenHasher()
    return hasher(pairs)
  }
  let chainId: string | undefined // of the last block that told it: most likely that of the next
  return (block, network) => {
    const verdict = verifyL2Block(block, network, pedersenPairs, chainId)
    if ('chainId' in verdict) chainId = verdict.chainId ?? chainId
    return verdict
  }
}
