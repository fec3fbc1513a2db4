import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RLP } from '@ethereumjs/rlp'
import { DecodeError } from '../../../src/chain/eth/rlp.js'
import { decodeRecordedState, encodeRecordedState, type RecordedState } from '../../../src/sync/sparse/recordedState.js'
import { type SeededRandom, seededRandom } from '../../support/random.js'

const ROUNDS = 300

function listOf<T>(random: SeededRandom, limit: number, make: () => T): T[] {
  return Array.from({ length: random.below(limit) }, make)
}

function randomState(random: SeededRandom): RecordedState {
  const bytes = (limit: number) => random.bytes(random.below(limit))
  return {
    ancestors: listOf(random, 4, () => bytes(600)),
    keys: listOf(random, 6, () => ({
      address: random.bytes(20),
      slots: listOf(random, 5, () => random.bytes(32)),
    })),
    nodes: listOf(random, 8, () => bytes(540)),
    branches: listOf(random, 3, () => random.bytes(32)),
    codes: listOf(random, 3, () => bytes(300)),
  }
}

test('recorded state is the RLP that another library writes, and is read back', () => {
  const random = seededRandom(1)
  for (let i = 0; i < ROUNDS; i++) {
    const state = randomState(random)
    const { ancestors, keys, nodes, branches, codes } = state
    const accounts = keys.map(({ address, slots }) => [address, slots])
    const encoded = encodeRecordedState(state)
    const lists = [ancestors, accounts, nodes, branches, codes] as unknown as Uint8Array[]
    assert.deepEqual(Buffer.from(encoded), Buffer.from(RLP.encode([Uint8Array.of(1), ...lists])))
    assert.deepEqual(decodeRecordedState(encoded), state)
  }
})

test('other bytes are refused, or are another state in its only encoding', () => {
  const random = seededRandom(2)
  let refused = 0
  for (let i = 0; i < ROUNDS; i++) {
    const changed = encodeRecordedState(randomState(random)).slice()
    changed[random.below(changed.length)] ^= 1 << random.below(8)
    try {
      assert.deepEqual(encodeRecordedState(decodeRecordedState(changed)), changed)
    } catch (error) {
      assert.ok(error instanceof DecodeError, String(error))
      refused++
    }
  }
  assert.ok(refused > 0 && refused < ROUNDS)
})

test('what is wrong is named', () => {
  const empty = { ancestors: [], keys: [], nodes: [], branches: [], codes: [] }
  const refused = (bytes: Uint8Array, pattern: RegExp) => assert.throws(() => decodeRecordedState(bytes), pattern)
  refused(new Uint8Array(), /^DecodeError: state: expected an RLP item, got the end/)
  refused(RLP.encode([Uint8Array.of(2)]), /version: expected 1, got 2/)
  refused(RLP.encode([Uint8Array.of(1), []]), /state: expected a list of 6, got one of 2/)
  const slot = { address: new Uint8Array(20), slots: [new Uint8Array(31)] }
  refused(encodeRecordedState({ ...empty, keys: [slot] }), /keys\[0\]\.slots\[0\]: expected 32 bytes, got 31/)
  refused(encodeRecordedState({ ...empty, branches: [new Uint8Array(3)] }), /branches\[0\]: expected 32 bytes, got 3/)
  const ancestors = Array.from({ length: 257 }, () => new Uint8Array(1))
  refused(encodeRecordedState({ ...empty, ancestors }), /ancestors: expected .*256/)
})
