import assert from 'node:assert/strict'
import { test } from 'node:test'
import { computeCommitment } from '../../../src/chain/starknet/commitmentTree.js'
import { FELT_PRIME, type Felt } from '../../../src/chain/starknet/felt.js'
import { poseidonPairs } from '../../../src/chain/starknet/hash.js'
import { createPedersenHasher, type PairHasher } from '../../../src/chain/starknet/pedersen.js'
import { bytesToBigInt } from '../../../src/lib/bytes.js'
import { seededRandom } from '../../support/random.js'

/** The root by the definition: a binary Patricia tree over any keys, one node after another. */
function slowRoot(entries: [path: string, leaf: Felt][], hash: (a: Felt, b: Felt) => Felt): Felt {
  if (entries.length === 0) return 0n
  const { bottom, path } = slowNode(entries, hash)
  return path === '' ? bottom : (hash(bottom, BigInt(`0b${path}`)) + BigInt(path.length)) % FELT_PRIME
}

function slowNode(
  entries: [path: string, leaf: Felt][],
  hash: (a: Felt, b: Felt) => Felt,
): { bottom: Felt; path: string } {
  if (entries[0][0] === '') return { bottom: entries[0][1], path: '' }
  const under = (bit: string) =>
    entries.filter(([path]) => path[0] === bit).map(([path, leaf]): [string, Felt] => [path.slice(1), leaf])
  const [left, right] = [under('0'), under('1')]
  if (left.length > 0 && right.length > 0)
    return { bottom: hash(slowRoot(left, hash), slowRoot(right, hash)), path: '' }
  const { bottom, path } = slowNode(left.length > 0 ? left : right, hash)
  return { bottom, path: (left.length > 0 ? '0' : '1') + path }
}

function checkAgainstSlow(hashPairs: PairHasher, counts: number[]): void {
  const random = seededRandom(3)
  for (const count of counts) {
    const leaves = Array.from({ length: count }, () => bytesToBigInt(random.bytes(31)))
    const entries = leaves.map((leaf, i): [string, Felt] => [i.toString(2).padStart(64, '0'), leaf])
    const expected = slowRoot(entries, (a, b) => hashPairs([[a, b]])[0])
    assert.equal(computeCommitment(leaves, hashPairs), expected, `${count} leaves`)
  }
}

test('the root of up to 40 leaves is that of a Patricia tree built by the definition', () => {
  checkAgainstSlow(
    poseidonPairs,
    Array.from({ length: 41 }, (_, i) => i),
  )
})

test('the same with Pedersen', () => {
  checkAgainstSlow(createPedersenHasher(), [1, 2, 3, 5, 6, 7, 9, 21])
})

test('no leaves have the root zero', () => {
  assert.equal(computeCommitment([], poseidonPairs), 0n)
})
