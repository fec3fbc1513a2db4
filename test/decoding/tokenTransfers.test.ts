import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeAbiParameters, encodeEventTopics, type Hex, parseAbi } from 'viem'
import { TRANSFER_BATCH_TOPIC, TRANSFER_SINGLE_TOPIC, TRANSFER_TOPIC } from '../../src/chain/eth/transferTopics.js'
import { readTokenTransfers } from '../../src/decoding/tokenTransfers.js'
import { padLeft } from '../../src/lib/bytes.js'
import { formatData, parseHex } from '../../src/lib/hex.js'
import { type SeededRandom, seededRandom } from '../support/random.js'

const ABI = parseAbi([
  'event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)',
  'event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values)',
])
const ARRAYS = [{ type: 'uint256[]' }, { type: 'uint256[]' }] as const
const [ANN, BEN] = [`0x${'a1'.repeat(20)}`, `0x${'b2'.repeat(20)}`] as const
const word = (value: bigint | Hex) => padLeft(typeof value === 'string' ? parseHex(value) : bytesOf(value), 32)

function bytesOf(value: bigint): Uint8Array {
  return parseHex(`0x${value.toString(16).padStart(64, '0')}`)
}

function batch(ids: readonly bigint[], values: readonly bigint[]): Uint8Array {
  return parseHex(encodeAbiParameters(ARRAYS, [ids, values]))
}

const BATCH_TOPICS = [TRANSFER_BATCH_TOPIC, word(ANN), word(ANN), word(BEN)]

/** The transfers with hex addresses. */
function read(topics: readonly (Uint8Array | null)[], data: Uint8Array) {
  return readTokenTransfers({ topics, data }).map((each) => ({
    ...each,
    from: formatData(each.from),
    to: formatData(each.to),
  }))
}

test('reads Transfer as ERC-20 with three topics and as ERC-721 with four', () => {
  const parties = { from: ANN, to: BEN }
  const topics = [TRANSFER_TOPIC, word(ANN), word(BEN)]
  const most = 2n ** 256n - 1n
  assert.deepEqual(read(topics, word(most)), [{ kind: 'erc20', ...parties, id: undefined, value: most }])
  assert.deepEqual(read([...topics, null], word(0n)), [{ kind: 'erc20', ...parties, id: undefined, value: 0n }])
  assert.deepEqual(read([...topics, word(most)], new Uint8Array(0)), [
    { kind: 'erc721', ...parties, id: most, value: 1n },
  ])
})

test('reads what viem encodes as TransferSingle and TransferBatch', () => {
  const args = { operator: ANN, from: ANN, to: BEN } as const
  const topicsOf = (eventName: 'TransferSingle' | 'TransferBatch') =>
    encodeEventTopics({ abi: ABI, eventName, args }).map((topic) => parseHex(topic as Hex))
  assert.deepEqual(topicsOf('TransferSingle')[0], Uint8Array.from(TRANSFER_SINGLE_TOPIC))
  const random = seededRandom(1155)
  for (let round = 0; round < 50; round++) {
    const ids = Array.from({ length: random.below(6) }, () => randomWord(random))
    const values = ids.map(() => randomWord(random))
    const wanted = ids.map((id, i) => ({ kind: 'erc1155', from: ANN, to: BEN, id, value: values[i] }))
    assert.deepEqual(read(topicsOf('TransferBatch'), batch(ids, values)), wanted)
    for (const [i, each] of wanted.entries()) {
      const single = Uint8Array.from([...bytesOf(ids[i]), ...bytesOf(values[i])])
      assert.deepEqual(read(topicsOf('TransferSingle'), single), [each])
    }
  }
})

function randomWord(random: SeededRandom): bigint {
  return BigInt(formatData(random.bytes(32))) >> BigInt(random.below(256))
}

test('a log that the event does not encode has no transfers', () => {
  const topics = [TRANSFER_TOPIC, word(ANN), word(BEN)]
  const dirty = Uint8Array.from(word(BEN), (byte, i) => (i === 11 ? 1 : byte))
  const four = [TRANSFER_SINGLE_TOPIC, word(ANN), word(ANN), word(BEN)]
  for (const [shape, data] of [
    [[], new Uint8Array(0)],
    [[null, null, null, null], word(1n)],
    [topics.slice(0, 2), word(1n)],
    [topics, new Uint8Array(0)],
    [topics, new Uint8Array(31)],
    [topics, new Uint8Array(33)],
    [[TRANSFER_TOPIC, word(ANN), dirty], word(1n)],
    [[TRANSFER_TOPIC, dirty, word(BEN)], word(1n)],
    [[...topics, word(1n)], word(1n)],
    [[word(1n), word(ANN), word(BEN)], word(1n)],
    [four, new Uint8Array(63)],
    [four, new Uint8Array(65)],
    [four.slice(0, 3), new Uint8Array(64)],
    [[TRANSFER_SINGLE_TOPIC, dirty, word(ANN), word(BEN)], new Uint8Array(64)],
    [[TRANSFER_SINGLE_TOPIC, word(ANN), word(ANN), dirty], new Uint8Array(64)],
  ] as [Uint8Array[], Uint8Array][]) {
    assert.deepEqual(read(shape, data), [], `${shape.length} topics, ${data.length} bytes`)
  }
})

test('hostile offsets and lengths of a batch are refused, not followed', () => {
  const most = 2n ** 256n - 1n
  const words = (...values: bigint[]) => Uint8Array.from(values.flatMap((value) => [...bytesOf(value)]))
  const refused = [
    words(),
    words(64n),
    words(64n, 64n), // no length
    words(64n, 64n, most),
    words(64n, 64n, 2n ** 32n),
    words(64n, 64n, 1n), // one item is announced, none follows
    words(most, most, 0n),
    words(2n ** 32n, 64n, 0n),
    words(64n, 96n, 0n, 1n, 5n), // one value without an id
    words(96n, 64n, 0n, 1n, 5n),
    batch([1n, 2n], [3n, 4n]).subarray(0, -1),
  ]
  for (const [i, data] of refused.entries()) assert.deepEqual(read(BATCH_TOPICS, data), [], `case ${i}`)
  // Both arrays may be the same bytes: their length is that of the data.
  const shared = words(64n, 64n, 2n, 7n, 8n)
  assert.deepEqual(
    read(BATCH_TOPICS, shared).map(({ id, value }) => [id, value]),
    [
      [7n, 7n],
      [8n, 8n],
    ],
  )
})

test('random bytes as data never fail, and never make more transfers than words', () => {
  const random = seededRandom(7)
  for (let round = 0; round < 3_000; round++) {
    const data = random.bytes(random.below(400))
    // Small offsets and lengths reach the checks behind the first one.
    for (let at = 0; at + 32 <= data.length; at += 32) if (random.below(3) > 0) data.fill(0, at, at + 31)
    const found = readTokenTransfers({ topics: BATCH_TOPICS, data })
    assert.ok(found.length <= data.length / 32)
  }
})
