import type { Database } from '../database.js'
import { createHexDictionary, type HexDictionary } from './hexDictionary.js'
import type { LogRecords } from './logRecords.js'

/** The JSON of the logs of some records, joined by commas: the same bytes as `JSON.stringify` of `formatLog` in logObject.
 *  @throws Error when a record names a missing address or topic, or the bytes are not the records they should be */
export type LogJsonEncoder = (records: LogRecords) => Buffer

/** An encoder in JavaScript for the logs of a connection. */
export function createJavaScriptLogJson(db: Database): LogJsonEncoder {
  const dictionaries = {
    addresses: createHexDictionary(db, 'addresses', (digits) => `{"address":"0x${digits}","topics":[`),
    topics: createHexDictionary(db, 'topics', (digits) => `"0x${digits}"`),
  }
  return ({ bytes, written }) => {
    const output = new HexOutput(2 * bytes.length + written * TYPICAL_TEXT)
    const input = new RecordInput(bytes)
    const last: SharedPart = { blockNumber: -1, transactionIndex: -1, from: 0, to: 0 }
    for (let i = 0; i < written; i++) {
      if (i > 0) output.ascii(COMMA)
      encodeLog(input, output, dictionaries, last)
    }
    if (input.at !== bytes.length) throw new Error('log rows of another form than expected: the database is damaged')
    return output.written()
  }
}

const ascii = (text: string): Uint8Array => Buffer.from(text, 'latin1')
const COMMA = ascii(',')
const NEXT_TOPIC = ascii(',"0x')
const QUOTE = ascii('"')
const DATA = ascii('],"data":"0x')
const BLOCK_NUMBER = ascii('","blockNumber":"0x')
const TRANSACTION_HASH = ascii('","transactionHash":"0x')
const TRANSACTION_INDEX = ascii('","transactionIndex":"0x')
const BLOCK_HASH = ascii('","blockHash":"0x')
const BLOCK_TIMESTAMP = ascii('","blockTimestamp":"0x')
const LOG_INDEX = ascii('","logIndex":"0x')
const END = ascii('","removed":false}')

// The JSON of a log but for its data: less than 700 bytes.
const ROOM = 1_024
// Of it what is not hex of a record's bytes.
const TYPICAL_TEXT = 450
const TOPIC_BASE = [4_096, 64, 1]

/** Where the output has the members that are the same in all logs of a transaction. */
interface SharedPart {
  blockNumber: number
  transactionIndex: number
  from: number
  to: number
}

/** The next record as JSON; the layout of a record is in logRecords. */
function encodeLog(
  input: RecordInput,
  output: HexOutput,
  { addresses, topics }: { addresses: HexDictionary; topics: HexDictionary },
  last: SharedPart,
): void {
  const logIndex = input.number()
  const transactionIndex = input.number()
  const addressId = input.number()
  const topic0Id = input.number()
  const topicLengths = input.number()
  const storedLength = input.number()
  const dataLength = input.number()
  const blockNumber = input.number()
  const timestampAt = input.at
  input.skipNumber()
  const hashesAt = input.at
  input.at += 64
  output.reserve(ROOM + 2 * dataLength)
  output.piece(addresses.textOf(addressId))
  if (topic0Id !== 0) {
    output.piece(topics.textOf(topic0Id))
    for (const base of TOPIC_BASE) {
      const length = (Math.floor(topicLengths / base) % 64) - 1
      if (length < 0) break
      output.ascii(NEXT_TOPIC)
      output.padded(input, length, 32)
      output.ascii(QUOTE)
    }
  }
  output.ascii(DATA)
  output.padded(input, storedLength, dataLength)
  if (blockNumber === last.blockNumber && transactionIndex === last.transactionIndex) {
    output.again(last)
  } else {
    last.from = output.at
    output.ascii(BLOCK_NUMBER)
    output.quantity(blockNumber)
    output.ascii(TRANSACTION_HASH)
    output.hex(input.bytes, hashesAt + 32, 32)
    output.ascii(TRANSACTION_INDEX)
    output.quantity(transactionIndex)
    output.ascii(BLOCK_HASH)
    output.hex(input.bytes, hashesAt, 32)
    output.ascii(BLOCK_TIMESTAMP)
    output.quantity(input.numberAt(timestampAt))
    output.ascii(LOG_INDEX)
    last.to = output.at
    last.blockNumber = blockNumber
    last.transactionIndex = transactionIndex
  }
  output.quantity(logIndex)
  output.ascii(END)
}

