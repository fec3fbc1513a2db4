import { FELT_PRIME, type Felt } from './felt.js'
import type { PairHasher } from './pedersen.js'

const HEIGHT = 64

/** The root of a Patricia tree of height 64 with leaf i at key i; zero without leaves (Starknet documentation,
 *  "Merkle-Patricia trie"). Commitments to transactions, events and receipts are such roots.
 *  Keys are consecutive from 0, so in each row only the last node can lack a sibling. It becomes the child of an edge
 *  with an all-zero path, hashed as h(child, path) + length. */
export function computeCommitment(leaves: readonly Felt[], hashPairs: PairHasher): Felt {
  if (leaves.length === 0) return 0n
  let row = [...leaves]
  let lastEdge = 0 // length of the edge above the last node of the row
  let level = 0
  for (; row.length > 1; level++) {
    if (row.length % 2 === 0 && lastEdge > 0) {
      row[row.length - 1] = closeEdge(row[row.length - 1], lastEdge, hashPairs)
      lastEdge = 0
    }
    const pairs: [Felt, Felt][] = []
    for (let i = 0; i + 1 < row.length; i += 2) pairs.push([row[i], row[i + 1]])
    const above = hashPairs(pairs)
    if (row.length % 2 === 1) {
      above.push(row[row.length - 1])
      lastEdge++
    }
    row = above
  }
  return level === HEIGHT ? row[0] : closeEdge(row[0], HEIGHT - level, hashPairs)
}

function closeEdge(child: Felt, length: number, hashPairs: PairHasher): Felt {
  return (hashPairs([[child, 0n]])[0] + BigInt(length)) % FELT_PRIME
}
