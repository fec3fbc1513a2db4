import { type Code, call, FunctionWriter, get, I32, i32, i32s, i64, i64s, RETURN, set } from './assembler.js'

/* The part of a module that reads records of logs, whose layout is in store/rows/logRecords. */

/** Special numbers in records. */
export const RECORD_NUMBERS = {
  /** Added to the first number of a block. */
  blockFlag: 0x10_0000,
  /** Replaces the log index in a record that has only the block, for the logs that follow. */
  blockOnly: 0xf_ffff,
  /** A log that has no record. */
  noRecord: 0xf_fffe,
} as const

/** Data of a log that has a record, in bytes: 500 logs make at most 8 MB of JSON. */
export const MAX_RECORD_DATA = 8_192

/** Maximum bytes of records. 500 typical ones have 60 KB, with 8 KiB of data each 4.2 MB; pages that are not used take
 *  no memory. */
export const LOG_INPUT_BYTES = 0x48_f000

/** Results of `encode`. */
export const DONE = 0
/** The address of the missing id has no slot: the caller fills it and calls again. */
export const ADDRESS_MISSING = 1
/** Like `ADDRESS_MISSING`, for the first topic. */
export const TOPIC_MISSING = 2
/** A log has no record, a record is damaged or has a number that SQLite's `char` does not encode, or the output is too
 *  long. */
export const UNSUPPORTED = 3

/** Index of `writeDecode` among the functions of the module. */
const DECODE = 0
/** SQLite's `char` writes this for a number that is negative or above 0x10ffff. */
export const NOT_ENCODED = 0xfffd

/** Slots in memory: where, how many, a power of two, and the bytes of each. A slot begins with its id plus 1; an id's
 *  slot is its low bits. */
export interface Slots {
  readonly at: number
  readonly count: number
  readonly bytes: number
}

/** Addresses in memory. */
export interface RecordMemory {
  readonly input: number
  /** The block of the next log: 64-bit number and timestamp, 32-bit address of its hash. */
  readonly block: number
  /** The missing id, 32 bits. */
  readonly missing: number
  readonly addresses: Slots
  readonly topics: Slots
}

/** The locals of a record, 32 bits each. */
export interface RecordLocals {
  readonly logIndex: number
  readonly transactionIndex: number
  /** Slot of the address. */
  readonly addressSlot: number
  /** 0: no topics. */
  readonly topic0Id: number
  /** Slot of the first topic, if there is one. */
  readonly topicSlot: number
  /** Stored bytes of topics 1 to 3 plus 1; 0: absent. */
  readonly lengths: readonly number[]
  /** Bytes of the data, and of these with their leading zeros. */
  readonly stored: number
  readonly padded: number
  /** Address of the transaction hash. */
  readonly hash: number
}

/** Returns a function that decodes the UTF-8 code point of 2 to 4 bytes at an address: the code point, plus its length
 *  in the highest byte. Surrogates are code points like others. It is the first function of a module. */
