import { CairnError } from '../../lib/errors.js'
import { formatData } from '../../lib/hex.js'
import type { Database } from '../database.js'

/** A view of blocks with the types of its columns. */
export interface LakeView {
  readonly name: string
  /** The column that has the number of the block. */
  readonly block: string
  readonly columns: readonly ViewColumn[]
  /** Columns that are in the files beside those of the view: results of expressions that take DuckDB long. */
  readonly derived: readonly DerivedColumn[]
}

/** The result of `length(of)` or `CAST(of AS REAL)`. */
export interface DerivedColumn {
  readonly name: string
  readonly type: 'integer' | 'real'
  readonly call: 'length' | 'real'
  readonly of: string
}

/** A column of a view. */
export interface ViewColumn {
  readonly name: string
  readonly type: 'integer' | 'real' | 'text'
  /** True for text that is a decimal number. */
  readonly isDecimal: boolean
}

/** A value of a view. */
export type ViewValue = number | string | null

/** A value that an integer column of DuckDB cannot have, such as a gas limit beyond 2^53, which the view has as text.
 */
export class UnfitForLake extends CairnError {}

/** Parses `name name:type …`; the type is hex or other text unless given. */
function view(name: string, block: string, text: string, derived: readonly DerivedColumn[] = []): LakeView {
  const columns = text.split(/\s+/).map((word): ViewColumn => {
    const [column, type = 'text'] = word.split(':')
    if (type === 'decimal') return { name: column, type: 'text', isDecimal: true }
    return { name: column, type: type as ViewColumn['type'], isDecimal: false }
  })
  return { name, block, columns, derived }
}

const PLACE = 'block_number:integer block_hash timestamp:integer transaction_index:integer'

/** The views of layer 1, with their columns in order, as docs/schema.md has them. */
export const LAKE_VIEWS: readonly LakeView[] = [
  view(
    'v_blocks',
    'number',
    `number:integer hash parent_hash timestamp:integer time miner difficulty:decimal total_difficulty:decimal \
gas_limit:integer gas_used:integer base_fee_per_gas:decimal blob_gas_used:integer excess_blob_gas:integer size:integer \
transaction_count:integer log_count:integer uncle_count:integer state_root transactions_root receipts_root \
withdrawals_root requests_hash parent_beacon_block_root uncles_hash extra_data mix_hash nonce block_access_list_hash \
slot_number:integer`,
  ),
  view(
    'v_transactions',
    'block_number',
    `${PLACE} hash type:integer from to nonce:integer value:decimal value_eth:real gas_limit:integer gas_price:decimal \
max_fee_per_gas:decimal max_priority_fee_per_gas:decimal max_fee_per_blob_gas:decimal blob_count:integer input selector \
chain_id:decimal`,
    [{ name: 'input_length', type: 'integer', call: 'length', of: 'input' }],
  ),
  view(
    'v_receipts',
    'block_number',
    `${PLACE} transaction_hash type:integer from to contract_address status:integer root gas_used:integer \
cumulative_gas_used:integer effective_gas_price:decimal fee_eth:real blob_gas_used:integer blob_gas_price:decimal \
log_count:integer`,
  ),
  view(
    'v_logs',
    'block_number',
    `${PLACE} transaction_hash log_index:integer address topic0 topic1 topic2 topic3 data data_length:integer`,
  ),
  view(
    'v_erc20_transfers',
    'block_number',
    `block_number:integer timestamp:integer transaction_index:integer transaction_hash log_index:integer address from to \
value:decimal`,
    [{ name: 'value_real', type: 'real', call: 'real', of: 'value' }],
  ),
]

/** Reads the views by blocks, over a connection of `openForQueries`. */
export interface ViewReader {
  /** Number of the first stored block. */
  first(): number | undefined
  /** Number of the newest stored block. */
  head(): number | undefined
  /** Hash of a stored block as hex DATA. */
  hashAt(number: number): string | undefined
  /** Yields the rows of blocks [from, to] with the derived columns, in chain order. @throws UnfitForLake */
  rows(view: LakeView, from: number, to: number): Generator<readonly ViewValue[]>
  /** Runs `work` in one snapshot. */
  inSnapshot<T>(work: () => Promise<T>): Promise<T>
}

/** Creates the reader. */
export function createViewReader(db: Database): ViewReader {
  const selectHash = db.prepare<[number], Uint8Array>('SELECT hash FROM blocks WHERE number = ?').pluck()
  const selectFirst = db.prepare<[], number>('SELECT number FROM blocks ORDER BY number LIMIT 1').pluck()
  const selectHead = db.prepare<[], number>('SELECT number FROM blocks ORDER BY number DESC LIMIT 1').pluck()
  return {
    first: () => selectFirst.get(),
    head: () => selectHead.get(),
    hashAt(number) {
      const hash = selectHash.get(number)
      return hash && formatData(hash)
    },
    *rows(wanted, from, to) {
      const names = wanted.columns.map(({ name }) => `"${name}"`)
      const derived = wanted.derived.map(({ call, of }) =>
        call === 'length' ? `length("${of}")` : `CAST("${of}" AS REAL)`,
      )
      const select = `SELECT ${[...names, ...derived].join(', ')} FROM ${wanted.name} WHERE ${wanted.block} BETWEEN ? AND ?`
      for (const row of db.prepare<[number, number], ViewValue[]>(select).raw().iterate(from, to)) {
        requireFit(wanted, row)
        yield row
      }
    },
    async inSnapshot(work) {
      db.exec('BEGIN')
      try {
        return await work()
      } finally {
        db.exec('COMMIT')
      }
    },
  }
}

function requireFit({ name, block, columns }: LakeView, row: readonly ViewValue[]): void {
  for (let i = 0; i < columns.length; i++) {
    if (typeof row[i] !== 'string' || columns[i].type !== 'integer') continue
    const number = row[columns.findIndex((column) => column.name === block)]
    throw new UnfitForLake(
      `${name}.${columns[i].name} of block ${number} is ${row[i]}: above 2^53 it is text, which DuckDB cannot have beside integers; use --engine sqlite`,
    )
  }
}
