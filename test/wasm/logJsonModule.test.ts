import assert from 'node:assert/strict'
import { test } from 'node:test'
import { instantiate } from '../../src/wasm/assembler.js'
import {
  ADDRESS_SLOTS,
  assembleLogJson,
  LOG_JSON_MEMORY,
  SLOT_DIGITS,
  TOPIC_SLOTS,
} from '../../src/wasm/logJsonModule.js'
import { ADDRESS_MISSING, DONE, RECORD_NUMBERS, TOPIC_MISSING, UNSUPPORTED } from '../../src/wasm/logRecordCode.js'
import { seededFractions } from '../index/logs/randomLogs.js'

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

/** As SQLite's `char`. */
function encodeNumbers(numbers: number[]): Buffer {
  const bytes = numbers.flatMap((c) => {
    const tail = (shift: number) => 128 | ((c >> shift) & 63)
    if (c < 0x80) return [c]
    if (c < 0x800) return [0xc0 | (c >> 6), tail(0)]
    if (c < 0x10000) return [0xe0 | (c >> 12), tail(6), tail(0)]
    return [0xf0 | (c >> 18), tail(12), tail(6), tail(0)]
  })
  return Buffer.from(bytes)
}

const pair = (value: number) => [Math.floor(value / 2 ** 20), value % 2 ** 20]

function blockNumbersOf({ blockNumber, timestamp }: Sample): number[] {
  const [high, low] = pair(blockNumber)
  return [RECORD_NUMBERS.blockFlag | high, low, ...pair(timestamp)]
}

/** The log after a record of its block, or with it. */
function encodeSample(log: Sample, blockApart = false): Buffer {
  const { logIndex, transactionIndex, addressId, topic0Id, data, dataLength } = log
  const lengths = [0, 1, 2].map((i) => (log.topics[i] ? log.topics[i].length + 1 : 0))
  const dataNumbers = [data.length, dataLength === 32 ? 0 : dataLength + 1]
  const numbers = [logIndex, transactionIndex, ...pair(addressId), ...pair(topic0Id), ...lengths, ...dataNumbers]
  const bytes = [TRANSACTION_HASH, ...log.topics, data]
  const block = blockNumbersOf(log)
  if (!blockApart) return Buffer.concat([encodeNumbers([...block, ...numbers]), BLOCK_HASH, ...bytes])
  const apart = [encodeNumbers([...block, RECORD_NUMBERS.blockOnly]), BLOCK_HASH, encodeNumbers(numbers)]
  return Buffer.concat([...apart, ...bytes])
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
  return (records: Buffer) => {
    records.copy(bytes, input)
    words.set([output, input, 0])
    for (let fills = 0; ; fills++) {
      const result = encode(records.length)
      if (result === ADDRESS_MISSING) fill(addresses, ADDRESS_SLOTS, 20)
      else if (result === TOPIC_MISSING) fill(topics, TOPIC_SLOTS, 32)
      else return { result, fills, count: words[2], json: bytes.toString('latin1', output, words[0]) }
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
    logIndex: anyNumber(19),
    transactionIndex: anyNumber(20),
    // Some share a slot.
    addressId: 1 + upTo(2) + upTo(3) * ADDRESS_SLOTS.count,
    topic0Id,
    topics: topic0Id === 0 ? [] : Array.from({ length: upTo(3) }, () => anyBytes(upTo(32))),
    data,
    dataLength: data.length + (random() < 0.5 ? 0 : upTo(200)),
    blockNumber: anyNumber(36),
    timestamp: anyNumber(40),
  }
}

test('encodes records as JSON.stringify does their logs, whatever slots they share', () => {
  const encode = createEncoder()
  const random = seededFractions(61)
  let fills = 0
  for (let round = 0; round < 200; round++) {
    const samples = Array.from({ length: Math.floor(random() * 20) }, () => randomSample(random))
    const blockApart = random() < 0.5
    const found = encode(Buffer.concat(samples.map((sample) => encodeSample(sample, blockApart))))
    assert.deepEqual([found.result, found.count], [DONE, samples.length])
    assert.equal(`[${found.json}]`, JSON.stringify(samples.map(objectOf)))
    fills += found.fills
  }
  assert.ok(fills > 500)
})

test('refuses records that it cannot encode', () => {
  const encode = createEncoder()
  const random = randomSample(seededFractions(62))
  const sample: Sample = {
    ...random,
    topic0Id: 1,
    topics: [Buffer.alloc(32, 1)],
    data: Buffer.alloc(40, 1),
    dataLength: 40,
  }
  const good = encodeSample(sample)
  const resultOf = (records: Buffer) => encode(records).result
  assert.equal(resultOf(good), DONE)
  const unsupported: Partial<Sample>[] = [
    // What `char` writes for a number that it cannot encode.
    ...(['logIndex', 'transactionIndex'] as const).map((name) => ({ [name]: 0xfffd })),
    ...(['addressId', 'topic0Id', 'timestamp'] as const).map((name) => ({ [name]: 0xfffd * 2 ** 20 })),
    { addressId: 2 ** 31 },
    { logIndex: RECORD_NUMBERS.noRecord },
    { dataLength: 39 },
    { dataLength: 1_000_000, data: Buffer.alloc(1_000_001, 1) },
    { topics: [Buffer.alloc(33)] },
  ]
  for (const [i, change] of unsupported.entries())
    assert.equal(resultOf(encodeSample({ ...sample, ...change })), UNSUPPORTED, `change ${i}`)
  assert.equal(resultOf(good.subarray(0, -1)), UNSUPPORTED)
  assert.equal(resultOf(Buffer.concat([good, Buffer.of(0)])), UNSUPPORTED)
  const long = encodeSample({ ...sample, dataLength: 900_000 })
  assert.equal(resultOf(Buffer.concat(Array(5).fill(long))), DONE)
  assert.equal(resultOf(Buffer.concat(Array(6).fill(long))), UNSUPPORTED)
})
