import type { ArrowColumn } from '../../lib/arrow/arrowStream.js'
import type { StoredLog } from '../../store/rows/types.js'

/** The columns of logs: those of the dataset `logs` of `cairn export`, except `chain_id`. */
export interface LogColumnSet {
  readonly rows: number
  readonly columns: { readonly [name: string]: ArrowColumn }
}

/** Names of the columns of 32-bit numbers. */
export const LOG_NUMBERS = [
  'block_number',
  'transaction_index',
  'log_index',
  'n_data_bytes',
  'block_timestamp',
] as const
const TOPICS = ['topic0', 'topic1', 'topic2', 'topic3'] as const
const MAX_U32 = 0xffff_ffff

/** Columns of logs that grow; their memory is reused after `truncate`. */
export class LogColumnBuffers {
  readonly numbers = Object.fromEntries(LOG_NUMBERS.map((name) => [name, new Numbers()])) as {
    readonly [N in (typeof LOG_NUMBERS)[number]]: Numbers
  }
  readonly hashes = new Values()
  readonly addresses = new Values()
  readonly topics = TOPICS.map(() => new Values())
  readonly data = new Values()
  rows = 0
  readonly #values = [this.hashes, this.addresses, ...this.topics, this.data]

  sizeBytes(): number {
    return this.#values.reduce((sum, { length }) => sum + length + 4 * this.rows, LOG_NUMBERS.length * 4 * this.rows)
  }

  /** The columns; views that later changes overwrite. */
  columns(): LogColumnSet {
    const { rows } = this
    const binary = { transaction_hash: this.hashes, address: this.addresses, data: this.data }
    return {
      rows,
      columns: {
        ...Object.fromEntries(LOG_NUMBERS.map((name) => [name, this.numbers[name].column(rows)])),
        ...Object.fromEntries(Object.entries(binary).map(([name, values]) => [name, values.column(rows)])),
        ...Object.fromEntries(TOPICS.map((name, i) => [name, this.topics[i].column(rows)])),
      },
    }
  }

  /** Adds the numbers of a log. A timestamp beyond 32 bits is their maximum. Returns its row. */
  addNumbers(log: { readonly [N in (typeof LOG_NUMBERS)[number]]: number }): number {
    const row = this.rows++
    const { numbers } = this
    numbers.block_number.set(row, log.block_number)
    numbers.transaction_index.set(row, log.transaction_index)
    numbers.log_index.set(row, log.log_index)
    numbers.n_data_bytes.set(row, log.n_data_bytes)
    numbers.block_timestamp.set(row, Math.min(log.block_timestamp, MAX_U32))
    return row
  }

  /** Adds a log. */
  add({ log, position }: StoredLog): void {
    const row = this.addNumbers({
      block_number: position.blockNumber,
      transaction_index: position.transactionIndex,
      log_index: position.logIndex,
      n_data_bytes: log.data.length,
      block_timestamp: Number(position.blockTimestamp),
    })
    this.hashes.add(row, whole(position.transactionHash))
    this.addresses.add(row, whole(log.address))
    for (const [i, values] of this.topics.entries()) {
      if (i < log.topics.length) values.add(row, whole(log.topics[i]))
      else values.addNull(row)
    }
    this.data.add(row, whole(log.data))
  }

  /** Keeps the first rows. */
  truncate(rows: number): void {
    this.rows = rows
    for (const values of this.#values) values.truncate(rows)
  }
}

/** Bytes of a value: `stored` from `at`, after zeros that make it `length` long. */
export interface ValueBytes {
  readonly bytes: Uint8Array
  readonly at: number
  readonly stored: number
  readonly length: number
}

function whole(bytes: Uint8Array): ValueBytes {
  return { bytes, at: 0, stored: bytes.length, length: bytes.length }
}

/** Consecutive values of a column. */
interface ColumnChunk {
  readonly bytes: Uint8Array
  readonly ends: Int32Array
  readonly bits: Uint8Array
  readonly nulls: number
}

/** A column of 32-bit numbers. */
export class Numbers {
  #values = new Uint32Array(8_192)

