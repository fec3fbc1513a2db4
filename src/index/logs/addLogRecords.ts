import { NOT_ENCODED, RECORD_NUMBERS } from '../../wasm/logRecordCode.js'
import type { LogColumnBuffers } from './logColumnBuffers.js'

/** Returns the address, or the first topic, of an id. @throws Error for an unknown id */
type Lookup = (id: number) => Uint8Array

/** Looks up the values that records name by their ids. */
export interface RecordValues {
  readonly addressOf: Lookup
  readonly topicOf: Lookup
}

/** Adds the logs of records of store/rows/logRecords to columns; false if there is one without a record, or a damaged
 *  one, with none of them added. In TypeScript: 1.2 µs a log, where wasm/logColumnsModule takes 0.1.
 *  @throws Error when a record names a missing address or topic */
export function addLogRecords(buffers: LogColumnBuffers, records: Uint8Array, values: RecordValues): boolean {
  const before = buffers.rows
  const reader = new RecordReader(records)
  const block: RecordBlock = { number: 0, timestamp: 0 }
  while (reader.at < records.length) {
    if (addRecord(buffers, reader, { block, values })) continue
    buffers.truncate(before)
    return false
  }
  return true
}

/** The block of the logs that follow it. */
interface RecordBlock {
  number: number
  timestamp: number
}

/** Adds the log of the next record; false for one that cannot be read. */
function addRecord(
  buffers: LogColumnBuffers,
  reader: RecordReader,
  { block, values }: { block: RecordBlock; values: RecordValues },
): boolean {
  let logIndex = reader.number()
  const hasBlock = logIndex >= RECORD_NUMBERS.blockFlag
  if (hasBlock) {
    block.number = (logIndex - RECORD_NUMBERS.blockFlag) * 2 ** 20 + reader.number()
    block.timestamp = reader.pair()
    logIndex = reader.number()
    if (logIndex === RECORD_NUMBERS.blockOnly) return reader.skip(32)
  }
  if (logIndex === RECORD_NUMBERS.noRecord) return false
  const transactionIndex = reader.number()
  const [addressId, topic0Id] = [reader.pair(), reader.pair()]
  const lengths = [reader.number(), reader.number(), reader.number()]
  const stored = reader.number()
  const padded = reader.number()
  const dataLength = padded === 0 ? 32 : padded - 1
  if (stored > dataLength || lengths.some((length) => length > 33)) return false
  const { bytes } = reader
  const hash = reader.at + (hasBlock ? 32 : 0)
  const topics = hash + 32
  const data = topics + lengths.reduce((sum, length) => sum + Math.max(0, length - 1), 0)
  reader.at = data + stored
  if (reader.at > bytes.length || reader.hasInexact) return false
  const row = buffers.addNumbers({
    block_number: block.number,
    transaction_index: transactionIndex,
    log_index: logIndex,
    n_data_bytes: dataLength,
    block_timestamp: block.timestamp,
  })
  buffers.hashes.add(row, { bytes, at: hash, stored: 32, length: 32 })
  buffers.addresses.add(row, { bytes: values.addressOf(addressId), at: 0, stored: 20, length: 20 })
  const [first, ...others] = buffers.topics
  if (topic0Id === 0) first.addNull(row)
  else first.add(row, { bytes: values.topicOf(topic0Id), at: 0, stored: 32, length: 32 })
  let at = topics
  for (const [i, topic] of others.entries()) {
    if (lengths[i] === 0) topic.addNull(row)
    else topic.add(row, { bytes, at, stored: lengths[i] - 1, length: 32 })
    at += Math.max(0, lengths[i] - 1)
  }
  buffers.data.add(row, { bytes, at: data, stored, length: dataLength })
  return true
}

/** Reads the numbers of records: code points of UTF-8, surrogates among them. */
class RecordReader {
  readonly bytes: Uint8Array
  at = 0
  /** True if a number was one that SQLite's `char` does not encode. */
  hasInexact = false

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  number(): number {
    const { bytes } = this
    const first = bytes[this.at++]
    if (first < 0x80) return first
    const second = bytes[this.at++] & 63
    if (first < 0xe0) return ((first & 31) << 6) | second
    const third = bytes[this.at++] & 63
    if (first < 0xf0) {
      const number = ((first & 15) << 12) | (second << 6) | third
      this.hasInexact ||= number === NOT_ENCODED
      return number
    }
    return ((first & 7) << 18) | (second << 12) | (third << 6) | (bytes[this.at++] & 63)
  }

  /** A number of two: what is above its low 20 bits, and these. */
  pair(): number {
    return this.number() * 2 ** 20 + this.number()
  }

  /** False if the bytes end before. */
  skip(length: number): boolean {
    this.at += length
    return this.at <= this.bytes.length
  }
}
