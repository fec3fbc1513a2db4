import { constants, zstdCompressSync } from 'node:zlib'
import { FlatBufferWriter, type TableField } from './flatBuffer.js'

/* The IPC streaming format of Apache Arrow: format/Columnar.rst, "Serialization and Interprocess Communication", with
   the metadata of format/Message.fbs and format/Schema.fbs, version 5. */

/** Type of a column: u32 and u64 unsigned, i64 signed, f64 a double, binary bytes. */
export type ArrowType = 'u32' | 'u64' | 'i64' | 'f64' | 'bool' | 'binary' | 'string'

/** A column of a schema. */
export interface ArrowField {
  readonly name: string
  readonly type: ArrowType
  readonly nullable: boolean
}

/** The values of a column in a batch, little-endian. They are views of memory that may be reused later. */
export interface ArrowColumn {
  readonly nullCount: number
  /** A bit for each row, 1 for a value; undefined without nulls. */
  readonly validity?: Uint8Array
  /** Of binary and string: one more than rows, the first is 0. */
  readonly offsets?: Int32Array
  readonly values: Uint8Array
}

/** How the buffers of a batch are compressed, each on its own (BodyCompression of Message.fbs). */
export type ArrowCompression = 'zstd'

/** Rows by column. */
export interface ArrowBatch {
  readonly rows: number
  /** In the order of the schema. */
  readonly columns: readonly ArrowColumn[]
}

const VERSION_5 = 4
const SCHEMA = 1
const RECORD_BATCH = 3
/** Numbers in the union `Type` of Schema.fbs. */
const TYPE_NUMBERS: { readonly [T in ArrowType]: number } = {
  u32: 2,
  u64: 2,
  i64: 2,
  f64: 3,
  binary: 4,
  string: 5,
  bool: 6,
}
/** Of CompressionType. */
const ZSTD = 1
// Level 3 saves a hundredth, and takes up to a fifth longer.
const ZSTD_LEVEL = 1
const CONTINUATION = 0xffffffff
const DOUBLE = 2
// Starts of buffers, as the format recommends.
const ALIGNMENT = 64

/** The message that ends a stream. */
export const END_OF_STREAM = Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0)

/** Returns the message that begins a stream of these columns. */
export function encodeSchema(fields: readonly ArrowField[]): Uint8Array {
  const writer = new FlatBufferWriter()
  const tables = fields.map(({ name, type, nullable }) => {
    const parts = { name: writer.string(name), children: writer.references([]), type: writeType(writer, type) }
    return writer.table([
      { to: parts.name },
      { size: 1, value: Number(nullable) },
      { size: 1, value: TYPE_NUMBERS[type] },
      { to: parts.type },
      undefined,
      { to: parts.children },
    ])
  })
  const schema = writer.table([{ size: 2, value: 0 }, { to: writer.references(tables) }])
  return encodeMetadata(writer, { kind: SCHEMA, header: schema, bodyLength: 0 })
}

/** Returns the message of a batch in parts, one after the other. Without `compression` the values are those of the
 *  batch, not copies. */
export function encodeRecordBatch({ rows, columns }: ArrowBatch, compression?: ArrowCompression): Uint8Array[] {
  const body: Uint8Array[] = []
  const buffers: [number, number][] = []
  let end = 0
  const add = (values: Uint8Array) => {
    const bytes = compression === undefined ? values : compressBuffer(values)
    buffers.push([end, bytes.length])
    const padding = -bytes.length & (ALIGNMENT - 1)
    body.push(bytes, PADDING.subarray(0, padding))
    end += bytes.length + padding
  }
  for (const { validity, offsets, values } of columns) {
    add(validity ?? NO_BYTES)
    if (offsets !== undefined) add(new Uint8Array(offsets.buffer, offsets.byteOffset, offsets.byteLength))
    add(values)
  }
  const writer = new FlatBufferWriter()
  const pairs = [writer.pairs(columns.map(({ nullCount }) => [rows, nullCount] as const)), writer.pairs(buffers)]
  const codec = compression && writer.table([{ size: 1, value: ZSTD }])
  const compressed = codec === undefined ? undefined : { to: codec }
  const batch = writer.table([{ size: 8, value: rows }, { to: pairs[0] }, { to: pairs[1] }, compressed])
  return [encodeMetadata(writer, { kind: RECORD_BATCH, header: batch, bodyLength: end }), ...body]
}

/** Returns the length of the bytes in 8 bytes, little-endian, and the bytes compressed; -1 and the bytes themselves
 *  where that is not shorter; no bytes for none (BodyCompressionMethod of Message.fbs). */
function compressBuffer(bytes: Uint8Array): Uint8Array {
  if (bytes.length === 0) return bytes
  const compressed = zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL } })
  const isShorter = compressed.length < bytes.length
  const prefix = Buffer.alloc(8)
  prefix.writeBigInt64LE(isShorter ? BigInt(bytes.length) : -1n)
  return Buffer.concat([prefix, isShorter ? compressed : bytes])
}

const NO_BYTES = new Uint8Array(0)
const PADDING = new Uint8Array(ALIGNMENT)

function writeType(writer: FlatBufferWriter, type: ArrowType): number {
  const fields: { readonly [T in ArrowType]: readonly TableField[] } = {
    u32: [{ size: 4, value: 32 }],
    u64: [{ size: 4, value: 64 }],
    i64: [
      { size: 4, value: 64 },
      { size: 1, value: 1 },
    ],
    f64: [{ size: 2, value: DOUBLE }],
    bool: [],
    binary: [],
    string: [],
  }
  return writer.table(fields[type])
}

interface MessageParts {
  readonly kind: number
  /** Position of the table. */
  readonly header: number
  readonly bodyLength: number
}

/** Returns what precedes the body of an encapsulated message: a marker, the length of the metadata, the metadata. */
function encodeMetadata(writer: FlatBufferWriter, { kind, header, bodyLength }: MessageParts): Uint8Array {
  const message = writer.table([
    { size: 2, value: VERSION_5 },
    { size: 1, value: kind },
    { to: header },
    { size: 8, value: bodyLength },
  ])
  const metadata = writer.finish(message)
  const bytes = new Uint8Array(8 + metadata.length)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, CONTINUATION, true)
  view.setUint32(4, metadata.length, true)
  bytes.set(metadata, 8)
  return bytes
}
