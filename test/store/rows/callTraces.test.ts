import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CALLCODE, DELEGATECALL, isCreation, SELFDESTRUCT, STATICCALL } from '../../../src/chain/eth/callOpcodes.js'
import {
  type CallTrace,
  callsMention,
  decodeCallTraces,
  encodeCallTraces,
  isIntact,
  TRACED_OPCODES,
} from '../../../src/store/rows/callTraces.js'
import { type SeededRandom, seededRandom } from '../../support/random.js'

const addressOf = (id: number) => Uint8Array.from({ length: 20 }, (_, i) => (id >> (i % 4)) & 255)

const FAILURES = ['execution reverted', 'out of gas', 'stack underflow (0 <=> 2)', 'bad elliptic curve pairing 世']

/** An integer of up to 64 bits; most are short. */
function randomUint(random: SeededRandom, bits = 64): bigint {
  return BigInt.asUintN(random.below(bits + 1), BigInt(`0x${Buffer.from(random.bytes(32)).toString('hex')}`))
}

interface Place {
  readonly depth: number
  readonly account: number
  readonly value: bigint
  readonly pool: readonly number[]
}

/** A random call with random calls below it. */
function addCalls(
  random: SeededRandom,
  { depth, account, value: around, pool }: Place,
  out: CallTrace<number>[],
): void {
  const opcode = depth === 0 ? [0xf0, 0xf1][random.below(2)] : TRACED_OPCODES[random.below(TRACED_OPCODES.length)]
  const isDestruct = opcode === SELFDESTRUCT
  const isFailed = !isDestruct && random.below(4) === 0
  const isCreating = isCreation({ opcode })
  const to = pool[random.below(pool.length)]
  const own = random.below(2) === 0 ? 0n : randomUint(random, 256)
  const value = opcode === STATICCALL ? undefined : opcode === DELEGATECALL ? around : own
  const isPrecompile = !isDestruct && !isCreating && random.below(5) === 0
  const hasSelector = !isDestruct && !isCreating && !isPrecompile && random.below(2) === 0
  out.push({
    ...{ opcode, depth, from: account, to, value, isPrecompile },
    gas: isDestruct ? 0n : randomUint(random),
    gasUsed: isDestruct ? 0n : randomUint(random),
    inputLength: isDestruct ? 0 : random.below(2 ** random.below(20)),
    selector: hasSelector ? random.below(2 ** 32) : undefined,
    outputLength: isDestruct ? 0 : random.below(2 ** random.below(20)),
    failure: isFailed ? FAILURES[random.below(FAILURES.length)] : undefined,
    codeHash: isCreating && !isFailed ? random.bytes(32) : undefined,
  })
  if (isDestruct || isPrecompile) return
  const runsOnCaller = opcode === DELEGATECALL || opcode === CALLCODE
  const inner = { depth: depth + 1, account: runsOnCaller ? account : to, value: value ?? 0n, pool }
  for (let left = random.below(depth < 6 ? 4 : 1); left > 0; left--) addCalls(random, inner, out)
}

function randomBlock(random: SeededRandom): CallTrace<number>[][] {
  const pool = Array.from({ length: 1 + random.below(300) }, () => random.below(2 ** (1 + random.below(30))))
  return Array.from({ length: random.below(20) }, () => {
    const calls: CallTrace<number>[] = []
    addCalls(random, { depth: 0, account: pool[random.below(pool.length)], value: 0n, pool }, calls)
    return calls
  })
}

/** With all bytes as plain arrays. */
function comparable(transactions: readonly (readonly CallTrace<number>[])[]): unknown {
  return transactions.map((calls) => calls.map((call) => ({ ...call, codeHash: call.codeHash && [...call.codeHash] })))
}

test('what is encoded is decoded, and every address of a call is found', () => {
  const random = seededRandom(1)
  for (let round = 0; round < 200; round++) {
    const transactions = randomBlock(random)
    const bytes = encodeCallTraces(transactions, addressOf)
    assert.deepEqual(comparable(decodeCallTraces(bytes)), comparable(transactions))
    const ends = new Set(transactions.flat().flatMap(({ from, to }) => [from, to]))
    for (const id of ends) assert.ok(callsMention(bytes, new Set([id])))
    for (let id = 0; id < 50; id++) assert.equal(callsMention(bytes, new Set([id])), ends.has(id))
  }
})

test('a block without transactions has no bytes, and bytes that are cut or changed are refused or decode', () => {
  assert.equal(encodeCallTraces([], addressOf).length, 0)
  assert.deepEqual(decodeCallTraces(new Uint8Array(0)), [])
  const random = seededRandom(2)
  let refused = 0
  for (let round = 0; round < 400; round++) {
    const bytes = encodeCallTraces([...randomBlock(random), ...randomBlock(random)], addressOf).slice()
    if (bytes.length === 0) continue
    const at = random.below(bytes.length)
    const changed = round % 2 === 0 ? bytes.subarray(0, at) : bytes.fill(random.below(256), at, at + 1)
    try {
      decodeCallTraces(changed)
    } catch (error) {
      assert.ok(error instanceof RangeError, String(error))
      refused++
    }
  }
  assert.ok(refused > 100)
})

test('the checksum covers every byte and the addresses', () => {
  const random = seededRandom(3)
  const transactions = [...randomBlock(random), ...randomBlock(random)]
  const bytes = encodeCallTraces(transactions, addressOf)
  assert.ok(isIntact(bytes, addressOf))
  assert.ok(!isIntact(bytes, (id) => addressOf(id + 1)))
  for (let at = 0; at < bytes.length; at += 1 + random.below(bytes.length / 100)) {
    const changed = bytes.slice()
    changed[at] ^= 1 << random.below(8)
    let isFound = false
    try {
      isFound = !isIntact(changed, addressOf)
    } catch (error) {
      assert.ok(error instanceof RangeError, String(error))
      isFound = true
    }
    // Another way to deflate the same is no fault.
    if (!isFound) assert.deepEqual(comparable(decodeCallTraces(changed)), comparable(transactions), `byte ${at}`)
  }
})

test('long rows are deflated', () => {
  const transactions = Array.from({ length: 100 }, () => randomBlock(seededRandom(4))).flat()
  const bytes = encodeCallTraces(transactions, addressOf)
  assert.deepEqual(comparable(decodeCallTraces(bytes)), comparable(transactions))
  assert.ok(bytes.length < transactions.flat().length * 5)
})
