import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sampleKeys } from '../../src/audit/againstUpstream.js'
import { seededRandom } from '../support/random.js'

const random = seededRandom(3)
const KEYS = Array.from({ length: 20 }, (_, i) => ({
  address: random.bytes(20),
  slots: Array.from({ length: i % 4 }, () => random.bytes(32)),
}))
const ALL = KEYS.reduce((sum, { slots }) => sum + 1 + slots.length, 0)
const SEEDS = 2_000

/** The accounts and slots of a sample, as hex. */
function namesOf(sample: readonly { address: Uint8Array; slots: readonly Uint8Array[] }[]): string[] {
  return sample.flatMap(({ address, slots }) => [address, ...slots].map((each) => Buffer.from(each).toString('hex')))
}

test('a sample of all keys is all of them, in order, and a seed chooses the same ones again', () => {
  assert.deepEqual(sampleKeys(KEYS, ALL, 1), KEYS)
  assert.deepEqual(sampleKeys(KEYS, ALL + 100, 1), KEYS)
  assert.deepEqual(sampleKeys(KEYS, 7, 5), sampleKeys(KEYS, 7, 5))
  assert.notDeepEqual(sampleKeys(KEYS, 7, 5), sampleKeys(KEYS, 7, 6))
})

test('every slot is as likely as any other', () => {
  const counts = new Map<string, number>()
  for (let seed = 0; seed < SEEDS; seed++) {
    for (const name of namesOf(sampleKeys(KEYS, 10, seed))) counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  const slots = namesOf(KEYS).filter((name) => name.length === 64)
  const expected = (SEEDS * 10) / ALL
  for (const slot of slots) {
    const count = counts.get(slot) ?? 0
    assert.ok(Math.abs(count - expected) < 5 * Math.sqrt(expected), `${count} of ${expected}`)
  }
})
