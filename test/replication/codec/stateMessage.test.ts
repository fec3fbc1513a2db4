import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { encodeRlp } from '../../../src/chain/eth/rlp.js'
import { trimLeft } from '../../../src/lib/bytes.js'
import { decodeStateMessage, encodeStateMessage } from '../../../src/replication/codec/stateMessage.js'
import type { StateMessage } from '../../../src/replication/codec/types.js'
import { InvalidMessage } from '../../../src/replication/errors.js'
import { decodeStateEntry, encodeStateEntry, type LearnedState } from '../../../src/store/replication/stateEntry.js'
import { STATE_ENTRY_KINDS } from '../../../src/store/replication/stateLog.js'
import { type SeededRandom, seededRandom } from '../../support/random.js'

const ROUNDS = 200

function many<T>(random: SeededRandom, most: number, make: () => T): T[] {
  return Array.from({ length: random.below(most + 1) }, make)
}

function randomState(random: SeededRandom): LearnedState {
  const slot = () => trimLeft(random.bytes(random.below(33)))
  return {
    accounts: many(random, 5, () => ({
      address: random.bytes(20),
      isBase: random.below(2) === 0,
      baseSlots: many(random, 3, slot),
      slots: many(random, 3, slot),
    })),
    nodes: many(random, 6, () => random.bytes(random.below(533))),
    branches: many(random, 2, () => random.bytes(32)),
    codeHashes: many(random, 2, () => random.bytes(32)),
  }
}

function randomEntry(random: SeededRandom): StateMessage {
  const kind = STATE_ENTRY_KINDS[random.below(STATE_ENTRY_KINDS.length)]
  const number = () => 1 + random.below(2 ** random.below(31))
  const codes = many(random, 3, () => random.bytes(random.below(300)))
  return { id: number(), at: number(), kind, data: random.bytes(random.below(400)), codes }
}

const plain = (value: unknown): string =>
  JSON.stringify(value, (_, each) => (each?.type === 'Buffer' || each instanceof Uint8Array ? [...each] : each))

test('additions to state are what an obvious encoder makes of them, and come back', () => {
  const random = seededRandom(31)
  for (let round = 0; round < ROUNDS; round++) {
    const state = randomState(random)
    const encoded = encodeStateEntry(state)
    const obvious = encodeRlp([
      state.accounts.map(({ address, isBase, baseSlots, slots }) => [
        ...[address, isBase ? Uint8Array.of(1) : new Uint8Array(0)],
        ...[baseSlots, slots],
      ]),
      ...[state.nodes, state.branches, state.codeHashes],
    ])
    assert.deepEqual([...encoded], [...obvious])
    assert.equal(plain(toArrays(decodeStateEntry(encoded))), plain(toArrays(state)))
  }
})

/** The state with arrays of numbers for bytes. */
function toArrays(value: unknown): unknown {
  if (value instanceof Uint8Array) return [...value]
  if (Array.isArray(value)) return value.map(toArrays)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, toArrays(each)]))
}

test('messages of additions to state are what an obvious encoder makes of them, and come back', () => {
  const random = seededRandom(32)
  for (let round = 0; round < ROUNDS; round++) {
    const entry = randomEntry(random)
    const payload = encodeStateMessage(entry)
    assert.equal(payload[0], 2)
    assert.deepEqual([...inflateRawSync(payload.subarray(1))], obviousBytes(entry))
    assert.deepEqual(toArrays(decodeStateMessage(payload)), toArrays(entry))
  }
})

function obviousBytes({ id, at, kind, data, codes }: StateMessage): number[] {
  const integer = (value: number): number[] =>
    value < 128 ? [value] : [(value % 128) + 128, ...integer(Math.floor(value / 128))]
  const bytes = (value: Uint8Array) => [...integer(value.length), ...value]
  const kinds = ['fetched', 'block', 'begin', 'close', 'ancestors']
  const parts = [integer(id), integer(at), [kinds.indexOf(kind)], bytes(data), integer(codes.length)]
  return [...parts.flat(), ...codes.flatMap(bytes)]
}

test('damaged messages of additions to state are refused by name', () => {
  const random = seededRandom(33)
  for (let round = 0; round < ROUNDS; round++) {
    const payload = encodeStateMessage(randomEntry(random))
    const body = inflateRawSync(payload.subarray(1))
    const cut = deflateRawSync(body.subarray(0, random.below(body.length)))
    for (const wrong of [cut, deflateRawSync(Buffer.concat([body, Buffer.of(0)]))]) {
      assert.throws(() => decodeStateMessage(Buffer.concat([Buffer.of(2), wrong])), InvalidMessage)
    }
  }
  const good = encodeStateMessage({ id: 1, at: 1, kind: 'fetched', data: new Uint8Array(0), codes: [] })
  const versioned = (version: number) => Buffer.concat([Buffer.of(version), good.subarray(1)])
  assert.throws(() => decodeStateMessage(versioned(1)), /version: expected 2, got 1$/)
  assert.throws(
    () => decodeStateMessage(versioned(3)),
    /version: expected 2, got 3: the writer is newer, upgrade this replica/,
  )
  const of = (...bytes: number[]) => Buffer.concat([Buffer.of(2), deflateRawSync(Buffer.from(bytes))])
  assert.throws(() => decodeStateMessage(of(0, 1, 0, 0, 0)), /state.id: expected at least 1, got 0/)
  assert.throws(() => decodeStateMessage(of(1, 1, 5, 0, 0)), /state.kind: expected 0 to 4, got 5/)
})

test('damaged additions to state never decode to what they were', () => {
  const random = seededRandom(34)
  let refused = 0
  for (let round = 0; round < ROUNDS; round++) {
    const state = randomState(random)
    const encoded = encodeStateEntry(state)
    const changed = encoded.slice()
    changed[random.below(changed.length)] ^= 1 << random.below(8)
    try {
      assert.notEqual(plain(toArrays(decodeStateEntry(changed))), plain(toArrays(state)))
    } catch (error) {
      if ((error as Error).name === 'AssertionError') throw error
      refused++
    }
  }
  assert.ok(refused > 0)
})