  set(row: number, value: number): void {
    if (row >= this.#values.length) this.#grow(row + 1)
    this.#values[row] = value
  }

  /** Adds values from row `row` on. */
  append(row: number, values: Uint32Array): void {
    if (row + values.length > this.#values.length) this.#grow(row + values.length)
    this.#values.set(values, row)
  }

  column(rows: number): ArrowColumn {
    return { nullCount: 0, values: new Uint8Array(this.#values.buffer, 0, 4 * rows) }
  }

  #grow(length: number): void {
    const larger = new Uint32Array(2 * length)
    larger.set(this.#values)
    this.#values = larger
  }
}

/** A column of bytes. */
export class Values {
  /** Bytes of all values. */
  length = 0
  #bytes = new Uint8Array(262_144)
  #offsets = new Int32Array(8_193)
  #validity = new Uint8Array(1_024)
  #nulls = 0

  add(row: number, { bytes: from, at, stored, length }: ValueBytes): void {
    const end = this.length + length
    if (end > this.#bytes.length) this.#grow(end)
    const to = this.#bytes
    const first = end - stored
    to.fill(0, this.length, first)
    if (stored <= COPIED_BYTES) for (let i = 0; i < stored; i++) to[first + i] = from[at + i]
    else to.set(from.subarray(at, at + stored), first)
    this.length = end
    this.#end(row)
    this.#validity[row >> 3] |= 1 << (row & 7)
  }

  /** Adds values from row `row` on: their bytes, their ends in all bytes, and a bit for each, from bit `row % 8` of the
   *  first byte on, 0 for null. */
  append(row: number, { bytes, ends, bits, nulls }: ColumnChunk): void {
    const length = this.length + bytes.length
    if (length > this.#bytes.length) this.#grow(length)
    this.#bytes.set(bytes, this.length)
    this.length = length
    const rows = row + ends.length
    this.#reserve(rows)
    this.#offsets.set(ends, row + 1)
    this.#nulls += nulls
    const first = row >> 3
    if (bits.length > 0) this.#validity[first] |= bits[0]
    this.#validity.set(bits.subarray(1), first + 1)
  }

  addNull(row: number): void {
    this.#nulls++
    this.#end(row)
  }

  truncate(rows: number): void {
    this.length = this.#offsets[rows]
    let values = 0
    for (let row = 0; row < rows; row++) values += (this.#validity[row >> 3] >> (row & 7)) & 1
    this.#nulls = rows - values
    if (rows % 8 > 0) this.#validity[rows >> 3] &= (1 << (rows & 7)) - 1
    this.#validity.fill(0, (rows + 7) >> 3)
  }

  column(rows: number): ArrowColumn {
    return {
      nullCount: this.#nulls,
      validity: this.#nulls === 0 ? undefined : this.#validity.subarray(0, (rows + 7) >> 3),
      offsets: this.#offsets.subarray(0, rows + 1),
      values: this.#bytes.subarray(0, this.length),
    }
  }

  #end(row: number): void {
    this.#reserve(row + 1)
    this.#offsets[row + 1] = this.length
  }

  #reserve(rows: number): void {
    if (rows + 1 > this.#offsets.length) {
      const larger = new Int32Array(2 * (rows + 1))
      larger.set(this.#offsets)
      this.#offsets = larger
    }
    if (rows > 8 * this.#validity.length) {
      const larger = new Uint8Array(rows >> 2)
      larger.set(this.#validity)
      this.#validity = larger
    }
  }

  #grow(length: number): void {
    const larger = new Uint8Array(2 * length)
    larger.set(this.#bytes.subarray(0, this.length))
    this.#bytes = larger
  }
}

/** Up to this length a loop is faster than `set` with its view. */
const COPIED_BYTES = 64