const DIGIT_0 = 48
// Digits of a number that is certainly exact: above, a timestamp may be beyond 2^53.
const EXACT_DIGITS = 15

/** The bytes of records, read from the front. */
class RecordInput {
  readonly bytes: Uint8Array
  at = 0

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  /** The decimal number before the next comma. */
  number(): number {
    const { bytes } = this
    let { at } = this
    let value = 0
    for (let digit = bytes[at] - DIGIT_0; digit >= 0; digit = bytes[++at] - DIGIT_0) value = value * 10 + digit
    this.at = at + 1
    return value
  }

  skipNumber(): void {
    const { bytes } = this
    let { at } = this
    while (bytes[at] >= DIGIT_0) at++
    this.at = at + 1
  }

  /** The number at a place before this one, exact whatever its size. */
  numberAt(from: number): number | bigint {
    const { at } = this
    this.at = from
    const value = this.number()
    const to = this.at - 1
    this.at = at
    if (to - from <= EXACT_DIGITS) return value
    return BigInt(Buffer.from(this.bytes.subarray(from, to)).toString('latin1'))
  }
}

const HEX_DIGITS = ascii('0123456789abcdef')
const HIGH_DIGIT = Uint8Array.from({ length: 256 }, (_, byte) => HEX_DIGITS[byte >> 4])
const LOW_DIGIT = Uint8Array.from({ length: 256 }, (_, byte) => HEX_DIGITS[byte & 15])

/** ASCII text in the making. All but `reserve` take for granted that there is room. */
class HexOutput {
  at = 0
  private bytes: Buffer

  constructor(capacity: number) {
    this.bytes = Buffer.allocUnsafeSlow(capacity)
  }

  /** Makes room for so many bytes more. */
  reserve(length: number): void {
    if (this.at + length <= this.bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(this.bytes.length * 2, this.at + length))
    larger.set(this.bytes.subarray(0, this.at))
    this.bytes = larger
  }

  ascii(text: Uint8Array): void {
    const { bytes, at } = this
    const { length } = text
    for (let i = 0; i < length; i++) bytes[at + i] = text[i]
    this.at = at + length
  }

  /** The same, faster from some 50 bytes on. */
  piece(text: Uint8Array): void {
    this.bytes.set(text, this.at)
    this.at += text.length
  }

  /** Digits of some bytes. */
  hex(source: Uint8Array, from: number, length: number): void {
    const { bytes } = this
    let { at } = this
    for (let i = from; i < from + length; i++) {
      const byte = source[i]
      bytes[at++] = HIGH_DIGIT[byte]
      bytes[at++] = LOW_DIGIT[byte]
    }
    this.at = at
  }

  /** Digits of the next bytes of the input, as the last of so many that are zero before them. */
  padded(input: RecordInput, length: number, paddedLength: number): void {
    const zeros = 2 * (paddedLength - length)
    const { bytes, at } = this
    // Buffer's own `fill` checks its arguments for as long as this takes.
    if (zeros <= 64) for (let i = at; i < at + zeros; i++) bytes[i] = DIGIT_0
    else bytes.fill(DIGIT_0, at, at + zeros)
    this.at += zeros
    this.hex(input.bytes, input.at, length)
    input.at += length
  }

  /** Digits of a number, none before the first that is not zero. */
  quantity(value: number | bigint): void {
    if (typeof value === 'bigint' || value > 0xffff_ffff) {
      this.at += this.bytes.write(value.toString(16), this.at, 'latin1')
      return
    }
    let digits = 1
    for (let rest = value >>> 4; rest > 0; rest >>>= 4) digits++
    for (let shift = 4 * (digits - 1); shift >= 0; shift -= 4)
      this.bytes[this.at++] = HEX_DIGITS[(value >>> shift) & 15]
  }

  /** What lies at [from, to). */
  again({ from, to }: SharedPart): void {
    this.bytes.copyWithin(this.at, from, to)
    this.at += to - from
  }

  written(): Buffer {
    return this.bytes.subarray(0, this.at)
  }
}