export function writeDecode() {
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

/** Returns a function that writes a number as SQLite's `char` does, in UTF-8, at an address: the address after it, 0
 *  for one that `char` does not encode. */
export function writeEncode() {
  const f = new FunctionWriter([I32, I32], [I32])
  const [to, value] = [0, 1]
  const put = (offset: number, mark: number, shift: number, bits: number) => {
    const part = i32s.and(i32s.right(get(value), i32(shift)), i32(bits))
    f.put(i32s.storeByte(get(to), offset, i32s.or(part, i32(mark))))
  }
  const done = (length: number) => f.put(i32s.add(get(to), i32(length)), RETURN)
  f.when(i32s.isLess(get(value), i32(0x80)), () => {
    put(0, 0, 0, 0x7f)
    done(1)
  })
  f.when(i32s.isLess(get(value), i32(0x800)), () => {
    put(0, 0xc0, 6, 0x1f)
    put(1, 0x80, 0, 0x3f)
    done(2)
  })
  f.when(i32s.isLess(get(value), i32(0x1_0000)), () => {
    f.when(i32s.equal(get(value), i32(NOT_ENCODED)), () => f.put(i32(0), RETURN))
    put(0, 0xe0, 12, 0x0f)
    put(1, 0x80, 6, 0x3f)
    put(2, 0x80, 0, 0x3f)
    done(3)
  })
  f.when(i32s.isMore(get(value), i32(0x10_ffff)), () => f.put(i32(0), RETURN))
  put(0, 0xf0, 18, 0x07)
  put(1, 0x80, 12, 0x3f)
  put(2, 0x80, 6, 0x3f)
  put(3, 0x80, 0, 0x3f)
  f.put(i32s.add(get(to), i32(4)))
  return f.end()
}

/** Writes a function `encode(length)` that reads records of that many bytes, one after the other. */
export class LogRecordCode {
  readonly f = new FunctionWriter([I32], [I32])
  /** The parameter, then the address of the end of the input. */
  readonly inputEnd = 0
  /** Address of the next input byte. */
  readonly at = this.f.local(I32)
  readonly #memory: RecordMemory

  constructor(memory: RecordMemory) {
    this.#memory = memory
  }

  /** Writes the loop over all records and ends the function. `load` sets the locals, `at` among them, `save` stores
   *  them before each record, `write` handles a record. */
  encode({ load, save, write }: { load(): void; save(): void; write(): void }) {
    const { f, at, inputEnd } = this
    f.put(set(inputEnd, i32s.add(get(inputEnd), i32(this.#memory.input))))
    load()
    f.block('done', () => {
      f.loop('record', () => {
        save()
        f.goToWhen('done', i32s.isAtLeast(get(at), get(inputEnd)))
        write()
        f.goTo('record')
      })
    })
    f.when(i32s.isZero(i32s.equal(get(at), get(inputEnd))), () => f.put(i32(UNSUPPORTED), RETURN))
    f.put(i32(DONE))
    return f.end('encode')
  }

  /** Reads a record up to its topics, or a whole block record, after which the next record follows. `requireSpace`
   *  refuses a log that is too long. */
  readRecord(requireSpace: (data: Pick<RecordLocals, 'stored' | 'padded'>) => void): RecordLocals {
    const { f, at } = this
    const { addresses, topics } = this.#memory
    const logIndex = f.local(I32)
    const hasBlock = f.local(I32)
    this.#readNumber(logIndex)
    f.put(set(hasBlock, i32s.right(get(logIndex), i32(20))))
    f.when(get(hasBlock), () => this.#readBlock(logIndex))
    this.refuseWhen(i32s.equal(get(logIndex), i32(RECORD_NUMBERS.noRecord)))
    const transactionIndex = this.#nextNumber()
    const addressId = this.#nextPair()
    const topic0Id = this.#nextPair()
    const lengths = [this.#nextNumber(), this.#nextNumber(), this.#nextNumber()]
    for (const length of lengths) this.refuseWhen(i32s.isMore(get(length), i32(33)))
    const stored = this.#nextNumber()
    const padded = this.#nextNumber()
    // The length plus 1; 0 for a length of 32.
    f.when(i32s.isZero(get(padded)), () => f.put(set(padded, i32(33))))
    f.put(set(padded, i32s.sub(get(padded), i32(1))))
    // Hashes and topics are within what may be read beyond the input.
    this.refuseWhen(i32s.isMore(get(stored), get(padded)))
    this.refuseWhen(i32s.isMore(i32s.add(get(at), get(stored)), get(this.inputEnd)))
    requireSpace({ stored, padded })
    f.when(get(hasBlock), () => this.#takeBlockHash())
    const hash = f.local(I32)
    f.put(set(hash, get(at)), set(at, i32s.add(get(at), i32(32))))
    const addressSlot = this.#slot(addressId, addresses, ADDRESS_MISSING)
    const topicSlot = f.local(I32)
    f.when(get(topic0Id), () => f.put(set(topicSlot, get(this.#slot(topic0Id, topics, TOPIC_MISSING)))))
    return { logIndex, transactionIndex, addressSlot, topic0Id, topicSlot, lengths, stored, padded, hash }
  }

  /** Returns from the function on a condition. */
  refuseWhen(condition: Code): void {
    this.f.when(condition, () => this.f.put(i32(UNSUPPORTED), RETURN))
  }

  /** The number of the block, 64 bits. */
  blockNumber(): Code {
    return i64s.load(i32(this.#memory.block))
  }

  /** The timestamp of the block, 64 bits. */
  blockTimestamp(): Code {
    return i64s.load(i32(this.#memory.block + 8))
  }

  /** The address of the hash of the block. */
  blockHash(): Code {
    return i32s.load(i32(this.#memory.block + 16))
  }

  /** Reads the rest of a block, whose first number is in `first`, and then the log index into it. */
  #readBlock(first: number): void {
    const { f } = this
    const { block } = this.#memory
    const join = (high: Code, low: number): Code => i64s.or(i64s.left(i64s.of(high), i64(20n)), i64s.of(get(low)))
    const low = this.#nextNumber()
    const number = join(i32s.and(get(first), i32(0xf_ffff)), low)
    f.put(i64s.store(i32(block), 0, number))
    const high = this.#nextNumber()
    this.#readNumber(low)
    f.put(i64s.store(i32(block + 8), 0, join(get(high), low)))
    this.#readNumber(first)
    f.when(i32s.equal(get(first), i32(RECORD_NUMBERS.blockOnly)), () => {
      this.#takeBlockHash()
      f.goTo('record')
    })
  }

  #takeBlockHash(): void {
    const { f, at } = this
    f.put(i32s.store(i32(this.#memory.block + 16), 0, get(at)), set(at, i32s.add(get(at), i32(32))))
  }

  #nextNumber(): number {
    const number = this.f.local(I32)
    this.#readNumber(number)
    return number
  }

  /** An id as two numbers: what is above its low 20 bits, and these. Refuses more than 31 bits. */
  #nextPair(): number {
    const [high, low] = [this.#nextNumber(), this.#nextNumber()]
    this.refuseWhen(i32s.isMore(get(high), i32(0x7ff)))
    this.f.put(set(low, i32s.or(i32s.left(get(high), i32(20)), get(low))))
    return low
  }

  /** The next code point of the input. */
  #readNumber(number: number): void {
    const { f, at } = this
    f.put(set(number, i32s.loadByte(get(at))))
    f.when(
      i32s.isLess(get(number), i32(128)),
      () => f.put(set(at, i32s.add(get(at), i32(1)))),
      () => {
        f.put(set(number, call(DECODE, get(at))))
        f.put(set(at, i32s.add(get(at), i32s.right(get(number), i32(24)))))
        f.put(set(number, i32s.and(get(number), i32(0xff_ffff))))
        this.refuseWhen(i32s.equal(get(number), i32(NOT_ENCODED)))
      },
    )
  }

  /** A local with the address of the id's slot. Returns from the function when the slot has another id. */
  #slot(id: number, { at, count, bytes }: Slots, missing: number): number {
    const { f } = this
    const slot = f.local(I32)
    f.put(set(slot, i32s.add(i32s.multiply(i32s.and(get(id), i32(count - 1)), i32(bytes)), i32(at))))
    const isOther = i32s.xor(i32s.load(get(slot)), i32s.add(get(id), i32(1)))
    f.when(isOther, () => f.put(i32s.store(i32(this.#memory.missing), 0, get(id)), i32(missing), RETURN))
    return slot
  }
}
