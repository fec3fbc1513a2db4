import { instantiate } from '../../wasm/assembler.js'
import {
  ADDRESS_MISSING,
  ADDRESS_SLOTS,
  assembleLogJson,
  DONE,
  INPUT_BYTES,
  LOG_JSON_MEMORY,
  SLOT_DIGITS,
  TOPIC_MISSING,
  TOPIC_SLOTS,
} from '../../wasm/logJsonModule.js'
import type { Database } from '../database.js'
import { createHexDictionary } from './hexDictionary.js'
import { createJavaScriptLogJson, type LogJsonEncoder } from './logJson.js'

/** Implementations, fastest first: WebAssembly takes a fifth of the time. */
export const LOG_JSON_KINDS = ['wasm', 'javascript'] as const
export type LogJsonKind = (typeof LOG_JSON_KINDS)[number]

/** An encoder of that kind for the logs of a connection. @throws Error without WebAssembly, or without enough memory. */
export function createLogJsonEncoder(db: Database, kind: LogJsonKind): LogJsonEncoder {
  return kind === 'wasm' ? createWasmLogJson(db) : createJavaScriptLogJson(db)
}

interface EncoderFunctions {
  encode(length: number): number
}

const { state, addresses, topics, input, output } = LOG_JSON_MEMORY

function createWasmLogJson(db: Database): LogJsonEncoder {
  const { encode, memory } = instantiate<EncoderFunctions>(assembleLogJson())
  const bytes = new Uint8Array(memory.buffer)
  const words = new Uint32Array(memory.buffer)
  const [end, next, left, missing] = [0, 1, 2, 3].map((word) => state / 4 + word)
  const digitsOf = {
    addresses: createHexDictionary(db, 'addresses', (digits) => digits),
    topics: createHexDictionary(db, 'topics', (digits) => digits),
  }
  const javaScript = createJavaScriptLogJson(db)
  const fill = (at: number, id: number, digits: Uint8Array): void => {
    words[at / 4] = id + 1
    bytes.set(digits, at + SLOT_DIGITS)
  }
  const fillAddress = (id: number) =>
    fill(addresses + (id % ADDRESS_SLOTS.count) * ADDRESS_SLOTS.bytes, id, digitsOf.addresses.textOf(id))
  const fillTopic = (id: number) =>
    fill(topics + (id % TOPIC_SLOTS.count) * TOPIC_SLOTS.bytes, id, digitsOf.topics.textOf(id))
  const run = (length: number): number => {
    for (;;) {
      const result = encode(length)
      if (result === ADDRESS_MISSING) fillAddress(words[missing])
      else if (result === TOPIC_MISSING) fillTopic(words[missing])
      else return result
    }
  }
  return (records) => {
    const { length } = records.bytes
    if (length > INPUT_BYTES) return javaScript(records)
    bytes.set(records.bytes, input)
    words[end] = output
    words[next] = input
    words[left] = records.written
    // The other encoder takes records that this one does not, and throws for damaged ones.
    if (run(length) !== DONE) return javaScript(records)
    const json = Buffer.allocUnsafeSlow(words[end] - output)
    json.set(bytes.subarray(output, words[end]))
    return json
  }
}
