import type { StoredBlockLink } from '../../store/rows/exportRows.js'
import { type Column, type ColumnType, nullable, type Row } from '../columns.js'
import type { Dataset } from '../dataset.js'
import { LAYER_1 } from '../layers.js'

/* The views of docs/schema.md as datasets of the lake: a row of a file is a row of the view, with the same values. */

/** A view of blocks with the types of its columns. */
export interface ViewColumns {
  readonly name: string
  /** The column that has the number of the block. */
  readonly block: string
  readonly columns: readonly Column[]
}

/** A value that DuckDB's column cannot hold, such as a gas limit beyond 2^53, which the view has as text. */
export class UnfitForLake extends Error {}

/** Parses `name name:type …`; the type is string unless given. */
function view(name: string, block: string, text: string): ViewColumns {
  const columns = text.split(/\s+/).flatMap((word) => {
    const [column, type = 'string'] = word.split(':')
    return nullable(type as ColumnType, column)
  })
  return { name, block, columns }
}

const PLACE = 'block_number:i64 block_hash timestamp:i64 transaction_index:i64'

/** The views in the lake, in the order in which files are written. */
export const LAKE_VIEWS: readonly ViewColumns[] = [
  view(
    'v_blocks',
    'number',
    `number:i64 hash parent_hash timestamp:i64 time miner difficulty total_difficulty gas_limit:i64 gas_used:i64 \
base_fee_per_gas blob_gas_used:i64 excess_blob_gas:i64 size:i64 transaction_count:i64 log_count:i64 uncle_count:i64 \
state_root transactions_root receipts_root withdrawals_root requests_hash parent_beacon_block_root uncles_hash \
extra_data mix_hash nonce block_access_list_hash slot_number:i64`,
  ),
  view(
    'v_transactions',
    'block_number',
    `${PLACE} hash type:i64 from to nonce:i64 value value_eth:f64 gas_limit:i64 gas_price max_fee_per_gas \
max_priority_fee_per_gas max_fee_per_blob_gas blob_count:i64 input selector chain_id`,
  ),
  view(
    'v_receipts',
    'block_number',
    `${PLACE} transaction_hash type:i64 from to contract_address status:i64 root gas_used:i64 cumulative_gas_used:i64 \
effective_gas_price fee_eth:f64 blob_gas_used:i64 blob_gas_price log_count:i64`,
  ),
  view(
    'v_logs',
    'block_number',
    `${PLACE} transaction_hash log_index:i64 address topic0 topic1 topic2 topic3 data data_length:i64`,
  ),
  view(
    'v_erc20_transfers',
    'block_number',
    'block_number:i64 timestamp:i64 transaction_index:i64 transaction_hash log_index:i64 address from to value',
  ),
]

/** The datasets of the lake. Their source is a connection with the views of `openForQueries`. */
export const LAKE_DATASETS: readonly Dataset<StoredBlockLink>[] = LAKE_VIEWS.map((viewed) => ({
  name: viewed.name,
  fileName: viewed.name,
  summary: `The rows of ${viewed.name}.`,
  columns: viewed.columns,
  layer: LAYER_1,
  batchBlocks: () => 16,
  *rows({ db }, links) {
    const rows = db.prepare<[number, number], Row>(selectView(viewed)).raw()
    for (const row of rows.iterate(links[0].number, links[links.length - 1].number)) yield fitted(viewed, row)
  },
}))

/** Returns the statement that reads the rows of blocks [?, ?] of a view, in chain order. */
export function selectView({ name, block, columns }: ViewColumns): string {
  return `SELECT ${columns.map((column) => `"${column.name}"`).join(', ')} FROM ${name} WHERE ${block} BETWEEN ? AND ?`
}

/** Returns the row. @throws UnfitForLake if an integer column has text */
export function fitted({ name, block, columns }: ViewColumns, row: Row): Row {
  for (let i = 0; i < columns.length; i++) {
    if (columns[i].type !== 'i64' || typeof row[i] !== 'string') continue
    const number = row[columns.findIndex((column) => column.name === block)]
    throw new UnfitForLake(
      `${name}.${columns[i].name} of block ${number} is ${row[i]}, beyond 2^53: DuckDB cannot hold it beside integers; use --engine sqlite`,
    )
  }
  return row
}
