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
  RETURN,
  set,
  v128s,
} from './assembler.js'
import {
  DONE,
  MAX_RECORD_DATA,
  NOT_ENCODED,
  RECORD_NUMBERS,
  UNSUPPORTED,
  writeDecode,
  writeEncode,
} from './logRecordCode.js'
import { writeColumnInteger, writeVarint } from './sqliteValueCode.js'

// 16-byte copies read and write beyond an end.
const ROOM = 64
const BLOCKS_BYTES = 0x4_0000
const HASHES_BYTES = 0x4_0000
const PAGES_BYTES = 0x10_0000
const BLOCKS_AT = 0x1000
const HASHES_AT = BLOCKS_AT + BLOCKS_BYTES + ROOM
const PAGES_AT = HASHES_AT + HASHES_BYTES + ROOM
const OUTPUT_AT = PAGES_AT + PAGES_BYTES + ROOM
const OUTPUT_BYTES = 0x18_0000

/** Addresses in memory, and sizes in bytes. */
export const LOG_PAGES_MEMORY = {
  /** 32-bit words, read by `encode`: bytes of a page, and of its part that has cells; bytes of the blocks; number of
   *  hashes; transaction index of the first log. */
  parameters: 0,
  /** 64-bit words, read by `encode`: ids of the first log, and of the one after the last. */
  range: 32,
  /** A 32-bit word, written by `encode`: the end of the records. */
  end: 48,
  /** For each block, in order: code points of UTF-8 for the log index of its first log in the range, their number (0: a
   *  block without records), and its first transaction after that of the first block; then its block record. */
  blocks: BLOCKS_AT,
  blocksBytes: BLOCKS_BYTES,
  /** Hashes of the transactions, from that of the first log on. */
  hashes: HASHES_AT,
  hashesBytes: HASHES_BYTES,
  /** Leaf pages of the table, one after the other. */
  pages: PAGES_AT,
  pagesBytes: PAGES_BYTES,
  output: OUTPUT_AT,
} as const

const { parameters, range, end } = LOG_PAGES_MEMORY
const WORD = {
  pageBytes: parameters,
  usableBytes: parameters + 4,
  blocksLength: parameters + 8,
  hashCount: parameters + 12,
  firstTransaction: parameters + 16,
  from: range,
  to: range + 8,
  end,
} as const

/* Functions of the module. */
const DECODE = 0
const VARINT = 1
const INTEGER = 2
const ENCODE = 3

/** Leaf page of a table, and what precedes its cell pointers. https://sqlite.org/fileformat2.html#b_tree_pages */
const LEAF_TYPE = 13
const LEAF_HEADER = 8
/** A cell with more payload than the usable bytes without these continues on overflow pages. */
const OVERFLOW_MARGIN = 35
const MAX_PAGE_BYTES = 65_536
/** Columns of `logs`: id, tx_index, address_id, topic0_id, topic1, topic2, topic3, data, data_length. */
const COLUMNS = 9

/** The module's bytes. It exports `memory` and `encode(pages)`, which writes the records of the logs in that many pages
 *  whose ids are in the range, as store/rows/logRecords has them. It returns `DONE`, or `UNSUPPORTED` when a log is
 *  missing or has no record, when the pages are damaged, or when the records do not fit. */
export function assembleLogPages(): Uint8Array<ArrayBuffer> {
  const pages = Math.ceil((OUTPUT_AT + OUTPUT_BYTES + ROOM) / 0x1_0000)
  const functions = [writeDecode(), writeVarint(), writeColumnInteger(), writeEncode(), new LogPagesWriter().encode()]
  return assembleModule({ pages, functions })
}

class LogPagesWriter {
  readonly #f = new FunctionWriter([I32], [I32])
  /** The parameter, then the address of the end of the pages. */
  readonly #pagesEnd = 0
  /** The id of the next log. */
  readonly #id = this.#f.local(I64)
  readonly #rowid = this.#f.local(I64)
  readonly #varint = this.#f.local(I64)
  readonly #page = this.#f.local(I32)
  /** Addresses of a pointer to a cell, and of the end of the pointers. */
  readonly #pointer = this.#f.local(I32)
  readonly #pointersEnd = this.#f.local(I32)
  /** Addresses in a cell, and of the end of the page's usable part. */
  readonly #at = this.#f.local(I32)
  readonly #body = this.#f.local(I32)
  readonly #limit = this.#f.local(I32)
  readonly #payload = this.#f.local(I32)
  readonly #types = this.#f.locals(I32, COLUMNS)
  /** Of the current block: next input byte, index of the next log, logs left, first transaction. */
  readonly #block = this.#f.local(I32)
  readonly #logIndex = this.#f.local(I32)
  readonly #left = this.#f.local(I32)
  readonly #transaction = this.#f.local(I32)
  readonly #to = this.#f.local(I32)
  readonly #value = this.#f.local(I32)
  readonly #length = this.#f.local(I32)
  readonly #from = this.#f.local(I32)

