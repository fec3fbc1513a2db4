import assert from 'node:assert/strict'
import { test } from 'node:test'
import { trimLeft } from '../../../src/lib/bytes.js'
import {
  countKeys,
  decodeAccountKeys,
  encodeAccountKeys,
  encodeSlotKeys,
  type SlotKey,
  visitSlotKeys,
} from '../../../src/store/state/changedKeys.js'
import { type SeededRandom, seededRandom } from '../../support/random.js'

const LARGEST = 2 ** 31 - 1

function randomKeys(random: SeededRandom): SlotKey[] {
  const keys: SlotKey[] = []
  for (let storages = random.below(20); storages > 0; storages--) {
    const storage = { addressId: random.below(2 ** random.below(31)), incarnation: random.below(3) }
    for (let slots = 1 + random.below(200); slots > 0; slots--) {
      keys.push({ ...storage, slot: trimLeft(random.bytes(random.below(33))) })
    }
  }
  return keys
}

function decodeSlots(bytes: Uint8Array): SlotKey[] {
  const keys: SlotKey[] = []
  visitSlotKeys(bytes, (addressId, incarnation, slot) =>
    keys.push({ addressId, incarnation, slot: Uint8Array.from(slot) }),
  )
  return keys
}

test('changed keys are decoded as they were encoded', () => {
  for (let seed = 0; seed < 100; seed++) {
    const random = seededRandom(seed)
    const ids = Array.from({ length: random.below(300) }, () => random.below(2 ** random.below(31)))
    const slots = randomKeys(random)
    const encoded = [encodeAccountKeys(ids), encodeSlotKeys(slots)]
    assert.deepEqual(decodeAccountKeys(encoded[0]), ids)
    assert.deepEqual(
      decodeSlots(encoded[1]),
      slots.map((key) => ({ ...key, slot: Uint8Array.from(key.slot) })),
    )
    assert.deepEqual(encoded.map(countKeys), [ids.length, slots.length])
  }
  const largest = { addressId: LARGEST, incarnation: LARGEST, slot: new Uint8Array(32).fill(255) }
  assert.deepEqual(decodeSlots(encodeSlotKeys([largest])), [largest])
  assert.deepEqual(decodeAccountKeys(encodeAccountKeys([LARGEST])), [LARGEST])
  assert.deepEqual([encodeAccountKeys([]).length, encodeSlotKeys([]).length], [0, 0])
})

test('other bytes than an encoding are refused', () => {
  const random = seededRandom(7)
  const accounts = encodeAccountKeys([1, 300, 2 ** 20])
  const slots = encodeSlotKeys([...randomKeys(random), { addressId: 5, incarnation: 0, slot: random.bytes(32) }])
  for (let length = 1; length < slots.length; length++) {
    assert.throws(() => decodeSlots(slots.subarray(0, length)), RangeError)
  }
  for (let length = 1; length < accounts.length; length++) {
    assert.throws(() => decodeAccountKeys(accounts.subarray(0, length)), RangeError)
  }
  assert.throws(() => decodeSlots(Uint8Array.from([...slots, 0])), /1 bytes after the last changed key/)
  assert.throws(() => decodeAccountKeys(Uint8Array.from([...accounts, 0])), /1 bytes after the last changed key/)
  assert.throws(() => decodeSlots(Uint8Array.of(2, 1, 0, 3, 0, 0, 0)), /3 changed slots of a storage where 2 are left/)
  assert.throws(() => decodeSlots(Uint8Array.of(1, 1, 0, 0)), /0 changed slots of a storage where 1 are left/)
})
