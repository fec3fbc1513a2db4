import type { L2NetworkName } from './networks.js'
import { createPedersenHasher, type PairHasher } from './pedersen.js'
import type { L2Block } from './types.js'
import { type L2Verdict, verifyL2Block } from './verify.js'

/** A synchronous block verifier. It builds its Pedersen tables (60 ms) for the first block that needs them. */
export function createL2BlockVerifier(): (block: L2Block, network?: L2NetworkName) => L2Verdict {
  let hasher: PairHasher | undefined
  const pedersenPairs: PairHasher = (pairs) => {
    hasher ??= createPedersenHasher()
    return hasher(pairs)
  }
  let chainId: string | undefined // last one found; most likely also that of the next block
  return (block, network) => {
    const verdict = verifyL2Block(block, network, pedersenPairs, chainId)
    if ('chainId' in verdict) chainId = verdict.chainId ?? chainId
    return verdict
  }
}
