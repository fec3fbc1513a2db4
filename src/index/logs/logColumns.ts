import type { Database } from '../../store/database.js'
import { createValueLookup } from '../../store/dictionary.js'
import type { StoredLog } from '../../store/rows/types.js'
import { instantiate } from '../../wasm/assembler.js'
import {
  ADDRESS_TABLE,
  assembleLogColumns,
  LOG_COLUMNS_MEMORY,
  SLOT_VALUE,
  TOPIC_TABLE,
} from '../../wasm/logColumnsModule.js'
import { ADDRESS_MISSING, DONE, LOG_INPUT_BYTES, type Slots, TOPIC_MISSING } from '../../wasm/logRecordCode.js'
import { addLogRecords, type RecordValues } from './addLogRecords.js'
import { LOG_NUMBERS, LogColumnBuffers, type LogColumnSet } from './logColumnBuffers.js'

/** Collects the columns of logs. */
export interface LogColumnWriter {
  /** Adds the logs of records of store/rows/logRecords; false if there is one without a record, or a damaged one, with
   *  none of them added. @throws Error when a record names a missing address or topic */
  add(records: Uint8Array): boolean
  /** Adds a log that has no record. */
  addLog(log: StoredLog): void
  /** Number of logs since `clear`. */
  rows(): number
  /** Bytes of their columns. */
  sizeBytes(): number
  /** The columns; views that the next `add` or `clear` may overwrite. */
  columns(): LogColumnSet
  clear(): void
}

// Values of each dictionary that are cached without WebAssembly: 2 MB.
const CACHED = { most: 10_000 }

/** Creates a writer over the dictionaries of a connection. */
export function createLogColumnWriter(db: Database): LogColumnWriter {
  const buffers = new LogColumnBuffers()
  const add = createEncoder(db, buffers)
  return {
    add,
    addLog: (log) => buffers.add(log),
    rows: () => buffers.rows,
    sizeBytes: () => buffers.sizeBytes(),
    columns: () => buffers.columns(),
    clear: () => buffers.truncate(0),
  }
}

/** Creates the encoder; without WebAssembly, one in TypeScript. */
function createEncoder(db: Database, buffers: LogColumnBuffers): LogColumnWriter['add'] {
  try {
    const encoder = new ColumnEncoder(buffers, lookUps(db, { most: 1 }))
    return (records) => encoder.add(records)
  } catch {
    const values = lookUps(db, CACHED)
    return (records) => addLogRecords(buffers, records, values)
  }
}

function lookUps(db: Database, cached: { most: number }): RecordValues {
  return { addressOf: createValueLookup(db, 'addresses', cached), topicOf: createValueLookup(db, 'topics', cached) }
}

const { bases, firstBit, numbers, ends, bitmaps, hashes, addressValues, topicValues, data, input, state } =
  LOG_COLUMNS_MEMORY
const WORDS = { next: state / 4, count: state / 4 + 1, missing: state / 4 + 2, lengths: state / 4 + 3 } as const
const VALUE_COLUMNS = 5

/** Encodes records in WebAssembly and appends the columns of each call to the buffers. */
class ColumnEncoder {
  readonly #buffers: LogColumnBuffers
  readonly #values: RecordValues
  readonly #encode: (length: number) => number
  readonly #bytes: Uint8Array
  readonly #words: Uint32Array
  /** Ends of values of 32 and of 20 bytes. */
  readonly #ramps = { 32: new Ramp(32), 20: new Ramp(20) }

  /** @throws Error without WebAssembly, or without enough memory */
  constructor(buffers: LogColumnBuffers, values: RecordValues) {
    const { encode, memory } = instantiate<{ encode(length: number): number }>(assembleLogColumns())
    this.#buffers = buffers
    this.#values = values
    this.#encode = encode
    this.#bytes = new Uint8Array(memory.buffer)
    this.#words = new Uint32Array(memory.buffer)
  }

