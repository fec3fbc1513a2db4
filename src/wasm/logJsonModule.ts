import {
  assembleModule,
  type Code,
  get,
  I32,
  I64,
  i32,
  i32s,
  i64,
  i64s,
  memoryFill,
  set,
  V128,
  v128s,
} from './assembler.js'
import { LogRecordCode, type RecordLocals, writeDecode } from './logRecordCode.js'

/** Addresses in memory, and sizes in bytes. */
export const LOG_JSON_MEMORY = {
  /** Four 32-bit words, read and written by `encode`: end of the JSON, next record, logs written, missing id. */
  state: 0,
  /** Slots of 64 bytes: id + 1, unused, 40 hex digits of the address. An id's slot is its low bits. */
  addresses: 0x1_0000,
  /** Slots of 80 bytes: id + 1, unused, 64 hex digits of the topic. */
  topics: 0x41_0000,
  input: 0x46_0000,
  output: 0x8f_0000,
} as const

/** Slots, a power of two, and their sizes in bytes: 4.5 MB. A few contracts and events emit most logs, but 5,000 logs
 *  have up to 1,800 contracts, and filling a slot takes 2 µs. */
export const ADDRESS_SLOTS = { count: 65_536, bytes: 64 } as const
export const TOPIC_SLOTS = { count: 4_096, bytes: 80 } as const
/** Bytes from a slot to its digits. */
export const SLOT_DIGITS = 8
const PAGES = 287
const OUTPUT_END = PAGES * 0x1_0000
const TEXT_AT = 64
// The JSON of a log without its data, and what 16-byte stores write beyond an end.
const ROOM = 1_024

const DIGITS = [...Buffer.from('0123456789abcdef')]
const ZEROS = new Array<number>(16).fill(0x30)

/** The module's bytes. It exports `memory` and `encode(length)`, which writes the JSON of the records in the first
 *  `length` bytes of the input, joined by commas, and returns a result as above. The layout of records is in
 *  store/rows/logRecords. */
export function assembleLogJson(): Uint8Array<ArrayBuffer> {
  const writer = new LogJsonWriter()
  const functions = [writeDecode(), writer.encode()]
  return assembleModule({ pages: PAGES, functions, data: [{ at: TEXT_AT, bytes: writer.text }] })
}

const { state, addresses, topics, input, output } = LOG_JSON_MEMORY
const WORD = { end: state, next: state + 4, count: state + 8, missing: state + 12 } as const
const ADDRESS_TABLE = { at: addresses, ...ADDRESS_SLOTS, digits: 40 } as const
const TOPIC_TABLE = { at: topics, ...TOPIC_SLOTS, digits: 64 } as const
const RECORD_MEMORY = {
  input,
  block: state + 16,
  missing: WORD.missing,
  addresses: ADDRESS_TABLE,
  topics: TOPIC_TABLE,
} as const

/** Writes the function, and collects the constant text it copies. */
class LogJsonWriter {
  /** The hex digits, then all text. */
  readonly text: number[] = [...DIGITS]
  readonly #record = new LogRecordCode(RECORD_MEMORY)
  readonly #f = this.#record.f
  readonly #at = this.#record.at
  // Next output byte, logs written.
  readonly #to = this.#f.local(I32)
  readonly #count = this.#f.local(I32)
  readonly #digits = this.#f.local(V128)
  readonly #bytes = this.#f.local(V128)
  readonly #from = this.#f.local(I32)
  readonly #target = this.#f.local(I32)
  readonly #rest = this.#f.local(I64)

