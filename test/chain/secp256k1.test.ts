import assert from 'node:assert/strict'
import { test } from 'node:test'
import { secp256k1 as reference } from '@noble/curves/secp256k1.js'
import { createSecp256k1, SECP256K1_KINDS } from '../../src/chain/secp256k1.js'
import { bigIntToFixedBytes, bytesToBigInt } from '../../src/lib/bytes.js'
import { seededRandom } from '../support/random.js'

const ORDER = reference.Point.Fn.ORDER
const FIELD = reference.Point.Fp.ORDER
const word = (value: bigint) => bigIntToFixedBytes(value, 32)
const toHex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

/** The key by the reference; undefined where it throws. */
function recoverByReference(hash: Uint8Array, recoveryId: number, r: Uint8Array, s: Uint8Array): string | undefined {
  try {
    const signature = new reference.Signature(bytesToBigInt(r), bytesToBigInt(s), recoveryId)
    return toHex(signature.recoverPublicKey(hash).toBytes(false).slice(1))
  } catch {
    return undefined
  }
}

const EDGES = [
  0n,
  1n,
  2n,
  3n,
  5n, // no x of the curve
  ORDER / 2n,
  ORDER / 2n + 1n,
  ORDER - 1n,
  ORDER,
  ORDER + 1n,
  FIELD - ORDER,
  FIELD - 1n,
  FIELD,
  2n ** 255n,
  2n ** 256n - 1n,
].map(word)

for (const kind of SECP256K1_KINDS) {
  const secp256k1 = createSecp256k1(kind)
  const recover = (hash: Uint8Array, recoveryId: number, r: Uint8Array, s: Uint8Array): string | undefined => {
    try {
      return toHex(secp256k1.recover(hash, recoveryId, r, s))
    } catch (error) {
      assert.ok(error instanceof Error)
      return undefined
    }
  }

  test(`${kind} recovers the keys that the reference recovers from random signatures, s low and high`, () => {
    const random = seededRandom(51)
    for (let i = 0; i < 60; i++) {
      const [hash, privateKey] = [random.bytes(32), random.bytes(32)]
      const { r, s, recoveryId } = secp256k1.sign(hash, privateKey)
      const own = toHex(reference.getPublicKey(privateKey, false).slice(1))
      assert.equal(recover(hash, recoveryId, r, s), own)
      const high = word(ORDER - bytesToBigInt(s))
      assert.equal(recover(hash, 1 - recoveryId, r, high), own, 'the other s with the other id')
      assert.equal(recover(hash, 1 - recoveryId, r, s), recoverByReference(hash, 1 - recoveryId, r, s))
    }
  })

  test(`${kind} takes and refuses random r and s as the reference does`, () => {
    const random = seededRandom(52)
    let recovered = 0
    for (let i = 0; i < 60; i++) {
      const [hash, r, s] = [random.bytes(32), random.bytes(32), random.bytes(32)]
      const key = recover(hash, i % 2, r, s)
      assert.equal(key, recoverByReference(hash, i % 2, r, s), `case ${i}`)
      if (key !== undefined) recovered++
    }
    assert.ok(recovered > 15 && recovered < 45, `${recovered} of 60 are signatures, about half of all r`)
  })

  test(`${kind} takes and refuses r, s and hashes at the edges as the reference does`, () => {
    const hashes = [word(0n), word(1n), word(ORDER - 1n), word(ORDER), word(2n ** 256n - 1n)]
    for (const recoveryId of [0, 1]) {
      for (const r of EDGES) {
        for (const [i, s] of EDGES.entries()) {
          const hash = hashes[i % hashes.length]
          const expected = recoverByReference(hash, recoveryId, r, s)
          assert.equal(
            recover(hash, recoveryId, r, s),
            expected,
            `${toHex(r)} ${toHex(s)} ${recoveryId} ${toHex(hash)}`,
          )
        }
      }
    }
  })

  test(`${kind} refuses a signature whose key would be the point at infinity`, () => {
    // With R = G, the key is (s G - h G) / r: nothing when s is the hash.
    const { x, y } = reference.Point.BASE.toAffine()
    const hash = word(12345n)
    assert.equal(recover(hash, Number(y & 1n), word(x), hash), undefined)
    assert.equal(recoverByReference(hash, Number(y & 1n), word(x), hash), undefined)
  })

  test(`${kind} refuses other recovery ids and lengths`, () => {
    const random = seededRandom(53)
    const [hash, privateKey] = [random.bytes(32), random.bytes(32)]
    const { r, s } = secp256k1.sign(hash, privateKey)
    for (const id of [2, 3, 4, -1, 27, 0.5, Number.NaN]) assert.equal(recover(hash, id, r, s), undefined, `id ${id}`)
    // Where r + order is below the field, ids 2 and 3 stand for a point of the curve, which no rule of Ethereum asks
    // for.
    for (const id of [2, 3]) assert.equal(recover(hash, id, word(2n), s), undefined, `id ${id} of a small r`)
    assert.equal(recover(hash.subarray(1), 0, r, s), undefined)
    assert.equal(recover(new Uint8Array(33), 0, r, s), undefined)
    assert.equal(recover(hash, 0, r.subarray(1), s), undefined)
    assert.equal(recover(hash, 0, r, new Uint8Array(33)), undefined)
  })

  test(`${kind} signs as the reference does`, () => {
    const random = seededRandom(54)
    for (let i = 0; i < 30; i++) {
      const [hash, privateKey] = [random.bytes(32), random.bytes(32)]
      const { r, s, recoveryId } = secp256k1.sign(hash, privateKey)
      const expected = reference.sign(hash, privateKey, { prehash: false, lowS: true, format: 'recovered' })
      assert.equal(toHex(Uint8Array.of(recoveryId, ...r, ...s)), toHex(expected))
    }
    for (const key of [word(0n), word(ORDER), new Uint8Array(31)]) {
      assert.throws(() => secp256k1.sign(random.bytes(32), key))
    }
  })
}
