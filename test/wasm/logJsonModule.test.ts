import assert from 'node:assert/strict'
import { test } from 'node:test'
import { instantiate } from '../../src/wasm/assembler.js'
import {
  ADDRESS_MISSING,
  ADDRESS_SLOTS,
  assembleLogJson,
  DONE,
  LOG_JSON_MEMORY,
  SLOT_DIGITS,
  TOPIC_MISSING,
  TOPIC_SLOTS,
  UNSUPPORTED,
} from '../../src/wasm/logJsonModule.js'
import { seededFractions } from '../logs/randomLogs.js'

const { state, addresses, topics, input, output } = LOG_JSON_MEMORY

/** A record and the log that it is of. Topics and data are without their leading zeros. */
interface Sample {
  logIndex: number
  transactionIndex: number
  addressId: number
  topic0Id: number
  topics: Buffer[]
  data: Buffer
  dataLength: number
  blockNumber: number
  timestamp: number
}

const BLOCK_HASH = Buffer.alloc(32, 0xb1)
const TRANSACTION_HASH = Buffer.alloc(32, 0x7a)
const digitsOf = (id: number, bytes: number) => id.toString(16).padStart(2 * bytes, 'e')

function encodeSample(log: Sample): Buffer {
  const lengths = [0, 1, 2].reduce((sum, i) => sum * 64 + (log.topics[i] ? log.topics[i].length + 1 : 0), 0)
  const { logIndex, transactionIndex, addressId, topic0Id, data, dataLength, blockNumber, timestamp } = log
  const numbers = [logIndex, transactionIndex, addressId, topic0Id, lengths, data.length, dataLength, blockNumber]
  const text = Buffer.from(`${[...numbers, timestamp].join()},`)
  return Buffer.concat([text, BLOCK_HASH, TRANSACTION_HASH, ...log.topics, data])
}

function objectOf(log: Sample) {
  const hex = (bytes: Buffer, length: number) => `0x${bytes.toString('hex').padStart(2 * length, '0')}`
  const quantity = (value: number) => `0x${value.toString(16)}`
  return {
    address: `0x${digitsOf(log.addressId, 20)}`,
    topics: log.topic0Id === 0 ? [] : [`0x${digitsOf(log.topic0Id, 32)}`, ...log.topics.map((t) => hex(t, 32))],
    data: hex(log.data, log.dataLength),
    blockNumber: quantity(log.blockNumber),
    transactionHash: hex(TRANSACTION_HASH, 32),
    transactionIndex: quantity(log.transactionIndex),
    blockHash: hex(BLOCK_HASH, 32),
    blockTimestamp: quantity(log.timestamp),
    logIndex: quantity(log.logIndex),
    removed: false,
  }
}

/** The module with what its caller does: fills slots, and counts the fills. */
function createEncoder() {
  const { encode, memory } = instantiate<{ encode(length: number): number }>(assembleLogJson())
  const bytes = Buffer.from(memory.buffer)
  const words = new Uint32Array(memory.buffer, state, 4)
  const fill = (table: number, slots: { count: number; bytes: number }, length: number) => {
    const at = table + (words[3] % slots.count) * slots.bytes
    bytes.writeUInt32LE(words[3] + 1, at)
    bytes.write(digitsOf(words[3], length), at + SLOT_DIGITS, 'latin1')
  }
  return (records: Buffer, count: number) => {
    records.copy(bytes, input)
    words.set([output, input, count])
    for (let fills = 0; ; fills++) {
      const result = encode(records.length)
      if (result === ADDRESS_MISSING) fill(addresses, ADDRESS_SLOTS, 20)
      else if (result === TOPIC_MISSING) fill(topics, TOPIC_SLOTS, 32)
      else return { result, fills, json: bytes.toString('latin1', output, words[0]) }
    }
  }
}

function randomSample(random: () => number): Sample {
  const upTo = (n: number) => Math.floor(random() * (n + 1))
  const anyBytes = (length: number) => Buffer.from(Array.from({ length }, () => upTo(255)))
  const anyNumber = (bits: number) => Math.floor(random() * 2 ** upTo(bits))
  const topic0Id = random() < 0.1 ? 0 : 1 + upTo(5) * TOPIC_SLOTS.count
  const data = anyBytes(random() < 0.5 ? upTo(70) : upTo(3) * 16)
  return {
    logIndex: anyNumber(31),
    transactionIndex: anyNumber(31),
    // Some share a slot.
    addressId: 1 + upTo(2) + upTo(3) * ADDRESS_SLOTS.count,
    topic0Id,
    topics: topic0Id === 0 ? [] : Array.from({ length: upTo(3) }, () => anyBytes(upTo(32))),
    data,
    dataLength: data.length + (random() < 0.5 ? 0 : upTo(200)),
    blockNumber: anyNumber(48),
    timestamp: anyNumber(48),
  }
}

test('encodes records as JSON.stringify does their logs, whatever slots they share', () => {
  const encode = createEncoder()
  const random = seededFractions(61)
  let fills = 0
  for (let round = 0; round < 200; round++) {
    const samples = Array.from({ length: Math.floor(random() * 20) }, () => randomSample(random))
    const found = encode(Buffer.concat(samples.map(encodeSample)), samples.length)
    assert.equal(found.result, DONE)
    assert.equal(`[${found.json}]`, JSON.stringify(samples.map(objectOf)))
    fills += found.fills
  }
  assert.ok(fills > 500)
})

test('refuses records that it cannot encode', () => {
  const encode = createEncoder()
  const sample: Sample = { ...randomSample(seededFractions(62)), topic0Id: 1, topics: [Buffer.alloc(32, 1)] }
  const good = encodeSample(sample)
  const resultOf = (records: Buffer, count = 1) => encode(records, count).result
  assert.equal(resultOf(good), DONE)
  const damaged: Partial<Sample>[] = [
    ...(['logIndex', 'transactionIndex', 'addressId', 'topic0Id'] as const).map((name) => ({ [name]: 2 ** 31 })),
    { blockNumber: 2 ** 48 },
    { timestamp: 2 ** 48 },
    { dataLength: sample.data.length - 1 },
    { dataLength: 1_000_000 },
    { topics: [Buffer.alloc(33)] },
  ]
  for (const change of damaged) assert.equal(resultOf(encodeSample({ ...sample, ...change })), UNSUPPORTED)
  assert.equal(resultOf(good.subarray(0, -1)), UNSUPPORTED)
  assert.equal(resultOf(Buffer.concat([good, Buffer.of(0)])), UNSUPPORTED)
  assert.equal(resultOf(good, 2), UNSUPPORTED)
  assert.equal(resultOf(Buffer.concat([Buffer.from('1'.repeat(25)), good])), UNSUPPORTED)
})
