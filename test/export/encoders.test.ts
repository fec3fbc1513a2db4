import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { type Column, columns, nullable, type Row, toU32, toU64, uint256Cells } from '../../src/export/columns.js'
import { createEncoder } from '../../src/export/encoders/encoder.js'
import type { Format } from '../../src/export/encoders/rowEncoder.js'
import { describeParquet, readExported } from '../support/chains/exportedFiles.js'
import { temporaryDirectory } from '../support/temporary.js'

type After = { after(callback: () => void): void }

async function encode(t: After, format: Format, schema: readonly Column[], rows: Iterable<Row>) {
  const encoder = await createEncoder(format, schema)
  const parts: Uint8Array[] = []
  for (const row of rows) {
    const bytes = encoder.add(row)
    if (bytes !== undefined) parts.push(bytes)
  }
  parts.push(encoder.end())
  const path = join(temporaryDirectory(t), `file.${format}`)
  writeFileSync(path, Buffer.concat(parts))
  return { path, parts }
}

const EVERY_TYPE = [
  ...columns('u32', 'a'),
  ...columns('u64', 'b'),
  ...columns('i64', 'c'),
  ...columns('f64', 'd'),
  ...columns('bool', 'e'),
  ...columns('binary', 'f'),
  ...columns('string', 'g'),
  ...nullable('u32', 'h'),
  ...nullable('bool', 'i'),
  ...nullable('binary', 'j'),
]
const ROWS: Row[] = [
  [
    4_294_967_295,
    2n ** 64n - 1n,
    -(2n ** 63n),
    1e21,
    true,
    Uint8Array.of(0, 255),
    'say "hi", she said',
    null,
    null,
    null,
  ],
  [0, 0, 0n, 0.5, false, new Uint8Array(0), 'ü €', 2_147_483_648, false, Uint8Array.of(1)],
]

test('values of every type are written as they are', async (t) => {
  const csv = await encode(t, 'csv', EVERY_TYPE, ROWS)
  assert.equal(
    Buffer.concat(csv.parts).toString(),
    'a,b,c,d,e,f,g,h,i,j\n' +
      '4294967295,18446744073709551615,-9223372036854775808,1e+21,true,0x00ff,"say ""hi"", she said",,,\n' +
      '0,0,0,0.5,false,0x,ü €,2147483648,false,0x01\n',
  )
  const ndjson = await encode(t, 'ndjson', EVERY_TYPE, ROWS)
  assert.equal(
    Buffer.concat(ndjson.parts).toString().split('\n')[0],
    '{"a":4294967295,"b":18446744073709551615,"c":-9223372036854775808,"d":1e+21,"e":true,"f":"0x00ff",' +
      '"g":"say \\"hi\\", she said","h":null,"i":null,"j":null}',
  )
  const parquet = await encode(t, 'parquet', EVERY_TYPE, ROWS)
  assert.deepEqual(await readExported(parquet.path), await readExported(csv.path))
})

test('the empty text is not null in CSV', async (t) => {
  const { parts } = await encode(t, 'csv', nullable('string', 'a', 'b'), [['', null]])
  assert.equal(Buffer.concat(parts).toString(), 'a,b\n"",\n')
})

test('a Parquet file without rows has its columns', async (t) => {
  const { path } = await encode(t, 'parquet', EVERY_TYPE, [])
  assert.deepEqual(await readExported(path), [])
  assert.equal(describeParquet(path).columns.length, EVERY_TYPE.length)
})

test('row groups end after 122,880 rows, and earlier when their values are long', async (t) => {
  const sizes = (path: string) => describeParquet(path).groups.map(({ num_rows }) => Number(num_rows))
  const many = Array.from({ length: 122_881 }, (_, i): Row => [i])
  const short = await encode(t, 'parquet', columns('u32', 'n'), many)
  assert.deepEqual(sizes(short.path), [122_880, 1])
  assert.equal(short.parts.length, 2, 'a row group is handed on as soon as it is full')
  const long = new Uint8Array(2 ** 22)
  const few = await encode(
    t,
    'parquet',
    columns('binary', 'data'),
    Array.from({ length: 20 }, (): Row => [long]),
  )
  assert.deepEqual(sizes(few.path), [16, 4])
})

test('what does not fit in a column is its maximum; negative integers are two’s complement', () => {
  assert.deepEqual([toU32(2n ** 40n), toU32(7n)], [2 ** 32 - 1, 7])
  assert.deepEqual([toU64(2n ** 70n), toU64(7n)], [2n ** 64n - 1n, 7n])
  const [bytes, text, double] = uint256Cells(-1n)
  assert.deepEqual([Buffer.from(bytes).toString('hex'), text, double], ['ff'.repeat(32), '-1', -1])
})