  encode() {
    const f = this.#f
    f.put(set(this.#pagesEnd, i32s.multiply(get(this.#pagesEnd), this.#word(WORD.pageBytes))))
    this.#refuseWhen(i32s.isMore(get(this.#pagesEnd), i32(PAGES_BYTES)))
    f.put(set(this.#pagesEnd, i32s.add(get(this.#pagesEnd), i32(PAGES_AT))))
    f.put(set(this.#page, i32(PAGES_AT)), set(this.#block, i32(BLOCKS_AT)), set(this.#to, i32(OUTPUT_AT)))
    f.put(set(this.#id, i64s.load(i32(WORD.from))))
    f.block('done', () =>
      f.loop('page', () => {
        f.goToWhen('done', i32s.isAtLeast(get(this.#page), get(this.#pagesEnd)))
        this.#cells()
        f.put(set(this.#page, i32s.add(get(this.#page), this.#word(WORD.pageBytes))))
        f.goTo('page')
      }),
    )
    this.#refuseUnless(i64s.equal(get(this.#id), i64s.load(i32(WORD.to))))
    this.#refuseWhen(get(this.#left))
    this.#refuseUnless(i32s.equal(get(this.#block), i32s.add(this.#word(WORD.blocksLength), i32(BLOCKS_AT))))
    f.put(i32s.store(i32(WORD.end), 0, get(this.#to)), i32(DONE))
    return f.end('encode')
  }

  /** Writes the records of the page's cells whose ids are in the range. */
  #cells(): void {
    const f = this.#f
    this.#refuseUnless(i32s.equal(i32s.loadByte(get(this.#page)), i32(LEAF_TYPE)))
    f.put(set(this.#limit, i32s.add(get(this.#page), this.#word(WORD.usableBytes))))
    f.put(set(this.#pointer, i32s.add(get(this.#page), i32(LEAF_HEADER))))
    const count = this.#twoBytes(get(this.#page), 3)
    f.put(set(this.#pointersEnd, i32s.add(get(this.#pointer), i32s.left(count, i32(1)))))
    this.#refuseWhen(i32s.isMore(get(this.#pointersEnd), get(this.#limit)))
    f.block('cells', () =>
      f.loop('cell', () => {
        f.goToWhen('cells', i32s.isAtLeast(get(this.#pointer), get(this.#pointersEnd)))
        this.#beginCell()
        f.goToWhen('cell', i64s.isLess(get(this.#rowid), i64s.load(i32(WORD.from))))
        f.goToWhen('done', i64s.isAtLeast(get(this.#rowid), i64s.load(i32(WORD.to))))
        this.#refuseUnless(i64s.equal(get(this.#rowid), get(this.#id)))
        this.#readTypes()
        f.when(i32s.isZero(get(this.#left)), () => this.#nextBlock())
        this.#writeRecord()
        f.put(set(this.#id, i64s.add(get(this.#id), i64(1n))))
        f.goTo('cell')
      }),
    )
  }

  /** Reads the size of the payload and the id of a cell. */
  #beginCell(): void {
    const f = this.#f
    f.put(set(this.#at, i32s.add(get(this.#page), this.#twoBytes(get(this.#pointer), 0))))
    f.put(set(this.#pointer, i32s.add(get(this.#pointer), i32(2))))
    this.#refuseWhen(i32s.isLess(get(this.#at), get(this.#pointersEnd)))
    // At most 18 bytes of a cell that may begin at the end of the page: within `ROOM`.
    this.#refuseWhen(i32s.isAtLeast(get(this.#at), get(this.#limit)))
    this.#readVarint(this.#payload)
    f.put(set(this.#varint, call(VARINT, get(this.#at))))
    f.put(set(this.#rowid, i64s.and(get(this.#varint), i64((1n << 56n) - 1n))))
    this.#takeVarint()
  }

  /** Reads the header of the record: the serial types of its columns. Refuses one that continues on other pages. */
  #readTypes(): void {
    const f = this.#f
    const most = i32s.sub(this.#word(WORD.usableBytes), i32(OVERFLOW_MARGIN))
    this.#refuseWhen(i32s.isMore(get(this.#payload), most))
    this.#refuseWhen(i32s.isMore(i32s.add(get(this.#at), get(this.#payload)), get(this.#limit)))
    f.put(set(this.#length, i32s.loadByte(get(this.#at))))
    // A header of more than 127 bytes does not occur, and one of more than the payload is damaged.
    this.#refuseWhen(i32s.isMore(get(this.#length), i32(127)))
    this.#refuseWhen(i32s.isMore(get(this.#length), get(this.#payload)))
    f.put(set(this.#body, i32s.add(get(this.#at), get(this.#length))))
    f.put(
      set(this.#payload, i32s.add(get(this.#at), get(this.#payload))),
      set(this.#at, i32s.add(get(this.#at), i32(1))),
    )
    for (const type of this.#types) this.#readVarint(type)
    this.#refuseUnless(i32s.equal(get(this.#at), get(this.#body)))
    this.#refuseWhen(get(this.#types[0])) // the id is in the cell
  }

  /** Writes the record of a log: its numbers, the hash of its transaction, its topics and data. */
  #writeRecord(): void {
    const f = this.#f
    const [, transactionType, addressType, topic0Type, ...rest] = this.#types
    const [topic1, topic2, topic3, data, dataLengthType] = rest
    // Bytes of the values that are in the record as they are in the cell, one after the other.
    f.put(set(this.#length, i32(0)))
    this.#number(get(this.#logIndex))
    this.#readInteger(transactionType)
    this.#number(get(this.#value))
    this.#transactionHash()
    this.#readInteger(addressType)
    this.#pair()
    f.put(set(this.#value, i32(0)))
    f.when(get(topic0Type), () => this.#readInteger(topic0Type))
    this.#pair()
    for (const type of [topic1, topic2, topic3]) this.#blobLength(type, { isNullable: true })
    this.#blobLength(data, { isNullable: false })
    f.put(set(this.#at, get(this.#body)), set(this.#body, i32s.add(get(this.#body), get(this.#length))))
    f.put(set(this.#value, i32(-1)))
    f.when(get(dataLengthType), () => this.#readInteger(dataLengthType))
    f.put(set(this.#value, i32s.add(get(this.#value), i32(1))))
    this.#refuseWhen(i32s.isMore(get(this.#value), i32(MAX_RECORD_DATA + 1)))
    this.#number(get(this.#value))
    this.#refuseUnless(i32s.equal(get(this.#body), get(this.#payload)))
    for (const offset of [0, 16]) f.put(v128s.store(get(this.#to), offset, v128s.load(get(this.#from), offset)))
    f.put(set(this.#to, i32s.add(get(this.#to), i32(32))))
    const space = i32s.sub(i32(OUTPUT_AT + OUTPUT_BYTES - 512), get(this.#length))
    this.#refuseWhen(i32s.isMore(get(this.#to), space))
    this.#copy()
    f.put(set(this.#logIndex, i32s.add(get(this.#logIndex), i32(1))))
    f.put(set(this.#left, i32s.sub(get(this.#left), i32(1))))
  }

  /** Sets `from` to the hash of the log's transaction, whose index is `value`. */
  #transactionHash(): void {
    const index = i32s.add(get(this.#value), i32s.sub(get(this.#transaction), this.#word(WORD.firstTransaction)))
    this.#f.put(set(this.#from, index))
    this.#refuseWhen(i32s.isAtLeast(get(this.#from), this.#word(WORD.hashCount)))
    this.#f.put(set(this.#from, i32s.add(i32s.left(get(this.#from), i32(5)), i32(HASHES_AT))))
  }

  /** Writes the record of the next block. */
  #nextBlock(): void {
    const f = this.#f
    const blocksEnd = i32s.add(this.#word(WORD.blocksLength), i32(BLOCKS_AT))
    this.#refuseWhen(i32s.isAtLeast(get(this.#block), blocksEnd))
    for (const local of [this.#logIndex, this.#left, this.#transaction]) {
      this.#readNumber()
      f.put(set(local, get(this.#value)))
    }
    this.#refuseWhen(i32s.isZero(get(this.#left)))
    this.#refuseWhen(i32s.isMore(i32s.add(get(this.#logIndex), get(this.#left)), i32(RECORD_NUMBERS.noRecord)))
    f.put(set(this.#from, get(this.#block)))
    // Number and timestamp of two code points each, and the mark of a block record.
    for (let i = 0; i < 5; i++) this.#readNumber()
    f.put(set(this.#block, i32s.add(get(this.#block), i32(32))))
    this.#refuseWhen(i32s.isMore(get(this.#block), blocksEnd))
    f.put(set(this.#length, i32s.sub(get(this.#block), get(this.#from))))
    for (const offset of [0, 16, 32, 48]) {
      f.put(v128s.store(get(this.#to), offset, v128s.load(get(this.#from), offset)))
    }
    f.put(set(this.#to, i32s.add(get(this.#to), get(this.#length))))
  }

  /** Reads the next code point of the blocks into `value`. */
  #readNumber(): void {
    const f = this.#f
    f.put(set(this.#value, i32s.loadByte(get(this.#block))))
    f.when(
      i32s.isLess(get(this.#value), i32(128)),
      () => f.put(set(this.#block, i32s.add(get(this.#block), i32(1)))),
      () => {
        f.put(set(this.#value, call(DECODE, get(this.#block))))
        f.put(set(this.#block, i32s.add(get(this.#block), i32s.right(get(this.#value), i32(24)))))
        f.put(set(this.#value, i32s.and(get(this.#value), i32(0xff_ffff))))
        this.#refuseWhen(i32s.equal(get(this.#value), i32(NOT_ENCODED)))
      },
    )
  }

  /** Reads the integer of a column at `body` into `value`. */
  #readInteger(type: number): void {
    const f = this.#f
    f.put(set(this.#value, call(INTEGER, get(type), get(this.#body))))
    this.#refuseWhen(i32s.right(get(this.#value), i32(31)))
    f.when(i32s.isLess(get(type), i32(8)), () => f.put(set(this.#body, i32s.add(get(this.#body), get(type)))))
  }

  /** Writes the length of a column of bytes, which follows those before it; for a column that may be null plus 1, or 0
   *  for null. */
  #blobLength(type: number, { isNullable }: { isNullable: boolean }): void {
    const f = this.#f
    const add = () => {
      // Bytes have an even serial type from 12 on; a longer value is on no page.
      this.#refuseWhen(i32s.isMore(i32s.sub(get(type), i32(12)), i32(2 * MAX_PAGE_BYTES)))
      this.#refuseWhen(i32s.and(get(type), i32(1)))
      f.put(set(type, i32s.right(i32s.sub(get(type), i32(12)), i32(1))))
      f.put(set(this.#length, i32s.add(get(this.#length), get(type))))
      if (isNullable) f.put(set(type, i32s.add(get(type), i32(1))))
    }
    if (isNullable) f.when(get(type), add)
    else add()
    this.#number(get(type))
  }

  /** Writes `value` as two numbers: what is above its low 20 bits, and these. */
  #pair(): void {
    this.#number(i32s.right(get(this.#value), i32(20)))
    this.#number(i32s.and(get(this.#value), i32(0xf_ffff)))
  }

  #number(value: Code): void {
    const f = this.#f
    const isByte = i32s.isLess(value, i32(128))
    f.when(
      isByte,
      () => f.put(i32s.storeByte(get(this.#to), 0, value), set(this.#to, i32s.add(get(this.#to), i32(1)))),
      () => {
        f.put(set(this.#to, call(ENCODE, get(this.#to), value)))
        this.#refuseWhen(i32s.isZero(get(this.#to)))
      },
    )
  }

  /** Copies `length` bytes from `at` to the output. */
  #copy(): void {
    const f = this.#f
    f.put(set(this.#from, get(this.#to)), set(this.#to, i32s.add(get(this.#to), get(this.#length))))
    f.loop('copy', () =>
      f.when(i32s.isLess(get(this.#from), get(this.#to)), () => {
        f.put(v128s.store(get(this.#from), 0, v128s.load(get(this.#at))))
        f.put(set(this.#from, i32s.add(get(this.#from), i32(16))), set(this.#at, i32s.add(get(this.#at), i32(16))))
        f.goTo('copy')
      }),
    )
  }

  /** Reads the variable-length integer at `at` of at most 31 bits. */
  #readVarint(local: number): void {
    const f = this.#f
    f.put(set(local, i32s.loadByte(get(this.#at))))
    f.when(
      i32s.isLess(get(local), i32(128)),
      () => f.put(set(this.#at, i32s.add(get(this.#at), i32(1)))),
      () => {
        f.put(set(this.#varint, call(VARINT, get(this.#at))))
        this.#refuseWhen(i32s.low(i64s.right(i64s.left(get(this.#varint), i64(8n)), i64(39n))))
        f.put(set(local, i32s.low(get(this.#varint))))
        this.#takeVarint()
      },
    )
  }

  /** Moves `at` behind the integer in `varint`. */
  #takeVarint(): void {
    const f = this.#f
    f.put(set(this.#length, i32s.low(i64s.right(get(this.#varint), i64(56n)))))
    this.#refuseWhen(i32s.isMore(get(this.#length), i32(8)))
    f.put(set(this.#at, i32s.add(get(this.#at), get(this.#length))))
  }

  #twoBytes(at: Code, offset: number): Code {
    return i32s.or(i32s.left(i32s.loadByte(at, offset), i32(8)), i32s.loadByte(at, offset + 1))
  }

  #word(address: number): Code {
    return i32s.load(i32(address))
  }

  #refuseWhen(condition: Code): void {
    this.#f.when(condition, () => this.#f.put(i32(UNSUPPORTED), RETURN))
  }

  #refuseUnless(condition: Code): void {
    this.#refuseWhen(i32s.isZero(condition))
  }
}
