import {
  assembleModule,
  type Code,
  call,
  FunctionWriter,
  get,
  I32,
  I64,
  i32,
  i32s,
  i64,
  i64s,
  memoryFill,
  RETURN,
  set,
  V128,
  v128s,
} from './assembler.js'

/** Addresses in memory, and sizes in bytes. */
export const LOG_JSON_MEMORY = {
  /** Four 32-bit words, read and written by `encode`: end of the JSON, next record, logs written, missing id. */
  state: 0,
  /** Slots of 64 bytes: id + 1, unused, 40 hex digits of the address. An id's slot is its low bits. */
  addresses: 0x1_0000,
  /** Slots of 80 bytes: id + 1, unused, 64 hex digits of the topic. */
  topics: 0x5_0000,
  input: 0x7_0000,
  output: 0x50_0000,
} as const

/** Special numbers in records. */
export const RECORD_NUMBERS = {
  /** Added to the first number of a block. */
  blockFlag: 0x10_0000,
  /** Replaces the log index in a record that has only the block, for the logs that follow. */
  blockOnly: 0xf_ffff,
  /** A log that has no record. */
  noRecord: 0xf_fffe,
} as const

/** Slots, a power of two, and their sizes in bytes. */
export const ADDRESS_SLOTS = { count: 4_096, bytes: 64 } as const
export const TOPIC_SLOTS = { count: 1_024, bytes: 80 } as const
/** Bytes from a slot to its digits. */
export const SLOT_DIGITS = 8
/** Maximum bytes of records. 500 typical ones have 60 KB, with 8 KiB of data each 4.2 MB; pages that are not used take
 *  no memory. */
export const LOG_INPUT_BYTES = 0x48_f000

/** Results of `encode`. */
export const DONE = 0
/** The address of the missing id has no slot: the caller fills it and calls again. */
export const ADDRESS_MISSING = 1
/** Like `ADDRESS_MISSING`, for the first topic. */
export const TOPIC_MISSING = 2
/** A log has no record, a record is damaged or has a number that SQLite's `char` does not encode, or the JSON is too
 *  long. */
export const UNSUPPORTED = 3

const PAGES = 224
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

const DECODE = 0

/** A function that decodes the UTF-8 code point of 2 to 4 bytes at an address: the code point, plus its length in the
 *  highest byte. Surrogates are code points like others. */
function writeDecode() {
  const f = new FunctionWriter([I32], [I32])
  const at = 0
  const first = f.local(I32)
  const next = (i: number): Code => i32s.and(i32s.loadByte(get(at), i), i32(63))
  const join = (bits: number, length: number): Code => {
    const start = i32s.and(get(first), i32(bits))
    const value = Array.from({ length: length - 1 }, (_, i) => next(i + 1)).reduce<Code>(
      (high, low) => i32s.or(i32s.left(high, i32(6)), low),
      start,
    )
    return i32s.or(value, i32(length << 24))
  }
  f.put(set(first, i32s.loadByte(get(at))))
  f.when(i32s.isLess(get(first), i32(0xe0)), () => f.put(join(31, 2), RETURN))
  f.when(i32s.isLess(get(first), i32(0xf0)), () => f.put(join(15, 3), RETURN))
  f.put(join(7, 4))
  return f.end()
}

const { state, addresses, topics, input, output } = LOG_JSON_MEMORY
const WORD = { end: state, next: state + 4, count: state + 8, missing: state + 12 } as const
// The block of the next log: 64-bit number and timestamp, 32-bit address of its hash.
const BLOCK = { number: state + 16, timestamp: state + 24, hashAt: state + 32 } as const
// SQLite's `char` writes this for a number that is negative or above 0x10ffff.
const NOT_ENCODED = 0xfffd

/** Slots in memory: where, how many, and the digits in each. */
interface Slots {
  at: number
  count: number
  bytes: number
  digits: number
}
const ADDRESS_TABLE: Slots = { at: addresses, ...ADDRESS_SLOTS, digits: 40 }
const TOPIC_TABLE: Slots = { at: topics, ...TOPIC_SLOTS, digits: 64 }

