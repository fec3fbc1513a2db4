import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RecordBatchReader, tableFromIPC } from 'apache-arrow'
import {
  type ArrowField,
  type ArrowType,
  END_OF_STREAM,
  encodeRecordBatch,
  encodeSchema,
} from '../../../src/lib/arrow/arrowStream.js'
import { type ArrowValue, buildBatch } from '../../../src/lib/arrow/columnBuilder.js'
import { totalBytes } from '../../../src/lib/bytes.js'
import { readZstd } from '../../support/arrowZstd.js'
import { type SeededRandom, seededRandom } from '../../support/random.js'

const TYPES: readonly ArrowType[] = ['u32', 'u64', 'i64', 'f64', 'bool', 'binary', 'string']
const NAMES: { readonly [T in ArrowType]: string } = {
  u32: 'Uint32',
  u64: 'Uint64',
  i64: 'Int64',
  f64: 'Float64',
  bool: 'Bool',
  binary: 'Binary',
  string: 'Utf8',
}

function randomValue({ below, bytes }: SeededRandom, type: ArrowType): ArrowValue {
  const edge = below(4) === 0
  if (type === 'u32') return edge ? 2 ** 32 - 1 : below(2 ** 32)
  if (type === 'u64') return edge ? 2n ** 64n - 1n : BigInt(below(2 ** 32)) * BigInt(below(2 ** 32))
  if (type === 'i64') return edge ? -(2n ** 63n) : BigInt(below(2 ** 31)) - 2n ** 30n
  if (type === 'f64') return edge ? 1e300 : below(2 ** 32) / 7
  if (type === 'bool') return below(2) === 1
  const value = bytes(below(5) === 0 ? 0 : below(70))
  return type === 'binary' ? value : `é"\n${Buffer.from(value).toString('hex')}`
}

function randomRows(random: SeededRandom, fields: readonly ArrowField[], count: number): ArrowValue[][] {
  const cell = ({ type, nullable }: ArrowField) =>
    nullable && random.below(3) === 0 ? null : randomValue(random, type)
  return Array.from({ length: count }, () => fields.map(cell))
}

/** The value as apache-arrow returns it. */
function asRead(type: ArrowType, value: ArrowValue): unknown {
  if (value === null) return null
  if (type === 'u64' || type === 'i64') return BigInt(value as bigint)
  return value
}

test('apache-arrow reads back random rows of every type, in batches of any length, some compressed', () => {
  readZstd()
  const seen = { shorter: 0, longer: 0 }
  const random = seededRandom(41)
  for (let run = 0; run < 40; run++) {
    const fields = Array.from({ length: 1 + random.below(9) }, (_, i): ArrowField => {
      const type = TYPES[random.below(TYPES.length)]
      return { name: `c${i}_${type}`, type, nullable: random.below(2) === 1 }
    })
    const batches = Array.from({ length: 1 + random.below(3) }, () => randomRows(random, fields, random.below(40)))
    const built = batches.map((rows) => buildBatch(fields, rows))
    const parts = [
      encodeSchema(fields),
      ...built.flatMap((batch) => {
        const plain = encodeRecordBatch(batch)
        if (random.below(2) === 0) return plain
        const compressed = encodeRecordBatch(batch, 'zstd')
        seen[totalBytes(compressed) < totalBytes(plain) ? 'shorter' : 'longer']++
        return compressed
      }),
    ]
    // Bytes after the end are no part of the stream.
    const table = tableFromIPC(Buffer.concat([...parts, END_OF_STREAM, Buffer.from('\n{"nextBlock":1}\n')]))
    assert.deepEqual(
      table.schema.fields.map(({ name, type, nullable }) => [name, String(type), nullable]),
      fields.map(({ name, type, nullable }) => [name, NAMES[type], nullable]),
    )
    const rows = batches.flat()
    assert.equal(table.numRows, rows.length)
    for (const [i, { name, type }] of fields.entries()) {
      const column = table.getChild(name)
      const nulls = rows.reduce((count, row) => count + Number(row[i] === null), 0)
      assert.equal(column?.nullCount ?? 0, nulls)
      for (const [at, row] of rows.entries()) assert.deepEqual(column!.get(at), asRead(type, row[i]))
    }
  }
  assert.ok(seen.shorter > 3 && seen.longer > 3, JSON.stringify(seen))
})

test('every message is aligned to 8 bytes, buffers to 64, and a stream without batches is empty', () => {
  const fields: ArrowField[] = [
    { name: 'a', type: 'binary', nullable: true },
    { name: 'bc', type: 'u32', nullable: false },
  ]
  const schema = encodeSchema(fields)
  const rows = [1, 2, 3].map((n) => [n === 2 ? null : Uint8Array.of(n), n])
  const batch = Buffer.concat(encodeRecordBatch(buildBatch(fields, rows)))
  for (const { length } of [schema, batch]) assert.equal(length % 8, 0)
  const metadata = batch.readUInt32LE(4)
  assert.equal((batch.length - 8 - metadata) % 64, 0)
  assert.equal(tableFromIPC(Buffer.concat([schema, END_OF_STREAM])).numRows, 0)
})

test('a stream that is cut off inside a batch is refused by the reader', () => {
  const fields: ArrowField[] = [{ name: 'a', type: 'u32', nullable: false }]
  const whole = Buffer.concat([encodeSchema(fields), ...encodeRecordBatch(buildBatch(fields, [[1], [2], [3]]))])
  assert.throws(() => [...RecordBatchReader.from(whole.subarray(0, whole.length - 70))].length)
})
