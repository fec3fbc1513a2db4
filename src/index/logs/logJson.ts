import type { Log } from '../../chain/eth/types.js'
import { formatData, formatQuantity } from '../../lib/hex.js'
import type { Database } from '../../store/database.js'
import { createValueReader } from '../../store/dictionary.js'
import type { LogPosition } from '../../store/rows/types.js'
import { instantiate } from '../../wasm/assembler.js'
import { ADDRESS_SLOTS, assembleLogJson, LOG_JSON_MEMORY, SLOT_DIGITS, TOPIC_SLOTS } from '../../wasm/logJsonModule.js'
import { ADDRESS_MISSING, DONE, LOG_INPUT_BYTES, TOPIC_MISSING } from '../../wasm/logRecordCode.js'

/** The log object of the API specification, with `blockTimestamp`. `removed` is always false for a canonical log. */
export function formatLog(log: Log, position: LogPosition) {
  return {
    address: formatData(log.address),
    topics: log.topics.map(formatData),
    data: formatData(log.data),
    blockNumber: formatQuantity(position.blockNumber),
    transactionHash: formatData(position.transactionHash),
    transactionIndex: formatQuantity(position.transactionIndex),
    blockHash: formatData(position.blockHash),
    blockTimestamp: formatQuantity(position.blockTimestamp),
    logIndex: formatQuantity(position.logIndex),
    removed: false,
  }
}

/** The JSON of some logs, joined by commas: the same bytes as `JSON.stringify` of `formatLog`. */
export interface LogJson {
  count: number
  /** In the memory of the encoder, which its next call overwrites. */
  bytes: Uint8Array
}

/** Encodes records of logRecords. Undefined when a log has no record or one that is not supported: see logJsonModule.
 *  @throws Error when a record names a missing address or topic */
export type LogJsonEncoder = (records: Uint8Array) => LogJson | undefined

interface EncoderFunctions {
  encode(length: number): number
}

const { state, addresses, topics, input, output } = LOG_JSON_MEMORY
const WORDS = { end: state / 4, next: state / 4 + 1, count: state / 4 + 2, missing: state / 4 + 3 } as const

/** Creates an encoder for the logs of a connection. A log takes 0.1 to 0.2 µs; in JavaScript it took 0.9 to 1.1.
 *  @throws Error without WebAssembly, or without enough memory */
export function createLogJsonEncoder(db: Database): LogJsonEncoder {
  const { encode, memory } = instantiate<EncoderFunctions>(assembleLogJson())
  const bytes = new Uint8Array(memory.buffer)
  const words = new Uint32Array(memory.buffer)
  const text = Buffer.from(memory.buffer)
  const readAddress = createValueReader(db, 'addresses')
  const readTopic = createValueReader(db, 'topics')
  const fill = (at: number, id: number, value: Buffer): void => {
    words[at / 4] = id + 1
    text.write(value.toString('hex'), at + SLOT_DIGITS, 'latin1')
  }
  const fillAddress = (id: number) =>
    fill(addresses + (id % ADDRESS_SLOTS.count) * ADDRESS_SLOTS.bytes, id, readAddress(id))
  const fillTopic = (id: number) => fill(topics + (id % TOPIC_SLOTS.count) * TOPIC_SLOTS.bytes, id, readTopic(id))
  const run = (length: number): number => {
    for (;;) {
      const result = encode(length)
      if (result === ADDRESS_MISSING) fillAddress(words[WORDS.missing])
      else if (result === TOPIC_MISSING) fillTopic(words[WORDS.missing])
      else return result
    }
  }
  return (records) => {
    if (records.length > LOG_INPUT_BYTES) return undefined
    bytes.set(records, input)
    words[WORDS.end] = output
    words[WORDS.next] = input
    words[WORDS.count] = 0
    if (run(records.length) !== DONE) return undefined
    return { count: words[WORDS.count], bytes: bytes.subarray(output, words[WORDS.end]) }
  }
}