/** Writes the function, and collects the constant text it copies. */
class LogJsonWriter {
  /** The hex digits, then all text. */
  readonly text: number[] = [...DIGITS]
  readonly #f = new FunctionWriter([I32], [I32])
  readonly #inputEnd = 0
  // Next input byte, next output byte, logs written.
  readonly #at = this.#f.local(I32)
  readonly #to = this.#f.local(I32)
  readonly #count = this.#f.local(I32)
  readonly #digits = this.#f.local(V128)
  readonly #bytes = this.#f.local(V128)
  readonly #from = this.#f.local(I32)
  readonly #target = this.#f.local(I32)
  readonly #rest = this.#f.local(I64)

  encode() {
    const f = this.#f
    f.put(set(this.#inputEnd, i32s.add(get(this.#inputEnd), i32(input))))
    f.put(set(this.#to, i32s.load(i32(WORD.end))), set(this.#at, i32s.load(i32(WORD.next))))
    f.put(set(this.#count, i32s.load(i32(WORD.count))), set(this.#digits, v128s.load(i32(TEXT_AT))))
    f.block('done', () => {
      f.loop('record', () => {
        this.#saveState()
        f.goToWhen('done', i32s.isAtLeast(get(this.#at), get(this.#inputEnd)))
        this.#record()
        f.put(set(this.#count, i32s.add(get(this.#count), i32(1))))
        f.goTo('record')
      })
    })
    const allRead = i32s.equal(get(this.#at), get(this.#inputEnd))
    f.when(i32s.isZero(allRead), () => f.put(i32(UNSUPPORTED), RETURN))
    f.put(i32(DONE))
    return f.end('encode')
  }

  #saveState(): void {
    this.#f.put(i32s.store(i32(WORD.end), 0, get(this.#to)), i32s.store(i32(WORD.next), 0, get(this.#at)))
    this.#f.put(i32s.store(i32(WORD.count), 0, get(this.#count)))
  }

  #record(): void {
    const f = this.#f
    const logIndex = f.local(I32)
    const hasBlock = f.local(I32)
    this.#readNumber(logIndex)
    f.put(set(hasBlock, i32s.right(get(logIndex), i32(20))))
    f.when(get(hasBlock), () => this.#readBlock(logIndex))
    this.#refuseWhen(i32s.equal(get(logIndex), i32(RECORD_NUMBERS.noRecord)))
    const transactionIndex = this.#nextNumber()
    const addressId = this.#nextPair()
    const topic0Id = this.#nextPair()
    const lengths = [this.#nextNumber(), this.#nextNumber(), this.#nextNumber()]
    for (const length of lengths) this.#refuseWhen(i32s.isMore(get(length), i32(33)))
    const stored = this.#nextNumber()
    const padded = this.#nextNumber()
    // The length plus 1; 0 for a length of 32.
    f.when(i32s.isZero(get(padded)), () => f.put(set(padded, i32(33))))
    f.put(set(padded, i32s.sub(get(padded), i32(1))))
    this.#requireRoom({ stored, padded })
    f.when(get(hasBlock), () => this.#takeBlockHash())
    const hash = f.local(I32)
    f.put(set(hash, get(this.#at)), set(this.#at, i32s.add(get(this.#at), i32(32))))
    const addressSlot = this.#slot(addressId, ADDRESS_TABLE, ADDRESS_MISSING)
    const topicSlot = f.local(I32)
    f.when(get(topic0Id), () => f.put(set(topicSlot, get(this.#slot(topic0Id, TOPIC_TABLE, TOPIC_MISSING)))))
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
    this.#quantity(i64s.load(i32(BLOCK.number)))
    this.#write('","transactionHash":"0x')
    this.#hash(get(hash))
    this.#write('","transactionIndex":"0x')
    this.#quantity(i64s.of(get(transactionIndex)))
    this.#write('","blockHash":"0x')
    this.#hash(i32s.load(i32(BLOCK.hashAt)))
    this.#write('","blockTimestamp":"0x')
    this.#quantity(i64s.load(i32(BLOCK.timestamp)))
    this.#write('","logIndex":"0x')
    this.#quantity(i64s.of(get(logIndex)))
    this.#write('","removed":false}')
  }

  /** Reads the rest of a block, whose first number is in `first`, and then the log index into it. */
  #readBlock(first: number): void {
    const f = this.#f
    const join = (high: Code, low: number): Code => i64s.or(i64s.left(i64s.of(high), i64(20n)), i64s.of(get(low)))
    const low = this.#nextNumber()
    const number = join(i32s.and(get(first), i32(0xf_ffff)), low)
    f.put(i64s.store(i32(BLOCK.number), 0, number))
    const high = this.#nextNumber()
    this.#readNumber(low)
    f.put(i64s.store(i32(BLOCK.timestamp), 0, join(get(high), low)))
    this.#readNumber(first)
    f.when(i32s.equal(get(first), i32(RECORD_NUMBERS.blockOnly)), () => {
      this.#takeBlockHash()
      f.goTo('record')
    })
  }

  #takeBlockHash(): void {
    this.#f.put(i32s.store(i32(BLOCK.hashAt), 0, get(this.#at)), set(this.#at, i32s.add(get(this.#at), i32(32))))
  }

  #refuseWhen(condition: Code): void {
    this.#f.when(condition, () => this.#f.put(i32(UNSUPPORTED), RETURN))
  }

  /** Refuses a record that is longer than the input or whose JSON may be longer than the rest of the output. Hashes and
   *  topics are within what may be read beyond the input. */
  #requireRoom({ stored, padded }: { stored: number; padded: number }): void {
    this.#refuseWhen(i32s.isMore(get(stored), get(padded)))
    this.#refuseWhen(i32s.isMore(i32s.add(get(this.#at), get(stored)), get(this.#inputEnd)))
    const end = i32s.add(get(this.#to), i32s.left(get(padded), i32(1)))
    this.#refuseWhen(i32s.isMore(end, i32(OUTPUT_END - ROOM)))
  }

  #nextNumber(): number {
    const number = this.#f.local(I32)
    this.#readNumber(number)
    return number
  }

  /** An id as two numbers: what is above its low 20 bits, and these. Refuses more than 31 bits. */
  #nextPair(): number {
    const [high, low] = [this.#nextNumber(), this.#nextNumber()]
    this.#refuseWhen(i32s.isMore(get(high), i32(0x7ff)))
    this.#f.put(set(low, i32s.or(i32s.left(get(high), i32(20)), get(low))))
    return low
  }

  /** The next code point of the input. */
  #readNumber(number: number): void {
    const f = this.#f
    f.put(set(number, i32s.loadByte(get(this.#at))))
    f.when(
      i32s.isLess(get(number), i32(128)),
      () => f.put(set(this.#at, i32s.add(get(this.#at), i32(1)))),
      () => {
        f.put(set(number, call(DECODE, get(this.#at))))
        f.put(set(this.#at, i32s.add(get(this.#at), i32s.right(get(number), i32(24)))))
        f.put(set(number, i32s.and(get(number), i32(0xff_ffff))))
        this.#refuseWhen(i32s.equal(get(number), i32(NOT_ENCODED)))
      },
    )
  }

  /** A local with the address of the id's slot. Returns from the function when the slot has another id. */
  #slot(id: number, { at, count, bytes }: Slots, missing: number): number {
    const f = this.#f
    const slot = f.local(I32)
    f.put(set(slot, i32s.add(i32s.multiply(i32s.and(get(id), i32(count - 1)), i32(bytes)), i32(at))))
    const isOther = i32s.xor(i32s.load(get(slot)), i32s.add(get(id), i32(1)))
    f.when(isOther, () => f.put(i32s.store(i32(WORD.missing), 0, get(id)), i32(missing), RETURN))
    return slot
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

  #copyDigits(slot: number, { digits }: Slots): void {
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
