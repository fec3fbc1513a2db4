import { encodeShortString, type Felt } from './felt.js'
import { hashChains, hashPoseidon } from './hash.js'
import { knownChainIds } from './networks.js'
import type { PairHasher } from './pedersen.js'

/** An element of a preimage: a felt, a list that is hashed on its own, or a placeholder for the chain id. */
export type PreimagePart = Felt | Felt[] | 'chain id'

/** A transaction whose hash proves the chain id. Plain data that can be sent to a thread. */
export interface L2ChainIdWitness {
  transactionHash: Felt
  scheme: 'pedersen' | 'poseidon'
  /** Candidate preimages, tried in order. */
  preimages: PreimagePart[][]
}

/** Returns the known chain id, as text, that reproduces the transaction hash; undefined when none does. Tries `likely`
 *  first. */
export function findChainId(
  { transactionHash, scheme, preimages }: L2ChainIdWitness,
  pedersenPairs: PairHasher,
  likely?: string,
): string | undefined {
  const hashLists = (lists: Felt[][]) =>
    scheme === 'poseidon' ? lists.map(hashPoseidon) : hashChains(lists, pedersenPairs)
  const chainIds = knownChainIds()
  const ordered = likely === undefined ? chainIds : [likely, ...chainIds.filter((id) => id !== likely)]
  for (const parts of preimages) {
    const inner = hashLists(parts.filter((part) => Array.isArray(part)))
    let next = 0
    const flat = parts.map((part) => (Array.isArray(part) ? inner[next++] : part))
    for (const id of ordered) {
      const preimage = flat.map((part) => (part === 'chain id' ? encodeShortString(id) : part))
      if (hashLists([preimage])[0] === transactionHash) return id
    }
  }
  return undefined
}
