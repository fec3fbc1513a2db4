import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatData } from '../../../src/lib/hex.js'
import type { RowValue } from '../../../src/store/chain/bodyRows.js'
import { createValueReader, createValueWriter, type PackedValue } from '../../../src/store/tip/packedValues.js'
import { type SeededRandom, seededRandom } from '../../support/random.js'
import { BYTE_LENGTHS, pick, randomUint, UINT_EDGES } from '../../support/randomBlocks.js'

const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER)
const SAFE_EDGES = UINT_EDGES.filter((value) => value <= MAX_SAFE)
const LARGE_EDGES = UINT_EDGES.filter((value) => value > MAX_SAFE)
// Of the writer's memory at first.
const CAPACITY = 2 ** 16

/** A value as it should come back, bytes as hex. */
function expected(value: RowValue | PackedValue): null | number | string {
  if (value instanceof Uint8Array) return formatData(value)
  return typeof value === 'bigint' ? Number(value) : value
}

function readAll(packed: Buffer, count: number): (null | number | string)[] {
  const next = createValueReader(packed)
  const values = Array.from({ length: count }, () => expected(next()))
  assert.throws(next, /no kind of value/, 'nothing is left')
  return values
}

function randomValue(random: SeededRandom): RowValue {
  const value = randomUint(random)
  switch (random.below(5)) {
    case 0:
      return null
    case 1:
      return Number(BigInt.asUintN(random.below(54), value))
    case 2:
      return BigInt.asUintN(53, value)
    case 3:
      return value.toString()
    default:
      return random.bytes(pick(random, BYTE_LENGTHS))
  }
}

const values = (length: number, random: SeededRandom) => Array.from({ length }, () => randomValue(random))

test('values at the borders of their forms come back', () => {
  const random = seededRandom(41)
  const row: RowValue[] = [
    null,
    ...SAFE_EDGES,
    ...SAFE_EDGES.map(Number),
    ...LARGE_EDGES.map(String),
    ...[...BYTE_LENGTHS, 100_000].map((length) => random.bytes(length)),
  ]
  const writer = createValueWriter()
  for (const value of row) {
    writer.add([value])
    assert.deepEqual(readAll(writer.take(), 1), [expected(value)])
  }
  writer.add(row)
  assert.deepEqual(readAll(writer.take(), row.length), row.map(expected))
})

test('rows of any values come back in their order, from a writer that was used before', () => {
  const random = seededRandom(42)
  const writer = createValueWriter()
  for (let round = 0; round < 60; round++) {
    const rows = Array.from({ length: random.below(30) }, () => values(random.below(40), random))
    if (round % 20 === 10) rows.push([random.bytes(100_000 * (round / 10))], values(5, random))
    for (const row of rows) writer.add(row)
    const flat = rows.flat()
    assert.deepEqual(readAll(writer.take(), flat.length), flat.map(expected), `round ${round}`)
  }
})

test('no value is cut off where the memory ends', () => {
  const random = seededRandom(43)
  const digits = (2n ** 256n - 1n).toString()
  const rows = [
    ...[null, 1, 2 ** 32 - 1, 2 ** 53 - 1, digits].map((value) => Array<RowValue>(4).fill(value)),
    ...[20, 79, 80, 81, 0xf0, 300].map((length) => [random.bytes(length), null, random.bytes(length)]),
    [random.bytes(80), digits, random.bytes(81), 2 ** 53 - 1, random.bytes(80), digits],
  ]
  const filler = random.bytes(CAPACITY)
  for (let free = 0; free < 700; free++) {
    for (const row of rows) {
      const writer = createValueWriter()
      writer.add([filler.subarray(0, CAPACITY - 5 - free)]) // 5: kind and length
      writer.add(row)
      const next = createValueReader(writer.take())
      assert.equal((next() as Uint8Array).length, CAPACITY - 5 - free)
      for (const value of row) assert.equal(expected(next()), expected(value), `${free} bytes free`)
    }
  }
})

test('what was cleared is not taken, and what comes after it is', () => {
  const random = seededRandom(44)
  const writer = createValueWriter()
  for (let round = 0; round < 20; round++) {
    writer.add(values(random.below(200), random))
    writer.clear()
    const row = values(random.below(20), random)
    writer.add(row)
    assert.deepEqual(readAll(writer.take(), row.length), row.map(expected), `round ${round}`)
  }
  writer.add([1])
  writer.clear()
  assert.equal(writer.take().length, 0)
})

test('a writer keeps its memory, and the larger one when it has grown', () => {
  const random = seededRandom(45)
  const writer = createValueWriter()
  const take = (length: number) => {
    writer.add([random.bytes(length)])
    const packed = writer.take()
    assert.equal(packed.length, length + 5)
    return packed.buffer
  }
  const first = take(300)
  assert.equal(take(60_000), first)
  const grown = take(100_000)
  assert.notEqual(grown, first)
  assert.equal(take(100_001), grown)
  assert.equal(take(300), grown)
  assert.equal(writer.take().length, 0)
})

test('an unknown kind of value is refused with its place', () => {
  for (let kind = 0xf6; kind <= 0xff; kind++) {
    const next = createValueReader(Buffer.of(0xf0, 0xf1, 7, kind, 1, 2, 3, 4, 5, 6, 7, 8))
    assert.deepEqual([next(), next()], [null, 7])
    assert.throws(next, { message: `packed values: 0x${kind.toString(16)} at 3 is no kind of value` })
  }
})
