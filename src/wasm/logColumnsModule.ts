import { assembleModule, type Code, get, I32, i32, i32s, i64, i64s, memoryFill, set, V128, v128s } from './assembler.js'
import { LOG_INPUT_BYTES, LogRecordCode, type RecordLocals, type Slots, writeDecode } from './logRecordCode.js'

/** Logs of one call at most. */
export const MAX_CHUNK_ROWS = 1_024
/** Bytes of data of one call at most. */
const MAX_DATA_BYTES = 0x60_0000
const TOPIC_COUNT = 4
// 16-byte stores write beyond an end.
const ROOM = 64

const NUMBERS_AT = 0x1_0000
const COLUMN_BYTES = 4 * MAX_CHUNK_ROWS
const ADDRESSES_AT = 0x10_0000
const TOPICS_AT = 0x40_0000
const INPUT_AT = 0x50_0000
const DATA_AT = INPUT_AT + LOG_INPUT_BYTES + 0x1000
const PAGES = Math.ceil((DATA_AT + MAX_DATA_BYTES + ROOM) / 0x1_0000)

/** Bytes that precede the value in a slot. */
export const SLOT_VALUE = 16
const HASHES_AT = NUMBERS_AT + 16 * COLUMN_BYTES
const ADDRESS_VALUES_AT = HASHES_AT + 32 * MAX_CHUNK_ROWS + ROOM
const TOPIC_VALUES_AT = ADDRESS_VALUES_AT + 20 * MAX_CHUNK_ROWS + ROOM
const TOPIC_VALUES_BYTES = 32 * MAX_CHUNK_ROWS + ROOM

/** Addresses in memory, and sizes in bytes. */
export const LOG_COLUMNS_MEMORY = {
  /** 32-bit words, read and written by `encode`: next record, logs written, missing id, then the lengths of the values
   *  of topics 0 to 3 and of the data. */
  state: 0,
  /** 32-bit words, read by `encode`: added to the ends of the values of topics 0 to 3 and of the data. */
  bases: 128,
  /** A 32-bit word: index of the first log in its first bitmap byte, 0 to 7. */
  firstBit: 160,
  input: INPUT_AT,
  /** Columns of 32-bit numbers. */
  numbers: {
    block_number: NUMBERS_AT,
    transaction_index: NUMBERS_AT + COLUMN_BYTES,
    log_index: NUMBERS_AT + 2 * COLUMN_BYTES,
    n_data_bytes: NUMBERS_AT + 3 * COLUMN_BYTES,
    block_timestamp: NUMBERS_AT + 4 * COLUMN_BYTES,
  },
  /** Ends of the values of topics 0 to 3, and of the data: columns of 32-bit numbers. */
  ends: Array.from({ length: TOPIC_COUNT + 1 }, (_, i) => NUMBERS_AT + (5 + i) * COLUMN_BYTES),
  /** Of topics 0 to 3: a bit for each log, which `encode` sets for a topic; the caller clears them. */
  bitmaps: Array.from({ length: TOPIC_COUNT }, (_, i) => NUMBERS_AT + 10 * COLUMN_BYTES + i * 512),
  /** 32 bytes for each log. */
  hashes: HASHES_AT,
  /** 20 bytes for each log. */
  addressValues: ADDRESS_VALUES_AT,
  /** 32 bytes for each topic. */
  topicValues: Array.from({ length: TOPIC_COUNT }, (_, i) => TOPIC_VALUES_AT + i * TOPIC_VALUES_BYTES),
  data: DATA_AT,
} as const

/** Slots of 48 bytes: id + 1, at `SLOT_VALUE` the 20 bytes of the address. 3 MB: a miss takes 2 µs. */
export const ADDRESS_TABLE: Slots = { at: ADDRESSES_AT, count: 65_536, bytes: 48 }
/** The same with the 32 bytes of the topic. */
export const TOPIC_TABLE: Slots = { at: TOPICS_AT, count: 16_384, bytes: 48 }

const { state, bases, firstBit, numbers, ends, bitmaps, hashes, addressValues, topicValues, data } = LOG_COLUMNS_MEMORY
const WORD = { next: state, count: state + 4, missing: state + 8, lengths: state + 12 } as const
const RECORD_MEMORY = {
  input: INPUT_AT,
  block: state + 64,
  missing: WORD.missing,
  addresses: ADDRESS_TABLE,
  topics: TOPIC_TABLE,
} as const

/** The module's bytes. It exports `memory` and `encode(length)`, which writes the columns of the logs whose records are
 *  the first `length` bytes of the input, at most `MAX_CHUNK_ROWS`, and returns a result as in logRecordCode. */
export function assembleLogColumns(): Uint8Array<ArrayBuffer> {
  return assembleModule({ pages: PAGES, functions: [writeDecode(), new LogColumnsWriter().encode()] })
}

class LogColumnsWriter {
  readonly #record = new LogRecordCode(RECORD_MEMORY)
  readonly #f = this.#record.f
  readonly #at = this.#record.at
  readonly #count = this.#f.local(I32)
  /** Lengths of the values of topics 0 to 3 and of the data. */
  readonly #lengths = this.#f.locals(I32, TOPIC_COUNT + 1)
  readonly #to = this.#f.local(I32)
  readonly #from = this.#f.local(I32)
  readonly #bit = this.#f.local(I32)
  readonly #bytes = this.#f.local(V128)

