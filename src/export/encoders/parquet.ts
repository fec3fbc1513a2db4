import { compress, init } from '@bokuweb/zstd-wasm'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import type { Cell, Column, ColumnType } from '../columns.js'
import type { RowEncoder } from './rowEncoder.js'

const GROUP_ROWS = 122_880 // as in DuckDB
/** A row group with long values ends earlier, so that memory is bounded. */
const GROUP_BYTES = 64 * 2 ** 20
const ZSTD_LEVEL = 3

type SchemaElement = ConstructorParameters<typeof ParquetWriter>[0]['schema'][number]
type ColumnData = { name: string; data: Cell[] }

// No logical types for integers: hyparquet-writer 0.17 writes their bit width with the wrong Thrift type, and DuckDB
// rejects the file.
const PHYSICAL: { readonly [K in ColumnType]: Partial<SchemaElement> } = {
  u32: { type: 'INT32', converted_type: 'UINT_32' },
  u64: { type: 'INT64', converted_type: 'UINT_64' },
  i64: { type: 'INT64' },
  f64: { type: 'DOUBLE' },
  bool: { type: 'BOOLEAN' },
  binary: { type: 'BYTE_ARRAY' },
  string: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
}

/** Creates an encoder of Parquet: zstd, row groups of 122,880 rows with statistics, no bloom filters (DuckDB 1.5 finds
 *  nothing with those of binary columns). */
export async function createParquetEncoder(columns: readonly Column[]): Promise<RowEncoder> {
  await loadZstd()
  const writer = new ByteWriter()
  const schema = [{ name: 'root', num_children: columns.length }, ...columns.map(elementOf)]
  const file = new ParquetWriter({
    writer,
    schema,
    codec: 'ZSTD',
    compressors: { ZSTD: (bytes) => compress(bytes as Buffer, ZSTD_LEVEL) },
    createdBy: 'cairn',
  })
  let group = columns.map((): Cell[] => [])
  let rows = 0
  let bytes = 0
  const take = () => {
    const taken = writer.getBytes().slice()
    writer.index = 0 // `offset` keeps counting
    return taken
  }
  const writeGroup = () => {
    const columnData: ColumnData[] = columns.map(({ name }, i) => ({ name, data: group[i] }))
    file.write({ columnData: columnData as Parameters<typeof file.write>[0]['columnData'], rowGroupSize: GROUP_ROWS })
    group = columns.map(() => [])
    rows = 0
    bytes = 0
  }
  return {
    add: (row) => {
      for (let i = 0; i < columns.length; i++) {
        const cell = row[i]
        if (cell instanceof Uint8Array || typeof cell === 'string') bytes += cell.length
        group[i].push(columns[i].type.endsWith('64') ? toPhysical(cell, columns[i].type) : cell)
      }
      if (++rows < GROUP_ROWS && bytes < GROUP_BYTES) return undefined
      writeGroup()
      return take()
    },
    end: () => {
      if (rows > 0) writeGroup()
      file.finish()
      return take()
    },
  }
}

let loading: Promise<void> | undefined

/** Loads the module once: a second `init` would leave its functions with the memory of the first. */
function loadZstd(): Promise<void> {
  loading ??= init()
  return loading
}

function elementOf({ name, type, nullable, isTimestamp }: Column): SchemaElement {
  const time = isTimestamp ? ({ converted_type: 'TIMESTAMP_MILLIS' } as const) : {}
  return { name, ...PHYSICAL[type], ...time, repetition_type: nullable ? 'OPTIONAL' : 'REQUIRED' }
}

function toPhysical(cell: Cell, type: ColumnType): Cell {
  return type !== 'f64' && typeof cell === 'number' ? BigInt(cell) : cell
}
