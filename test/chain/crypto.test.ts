import assert from 'node:assert/strict'
import { test } from 'node:test'
import { privateKeyToAddress } from 'viem/accounts'
import {
  chooseFirst,
  cryptoImplementations,
  keccak256,
  logCrypto,
  recoverPublicKey,
  signHash,
} from '../../src/chain/crypto.js'
import { silentLogger } from '../../src/lib/logger.js'
import { seededRandom } from '../support/random.js'
import { addressOfPrivateKey } from '../support/signing.js'

test('takes the first implementation that loads, and says why the others were not taken', () => {
  const { kind, implementation, refused } = chooseFirst(['best', 'good', 'slow'] as const, (name) => {
    if (name === 'best') throw new Error('no build for this machine\nRequire stack: …')
    return name.length
  })
  assert.deepEqual([kind, implementation], ['good', 4])
  assert.deepEqual(refused, [{ kind: 'best', reason: 'no build for this machine' }])
})

test('throws when no implementation loads', () => {
  const create = () => {
    throw new Error('broken')
  }
  assert.throws(() => chooseFirst(['best', 'slow'], create), AggregateError)
})

test('the fastest implementations are in use here', () => {
  assert.deepEqual(cryptoImplementations(), { keccak256: 'wasm', secp256k1: 'native' })
})

test('says in one line what is in use', () => {
  const lines: unknown[] = []
  const keep = (fields: object, message: string) => void lines.push([fields, message])
  logCrypto({ ...silentLogger, debug: keep, info: keep, warn: keep })
  assert.deepEqual(lines, [[{ keccak256: 'wasm', secp256k1: 'native' }, 'crypto']])
})

test('an address is made from its private key and from a signature, however short r and s are', () => {
  const random = seededRandom(61)
  let short = 0
  for (let i = 0; i < 300; i++) {
    const [hash, privateKey] = [random.bytes(32), random.bytes(32)]
    const address = addressOfPrivateKey(privateKey)
    if (i < 20) {
      const expected = privateKeyToAddress(`0x${Buffer.from(privateKey).toString('hex')}`)
      assert.equal(`0x${Buffer.from(address).toString('hex')}`, expected.toLowerCase())
    }
    const { r, s, recoveryId } = signHash(hash, privateKey)
    const [shortR, shortS] = [r, s].map((bytes) => bytes.subarray(bytes.findIndex((byte) => byte !== 0)))
    if (shortR.length < 32 || shortS.length < 32) short++
    const key = recoverPublicKey(hash, recoveryId, shortR, shortS)
    assert.deepEqual(keccak256(key).slice(12), address)
  }
  assert.ok(short > 0)
})
