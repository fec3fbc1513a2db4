import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ReplicationUnit } from '../../../src/replication/codec/types.js'
import { InvalidMessage } from '../../../src/replication/errors.js'
import { createFrameReader, encodeFrame, encodeUnit, type StreamFrame } from '../../../src/replication/http/frames.js'
import { createUnitAssembler } from '../../../src/replication/http/unitAssembler.js'
import type { BlockRef } from '../../../src/sync/head/events.js'
import { mutate } from '../../support/chains/mutate.js'
import { seededRandom } from '../../support/random.js'

const hash = (byte: number) => new Uint8Array(32).fill(byte)
const block = (number: number) => ({
  number,
  hash: hash(number),
  parentHash: hash(number - 1),
  payload: Uint8Array.of(1, number),
})
const START: BlockRef = { number: 4, hash: hash(4) }

const UNITS: ReplicationUnit[] = [
  {
    kind: 'blocks',
    ancestor: undefined,
    blocks: [block(5)],
    finality: { safe: 3, finalized: -1 },
    state: { before: 7, after: 9 },
  },
  { kind: 'state', head: { number: 5, hash: hash(5) }, payload: Uint8Array.of(2, 1), state: { before: 9, after: 10 } },
  { kind: 'finality', finality: { safe: 4, finalized: 4 }, state: undefined },
  {
    kind: 'blocks',
    ancestor: { number: 2, hash: hash(2) },
    blocks: [block(3), block(4), block(5)],
    finality: undefined,
    state: { before: 10, after: 12 },
  },
  { kind: 'blocks', ancestor: { number: 3, hash: hash(3) }, blocks: [], finality: undefined, state: undefined },
  { kind: 'blocks', ancestor: undefined, blocks: [block(4)], finality: undefined, state: undefined },
]

/** The units of frames that come after block 4. */
function assemble(frames: Iterable<StreamFrame>): ReplicationUnit[] {
  let top = START
  const assembler = createUnitAssembler(() => top)
  const units: ReplicationUnit[] = []
  for (const frame of frames) {
    const unit = assembler.take(frame)
    if (unit === undefined) continue
    units.push(unit)
    if (unit.kind === 'blocks') top = unit.blocks.at(-1) ?? unit.ancestor!
  }
  return units
}

/** With every member, and payloads as arrays: those that come are views. */
function plain(units: readonly ReplicationUnit[]): unknown[] {
  return units.map((unit) => {
    if (unit.kind === 'state') return { ...unit, payload: [...unit.payload] }
    if (unit.kind !== 'blocks') return unit
    const { kind, ancestor, blocks, finality, state } = unit
    return { kind, ancestor, finality, state, blocks: blocks.map((each) => ({ ...each, payload: [...each.payload] })) }
  })
}

test('units come back from their frames, whatever the pieces in which the bytes come', () => {
  const random = seededRandom(11)
  const bytes = Buffer.concat(UNITS.flatMap(encodeUnit))
  for (let round = 0; round < 50; round++) {
    const reader = createFrameReader()
    const frames: StreamFrame[] = []
    for (let at = 0; at < bytes.length; ) {
      const length = 1 + random.below(round === 0 ? 1 : 200)
      for (const { head, payload } of reader.push(bytes.subarray(at, at + length))) frames.push({ head, payload })
      at += length
    }
    reader.end()
    assert.deepEqual(plain(assemble(frames)), plain(UNITS))
  }
})

test('frames that are left out, doubled or in another order are refused, unless what is left is a chain', () => {
  const frames = UNITS.flatMap(encodeUnit)
  const read = (some: readonly Buffer[]) => assemble([...createFrameReader().push(Buffer.concat(some))])
  const without = (at: number) => frames.toSpliced(at, 1)
  assert.throws(() => read(without(4)), /frame: number: expected block 4, got 5/)
  assert.throws(() => read(frames.toSpliced(4, 2, frames[5], frames[4])), /frame: number: expected block 4, got 5/)
  assert.throws(() => read([frames[0], frames[0]]), /frame: number: expected block 6, got 5/)
  assert.throws(() => read(without(5)), /frame: reorg: expected the rest of the one before, got another/)
  assert.throws(
    () => read([...frames.slice(0, 4), encodeFrame({ kind: 'heartbeat' })]),
    /expected a block of the reorg, got heartbeat/,
  )
  const otherParent = encodeUnit({ kind: 'blocks', blocks: [{ ...block(5), parentHash: hash(9) }] })
  assert.throws(() => read(otherParent), /frame: parent: expected 0x0404.*got 0x0909/)
})

test('1,500 damaged streams are refused by name or give units', () => {
  const random = seededRandom(12)
  const bytes = Buffer.concat(UNITS.flatMap(encodeUnit))
  let refused = 0
  for (let round = 0; round < 1_500; round++) {
    try {
      const reader = createFrameReader()
      assemble(reader.push(mutate(bytes, random)))
      reader.end()
    } catch (error) {
      if (!(error instanceof InvalidMessage)) throw error
      refused++
    }
  }
  assert.ok(refused > 1_000, `${refused} refused`)
})

test('a frame that announces too much is refused at once', () => {
  const long = Buffer.from([0xff, 0xff, 0xff, 0xff])
  assert.throws(() => [...createFrameReader().push(long)], /length of the header: expected at most 4096/)
  const payload = Buffer.from([0, 0, 0, 2, 0x7b, 0x7d, 0xff, 0xff, 0xff, 0xff])
  assert.throws(() => [...createFrameReader().push(payload)], /length of the payload: expected at most 67108864/)
})