  add(records: Uint8Array): boolean {
    const { rows, topics, data: ownData } = this.#buffers
    if (records.length > LOG_INPUT_BYTES) return addLogRecords(this.#buffers, records, this.#values)
    const words = this.#words
    this.#bytes.set(records, input)
    words.fill(0, WORDS.next, WORDS.lengths + VALUE_COLUMNS)
    words[WORDS.next] = input
    words[firstBit / 4] = rows & 7
    for (const [i, { length }] of [...topics, ownData].entries()) words[bases / 4 + i] = length
    this.#bytes.fill(0, bitmaps[0], bitmaps[0] + 4 * (bitmaps[1] - bitmaps[0]))
    // More logs or data than a call takes, or damage, which is then found.
    if (this.#run(records.length) !== DONE) return addLogRecords(this.#buffers, records, this.#values)
    this.#append(words[WORDS.count])
    return true
  }

  #run(length: number): number {
    for (;;) {
      const result = this.#encode(length)
      const id = this.#words[WORDS.missing]
      if (result === ADDRESS_MISSING) this.#fill(ADDRESS_TABLE, id, this.#values.addressOf(id))
      else if (result === TOPIC_MISSING) this.#fill(TOPIC_TABLE, id, this.#values.topicOf(id))
      else return result
    }
  }

  #fill({ at, count, bytes }: Slots, id: number, value: Uint8Array): void {
    const slot = at + (id % count) * bytes
    this.#words[slot / 4] = id + 1
    this.#bytes.set(value, slot + SLOT_VALUE)
  }

  #append(count: number): void {
    if (count === 0) return
    const { rows, ...buffers } = this.#buffers
    const numbersAt = (at: number) => this.#words.subarray(at / 4, at / 4 + count)
    const bytesAt = (at: number, length: number) => this.#bytes.subarray(at, at + length)
    for (const name of LOG_NUMBERS) buffers.numbers[name].append(rows, numbersAt(numbers[name]))
    const bitmapBytes = ((rows & 7) + count + 7) >> 3
    const allBits = setBits(rows & 7, count)
    const fixed = (at: number, width: 32 | 20) => ({
      bytes: bytesAt(at, width * count),
      ends: this.#ramps[width].part(rows, count),
      bits: allBits,
      nulls: 0,
    })
    buffers.hashes.append(rows, fixed(hashes, 32))
    buffers.addresses.append(rows, fixed(addressValues, 20))
    for (const [i, values] of [...buffers.topics, buffers.data].entries()) {
      const length = this.#words[WORDS.lengths + i]
      const isData = i === buffers.topics.length
      values.append(rows, {
        bytes: bytesAt(isData ? data : topicValues[i], length),
        ends: new Int32Array(this.#bytes.buffer, ends[i], count),
        bits: isData ? allBits : bytesAt(bitmaps[i], bitmapBytes),
        nulls: isData ? 0 : count - length / 32,
      })
    }
    this.#buffers.rows = rows + count
  }
}

/** Multiples of a width. */
class Ramp {
  readonly #width: number
  #values = new Int32Array(0)

  constructor(width: number) {
    this.#width = width
  }

  /** Ends of `count` values after `rows` others. */
  part(rows: number, count: number): Int32Array {
    if (rows + count > this.#values.length) {
      this.#values = Int32Array.from({ length: 2 * (rows + count) }, (_, i) => (i + 1) * this.#width)
    }
    return this.#values.subarray(rows, rows + count)
  }
}

/** Returns that many bits that are set, from bit `first` of the first byte on. */
function setBits(first: number, count: number): Uint8Array {
  const bits = new Uint8Array((first + count + 7) >> 3).fill(0xff)
  bits[0] &= 0xff << first
  if ((first + count) % 8 > 0) bits[bits.length - 1] &= (1 << ((first + count) % 8)) - 1
  return bits
}