  encode() {
    const f = this.#f
    const words = [WORD.next, WORD.count, ...this.#lengths.map((_, i) => WORD.lengths + 4 * i)]
    const locals = [this.#at, this.#count, ...this.#lengths]
    return this.#record.encode({
      load: () => {
        for (const [i, word] of words.entries()) f.put(set(locals[i], i32s.load(i32(word))))
      },
      save: () => {
        for (const [i, word] of words.entries()) f.put(i32s.store(i32(word), 0, get(locals[i])))
      },
      write: () => {
        this.#log(this.#record.readRecord((log) => this.#requireSpace(log)))
        f.put(set(this.#count, i32s.add(get(this.#count), i32(1))))
      },
    })
  }

  #requireSpace({ padded }: { padded: number }): void {
    this.#record.refuseWhen(i32s.isAtLeast(get(this.#count), i32(MAX_CHUNK_ROWS)))
    // Not their sum, which may exceed 32 bits.
    this.#record.refuseWhen(i32s.isMore(get(padded), i32s.sub(i32(MAX_DATA_BYTES), get(this.#dataLength()))))
  }

  #dataLength(): number {
    return this.#lengths[TOPIC_COUNT]
  }

  #log({ logIndex, transactionIndex, addressSlot, topic0Id, topicSlot, lengths, ...log }: RecordLocals): void {
    const f = this.#f
    this.#number(numbers.block_number, i32s.low(this.#record.blockNumber()))
    this.#number(numbers.transaction_index, get(transactionIndex))
    this.#number(numbers.log_index, get(logIndex))
    this.#number(numbers.n_data_bytes, get(log.padded))
    const time = this.#record.blockTimestamp()
    f.when(
      i64s.isMore(time, i64(0xffff_ffffn)),
      () => this.#number(numbers.block_timestamp, i32(-1)),
      () => this.#number(numbers.block_timestamp, i32s.low(time)),
    )
    f.put(set(this.#to, i32s.add(i32(hashes), i32s.left(get(this.#count), i32(5)))))
    this.#copyWord(get(log.hash))
    f.put(set(this.#to, i32s.add(i32(addressValues), i32s.multiply(get(this.#count), i32(20)))))
    f.put(v128s.store(get(this.#to), 0, v128s.load(get(addressSlot), SLOT_VALUE)))
    f.put(i32s.store(get(this.#to), 16, i32s.load(get(addressSlot), SLOT_VALUE + 16)))
    f.put(set(this.#bit, i32s.add(get(this.#count), i32s.load(i32(firstBit)))))
    f.when(get(topic0Id), () => {
      this.#beginTopic(0)
      this.#copyWord(i32s.add(get(topicSlot), i32(SLOT_VALUE)))
      this.#endTopic(0)
    })
    this.#endOf(0)
    for (const [i, length] of lengths.entries()) {
      f.when(get(length), () => this.#trimmedTopic(i + 1, length))
      this.#endOf(i + 1)
    }
    this.#data(log)
    this.#endOf(TOPIC_COUNT)
  }

  /** A cell of a column of numbers. */
  #number(column: number, value: Code): void {
    this.#f.put(i32s.store(i32s.left(get(this.#count), i32(2)), column, value))
  }

  /** The end of the values of a topic or of the data. */
  #endOf(column: number): void {
    this.#number(ends[column], i32s.add(get(this.#lengths[column]), i32s.load(i32(bases + 4 * column))))
  }

  #copyWord(from: Code): void {
    const f = this.#f
    f.put(set(this.#from, from))
    for (const offset of [0, 16]) f.put(v128s.store(get(this.#to), offset, v128s.load(get(this.#from), offset)))
  }

  #beginTopic(column: number): void {
    this.#f.put(set(this.#to, i32s.add(i32(topicValues[column]), get(this.#lengths[column]))))
  }

  #endTopic(column: number): void {
    const f = this.#f
    const length = this.#lengths[column]
    f.put(set(length, i32s.add(get(length), i32(32))))
    const byte = i32s.right(get(this.#bit), i32(3))
    const flag = i32s.left(i32(1), i32s.and(get(this.#bit), i32(7)))
    f.put(i32s.storeByte(byte, bitmaps[column], i32s.or(i32s.loadByte(byte, bitmaps[column]), flag)))
  }

  /** A topic of the next bytes of the input; `length` is their number plus 1. */
  #trimmedTopic(column: number, length: number): void {
    const f = this.#f
    this.#beginTopic(column)
    for (const offset of [0, 16]) f.put(v128s.store(get(this.#to), offset, v128s.zero))
    f.put(set(length, i32s.sub(get(length), i32(1))))
    f.put(set(this.#to, i32s.sub(i32s.add(get(this.#to), i32(32)), get(length))))
    this.#copyWord(get(this.#at))
    f.put(set(this.#at, i32s.add(get(this.#at), get(length))))
    this.#endTopic(column)
  }

  #data({ stored, padded }: Pick<RecordLocals, 'stored' | 'padded'>): void {
    const f = this.#f
    const length = this.#dataLength()
    const zeros = i32s.sub(get(padded), get(stored))
    f.put(set(this.#to, i32s.add(i32(data), get(length))))
    f.put(memoryFill(get(this.#to), i32(0), zeros), set(this.#to, i32s.add(get(this.#to), zeros)))
    f.put(set(length, i32s.add(get(length), get(padded))))
    f.put(set(this.#from, get(this.#at)), set(this.#at, i32s.add(get(this.#at), get(stored))))
    f.loop('copy', () =>
      f.when(i32s.isLess(get(this.#from), get(this.#at)), () => {
        f.put(set(this.#bytes, v128s.load(get(this.#from))), v128s.store(get(this.#to), 0, get(this.#bytes)))
        f.put(set(this.#from, i32s.add(get(this.#from), i32(16))), set(this.#to, i32s.add(get(this.#to), i32(16))))
        f.goTo('copy')
      }),
    )
  }
}
