import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pedersen } from '@scure/starknet'
import { FELT_PRIME } from '../../../src/chain/starknet/felt.js'
import { createPedersenHasher } from '../../../src/chain/starknet/pedersen.js'
import { bytesToBigInt } from '../../../src/lib/bytes.js'
import { seededRandom } from '../../support/random.js'

const hashPairs = createPedersenHasher()

test('hashes what the reference implementation hashes, ends of the range included', () => {
  const random = seededRandom(2)
  const edges = [0n, 1n, 255n, 256n, 2n ** 248n - 1n, 2n ** 248n, 2n ** 251n, FELT_PRIME - 1n]
  const pairs: [bigint, bigint][] = edges.flatMap((a) => edges.map((b): [bigint, bigint] => [a, b]))
  const felt = () => bytesToBigInt(random.bytes(1 + random.below(32))) % FELT_PRIME
  for (let i = 0; i < 300; i++) pairs.push([felt(), felt()])
  const hashes = hashPairs(pairs)
  assert.equal(hashes.length, pairs.length)
  for (const [i, pair] of pairs.entries()) assert.equal(hashes[i], BigInt(pedersen(...pair)), String(pair))
})

test('gives the published value', () => {
  // StarkWare's starkware.crypto tests: test_pedersen_hash.
  const a = 0x3d937c035c878245caf64531a5756109c53068da139362728feb561405371cbn
  const b = 0x208a0a10250e382e1e4bbe2880906c2791bf6275695e02fbbc6aeff9cd8b31an
  assert.deepEqual(hashPairs([[a, b]]), [0x30e480bed5fe53fa909cc0f8c4d99b8f9f2c016be4c41e13a4848797979c662n])
})

test('nothing in, nothing out; values beyond the field are refused', () => {
  assert.deepEqual(hashPairs([]), [])
  assert.throws(() => hashPairs([[FELT_PRIME, 0n]]), RangeError)
  assert.throws(() => hashPairs([[0n, -1n]]), RangeError)
})
