import type { ArrowBatch, ArrowColumn, ArrowField } from '../../lib/arrow/arrowStream.js'

const HEX = Uint16Array.from({ length: 256 }, (_, byte) => {
  const digits = byte.toString(16).padStart(2, '0')
  return digits.charCodeAt(0) | (digits.charCodeAt(1) << 8) // little-endian
})
// Digits of a number, quotes and `0x`.
const CELL_ROOM = 64

/** Returns the rows as NDJSON: objects with one member, `kind`, whose value has the columns. Integers are JSON numbers
 *  of any size, bytes DATA. */
export function formatBatch(kind: string, fields: readonly ArrowField[], { rows, columns }: ArrowBatch): Uint8Array {
  const writers = fields.map((field, i) => createCellWriter(field, columns[i]))
  const names = fields.map(({ name }, i) => Buffer.from(`${i === 0 ? `{"${kind}":{` : ','}${JSON.stringify(name)}:`))
  const end = Buffer.from('}}\n')
  const lengths = columns.reduce((sum, { values }) => sum + 2 * values.length, 0)
  const out = new TextBytes(lengths + rows * (names.reduce((sum, { length }) => sum + length + 20, 8) + 8))
  for (let row = 0; row < rows; row++) {
    for (let i = 0; i < writers.length; i++) {
      out.add(names[i])
      writers[i](out, row)
    }
    out.add(end)
  }
  return out.bytes.subarray(0, out.length)
}

/** Text in bytes that grow. */
class TextBytes {
  bytes: Uint8Array
  length = 0

  constructor(sizeBytes: number) {
    this.bytes = new Uint8Array(sizeBytes)
  }

  reserve(more: number): void {
    if (this.length + more <= this.bytes.length) return
    const larger = new Uint8Array(2 * (this.length + more))
    larger.set(this.bytes.subarray(0, this.length))
    this.bytes = larger
  }

  add(text: Uint8Array): void {
    this.reserve(text.length)
    for (let i = 0; i < text.length; i++) this.bytes[this.length + i] = text[i]
    this.length += text.length
  }

  addText(text: string): void {
    this.reserve(3 * text.length + CELL_ROOM)
    for (let i = 0; i < text.length; i++) this.bytes[this.length + i] = text.charCodeAt(i)
    this.length += text.length
  }

  /** Adds `"0x…"`. */
  addHex(from: Uint8Array, start: number, end: number): void {
    this.reserve(2 * (end - start) + CELL_ROOM)
    const { bytes } = this
    let at = this.length
    bytes[at++] = 0x22
    bytes[at++] = 0x30
    bytes[at++] = 0x78
    for (let i = start; i < end; i++) {
      const digits = HEX[from[i]]
      bytes[at++] = digits & 0xff
      bytes[at++] = digits >> 8
    }
    bytes[at++] = 0x22
    this.length = at
  }
}

type CellWriter = (out: TextBytes, row: number) => void

function createCellWriter({ type }: ArrowField, column: ArrowColumn): CellWriter {
  const { validity } = column
  const write = createValueWriter(type, column)
  if (validity === undefined) return write
  return (out, row) => {
    if ((validity[row >> 3] >> (row & 7)) & 1) write(out, row)
    else out.addText('null')
  }
}

function createValueWriter(type: ArrowField['type'], { values, offsets }: ArrowColumn): CellWriter {
  const view = new DataView(values.buffer, values.byteOffset, values.byteLength)
  if (type === 'binary') return (out, row) => out.addHex(values, offsets![row], offsets![row + 1])
  if (type === 'u32') return (out, row) => out.addText(String(view.getUint32(4 * row, true)))
  if (type === 'u64') return (out, row) => out.addText(String(view.getBigUint64(8 * row, true)))
  if (type === 'i64') return (out, row) => out.addText(String(view.getBigInt64(8 * row, true)))
  if (type === 'f64') return (out, row) => out.addText(String(view.getFloat64(8 * row, true)))
  if (type === 'bool') return (out, row) => out.addText(String(((values[row >> 3] >> (row & 7)) & 1) === 1))
  return (out, row) => {
    const text = Buffer.from(values.buffer, values.byteOffset + offsets![row], offsets![row + 1] - offsets![row])
    out.add(Buffer.from(JSON.stringify(text.toString())))
  }
}