  encode() {
    return this.#record.encode({
      load: () => {
        this.#f.put(set(this.#to, i32s.load(i32(WORD.end))), set(this.#at, i32s.load(i32(WORD.next))))
        this.#f.put(set(this.#count, i32s.load(i32(WORD.count))), set(this.#digits, v128s.load(i32(TEXT_AT))))
      },
      save: () => {
        this.#f.put(i32s.store(i32(WORD.end), 0, get(this.#to)), i32s.store(i32(WORD.next), 0, get(this.#at)))
        this.#f.put(i32s.store(i32(WORD.count), 0, get(this.#count)))
      },
      write: () => {
        this.#log(this.#record.readRecord((data) => this.#requireSpace(data)))
        this.#f.put(set(this.#count, i32s.add(get(this.#count), i32(1))))
      },
    })
  }

  #log({ logIndex, transactionIndex, addressSlot, topic0Id, topicSlot, lengths, stored, padded, hash }: RecordLocals) {
    const f = this.#f
    f.when(i32s.isMore(get(this.#to), i32(output)), () => this.#write(','))
    this.#write('{"address":"0x')
    this.#copyDigits(addressSlot, ADDRESS_TABLE)
    this.#write('","topics":[')
    f.when(get(topic0Id), () => {
      this.#write('"0x')
      this.#copyDigits(topicSlot, TOPIC_TABLE)
      this.#write('"')
      f.block('topics', () => {
        for (const length of lengths) {
          f.goToWhen('topics', i32s.isZero(get(length)))
          this.#topic(length)
        }
      })
    })
    this.#write('],"data":"0x')
    this.#data({ stored, padded })
    this.#write('","blockNumber":"0x')
    this.#quantity(this.#record.blockNumber())
    this.#write('","transactionHash":"0x')
    this.#hash(get(hash))
    this.#write('","transactionIndex":"0x')
    this.#quantity(i64s.of(get(transactionIndex)))
    this.#write('","blockHash":"0x')
    this.#hash(this.#record.blockHash())
    this.#write('","blockTimestamp":"0x')
    this.#quantity(this.#record.blockTimestamp())
    this.#write('","logIndex":"0x')
    this.#quantity(i64s.of(get(logIndex)))
    this.#write('","removed":false}')
  }

  /** Refuses a log whose JSON may be longer than the rest of the output. */
  #requireSpace({ padded }: { padded: number }): void {
    const end = i32s.add(get(this.#to), i32s.left(get(padded), i32(1)))
    this.#record.refuseWhen(i32s.isMore(end, i32(OUTPUT_END - ROOM)))
  }

  #advance(length: Code): void {
    this.#f.put(set(this.#to, i32s.add(get(this.#to), length)))
  }

  /** Constant text, copied 16 bytes at a time. */
  #write(text: string): void {
    const from = TEXT_AT + this.text.length
    this.text.push(...Buffer.from(text.padEnd(Math.ceil(text.length / 16) * 16)))
    this.#copy16s(i32(from), text.length)
  }

  #copyDigits(slot: number, { digits }: { digits: number }): void {
    this.#copy16s(i32s.add(get(slot), i32(SLOT_DIGITS)), digits)
  }

  #copy16s(from: Code, length: number): void {
    for (let i = 0; i < length; i += 16) this.#f.put(v128s.store(get(this.#to), i, v128s.load(from, i)))
    this.#advance(i32(length))
  }

  /** `,"0x…"` of the next bytes of the input; `length` is their number plus 1. */
  #topic(length: number): void {
    const f = this.#f
    this.#write(',"0x')
    f.put(set(length, i32s.sub(get(length), i32(1))))
    for (let i = 0; i < 64; i += 16) f.put(v128s.store(get(this.#to), i, v128s.constant(ZEROS)))
    const zeros = i32s.sub(i32(64), i32s.left(get(length), i32(1)))
    this.#advance(zeros)
    this.#takeHex(length)
    this.#write('"')
  }

  #data({ stored, padded }: { stored: number; padded: number }): void {
    const f = this.#f
    const zeros = f.local(I32)
    f.put(set(zeros, i32s.left(i32s.sub(get(padded), get(stored)), i32(1))))
    f.put(memoryFill(get(this.#to), i32(48), get(zeros)))
    this.#advance(get(zeros))
    this.#takeHex(stored)
  }

  /** Hex digits of the next `length` bytes of the input. */
  #takeHex(length: number): void {
    const f = this.#f
    f.put(set(this.#target, get(this.#to)), set(this.#from, get(this.#at)))
    f.put(set(this.#at, i32s.add(get(this.#at), get(length))))
    f.loop('hex', () =>
      f.when(i32s.isLess(get(this.#from), get(this.#at)), () => {
        this.#hex16(get(this.#from), get(this.#target), 0)
        f.put(set(this.#from, i32s.add(get(this.#from), i32(16))))
        f.put(set(this.#target, i32s.add(get(this.#target), i32(32))))
        f.goTo('hex')
      }),
    )
    this.#advance(i32s.left(get(length), i32(1)))
  }

  #hash(from: Code): void {
    this.#hex16(from, get(this.#to), 0)
    this.#hex16(from, get(this.#to), 16)
    this.#advance(i32(64))
  }

  /** The 32 digits of the 16 bytes at `from + offset`, to `to + 2 * offset`. */
  #hex16(from: Code, to: Code, offset: number): void {
    const { swizzle, shiftRight8s, and, lowPairs, highPairs, constant } = v128s
    const bytes = get(this.#bytes)
    const high = shiftRight8s(bytes, i32(4))
    const low = and(bytes, constant(new Array<number>(16).fill(15)))
    this.#f.put(set(this.#bytes, v128s.load(from, offset)))
    this.#f.put(v128s.store(to, 2 * offset, swizzle(get(this.#digits), lowPairs(high, low))))
    this.#f.put(v128s.store(to, 2 * offset + 16, swizzle(get(this.#digits), highPairs(high, low))))
  }

  /** Hex digits of a number without leading zeros, written from the last one. */
  #quantity(number: Code): void {
    const f = this.#f
    f.put(set(this.#rest, number))
    const bits = i64s.sub(i64(67n), i64s.leadingZeros(i64s.or(get(this.#rest), i64(1n))))
    this.#advance(i32s.right(i32s.low(bits), i32(2)))
    f.put(set(this.#target, get(this.#to)))
    f.loop('quantity', () => {
      f.put(set(this.#target, i32s.sub(get(this.#target), i32(1))))
      const digit = i32s.and(i32s.low(get(this.#rest)), i32(15))
      f.put(i32s.storeByte(get(this.#target), 0, i32s.loadByte(digit, TEXT_AT)))
      f.put(set(this.#rest, i64s.right(get(this.#rest), i64(4n))))
      f.goToWhen('quantity', i32s.isZero(i64s.isZero(get(this.#rest))))
    })
  }
}
