import type { ArrowBatch, ArrowColumn, ArrowField, ArrowType } from './arrowStream.js'

/** A value of a column. Integers are numbers or bigints. */
export type ArrowValue = number | bigint | boolean | string | Uint8Array | null

/** Bytes of a value of fixed width. */
const WIDTHS: { readonly [T in ArrowType]?: number } = { u32: 4, u64: 8, i64: 8, f64: 8 }

/** Returns rows as a batch of these columns. Each value has the type of its column. */
export function buildBatch(fields: readonly ArrowField[], rows: readonly (readonly ArrowValue[])[]): ArrowBatch {
  return {
    rows: rows.length,
    columns: fields.map(({ type }, i) =>
      buildColumn(
        type,
        rows.map((row) => row[i]),
      ),
    ),
  }
}

function buildColumn(type: ArrowType, cells: readonly ArrowValue[]): ArrowColumn {
  const nullCount = cells.reduce<number>((count, cell) => count + Number(cell === null), 0)
  const nulls = { nullCount, validity: nullCount === 0 ? undefined : bitsOf(cells.map((cell) => cell !== null)) }
  if (type === 'bool') return { ...nulls, values: bitsOf(cells.map((cell) => cell === true)) }
  const width = WIDTHS[type]
  return { ...nulls, ...(width === undefined ? joinBytes(cells) : { values: numbersOf(type, cells, width) }) }
}

/** Returns a bit for each flag, the lowest first. */
function bitsOf(flags: readonly boolean[]): Uint8Array {
  const bits = new Uint8Array((flags.length + 7) >> 3)
  for (const [i, flag] of flags.entries()) if (flag) bits[i >> 3] |= 1 << (i & 7)
  return bits
}

function joinBytes(cells: readonly ArrowValue[]): Pick<ArrowColumn, 'offsets' | 'values'> {
  const parts = cells.map((cell) =>
    cell === null ? NO_BYTES : typeof cell === 'string' ? Buffer.from(cell) : (cell as Uint8Array),
  )
  const offsets = new Int32Array(cells.length + 1)
  for (const [i, { length }] of parts.entries()) offsets[i + 1] = offsets[i] + length
  const values = new Uint8Array(offsets[cells.length])
  for (const [i, part] of parts.entries()) values.set(part, offsets[i])
  return { offsets, values }
}

const NO_BYTES = new Uint8Array(0)

function numbersOf(type: ArrowType, cells: readonly ArrowValue[], width: number): Uint8Array {
  const bytes = new Uint8Array(cells.length * width)
  const view = new DataView(bytes.buffer)
  for (const [i, cell] of cells.entries()) {
    if (cell === null) continue
    const at = i * width
    if (type === 'u32') view.setUint32(at, Number(cell), true)
    else if (type === 'f64') view.setFloat64(at, Number(cell), true)
    else if (type === 'u64') view.setBigUint64(at, BigInt(cell as number | bigint), true)
    else view.setBigInt64(at, BigInt(cell as number | bigint), true)
  }
  return bytes
}
