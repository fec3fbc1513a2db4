import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keccak256 } from '../../../../src/chain/crypto.js'
import { FORKS, type Fork } from '../../../../src/chain/eth/forks/rules.js'
import { createForkTables } from '../../../../src/evm/interpreter/allPrecompiles.js'
import { createEnvironment } from '../../../../src/evm/interpreter/environment.js'
import type { Hooks } from '../../../../src/evm/interpreter/hooks.js'
import type { NewAccount } from '../../../../src/evm/interpreter/journal/journalAccount.js'
import { Machine } from '../../../../src/evm/interpreter/machine.js'
import { type Outcome, runMessage } from '../../../../src/evm/interpreter/run.js'
import { CODES, CODES_END, LONGEST_HASHED, MEMORIES_BYTES } from '../../../../src/evm/interpreter/wasm/layout.js'
import { wasmOpcodes } from '../../../../src/evm/interpreter/wasm/module.js'
import { wasmCoreOfThread } from '../../../../src/evm/interpreter/wasm/wasmCore.js'
import { bigIntToFixedBytes, bytesToBigInt, concatBytes } from '../../../../src/lib/bytes.js'
import { noDeadline } from '../../../../src/lib/deadline.js'
import { rulesOf } from '../../../support/chains/forks.js'
import { createTestJournal } from '../../../support/chains/memoryState.js'
import { seededRandom } from '../../../support/random.js'
import { THOROUGH } from '../../../support/thorough.js'
import { createRandomWords, EDGES, MODULUS, power, signed, unsigned } from '../../../support/words.js'

const CALLER = new Uint8Array(20).fill(0xaa)
const addressOf = (index: number) => concatBytes(new Uint8Array(18).fill(0xcc), bigIntToFixedBytes(BigInt(index), 2))
const code = (hex: string) => new Uint8Array(Buffer.from(hex.replace(/\s/g, ''), 'hex'))
const tablesOf = createForkTables(() => false)

type Call = (input?: Uint8Array, to?: number, gas?: bigint) => Outcome

/** Calls of contracts, with the loop in WebAssembly or without. */
function setUp(
  codes: readonly Uint8Array[],
  { fork = 'osaka', withWasm = true, hooks }: { fork?: Fork; withWasm?: boolean; hooks?: Hooks } = {},
): Call {
  const account = (bytes: Uint8Array): NewAccount => ({ nonce: 1n, balance: 0n, code: bytes, storage: [] })
  const accounts = codes.map((bytes, i): [Uint8Array, NewAccount] => [addressOf(i), account(bytes)])
  const { journal } = createTestJournal([[CALLER, account(new Uint8Array(0))], ...accounts])
  const rules = rulesOf(fork)
  const block = {
    ...{ number: 1000, timestamp: 1n, coinbase: new Uint8Array(20), gasLimit: 30_000_000n, difficulty: 0n },
    ...{ prevRandao: new Uint8Array(32), baseFeePerGas: 0n, blobBaseFee: 1n, chainId: 1n },
    blockHash: () => new Uint8Array(32),
  }
  const environment = createEnvironment(block, rules.isProofOfStake)
  const machine = new Machine({ ...tablesOf(rules), environment, state: journal, deadline: noDeadline, withWasm })
  machine.hooks = hooks
  return (input = new Uint8Array(0), to = 0, gas = 1_000_000n) =>
    runMessage(machine, { caller: CALLER, to: addressOf(to), value: 0n, input, gas })
}

const flag = (is: boolean) => (is ? 1n : 0n)
const shiftRight = (value: bigint, by: bigint) => (by < 256n ? value >> by : value < 0n ? -1n : 0n)

type Oracle = (a: bigint, b: bigint, c: bigint) => bigint

/** What instructions leave of the words on top of the stack; `a` was the topmost. */
const ORACLES: { readonly [name: string]: readonly [number, Oracle] } = {
  ADD: [0x01, (a, b) => a + b],
  MUL: [0x02, (a, b) => a * b],
  SUB: [0x03, (a, b) => a - b],
  DIV: [0x04, (a, b) => (b === 0n ? 0n : a / b)],
  SDIV: [0x05, (a, b) => (b === 0n ? 0n : signed(a) / signed(b))],
  MOD: [0x06, (a, b) => (b === 0n ? 0n : a % b)],
  SMOD: [0x07, (a, b) => (b === 0n ? 0n : signed(a) % signed(b))],
  ADDMOD: [0x08, (a, b, c) => (c === 0n ? 0n : (a + b) % c)],
  MULMOD: [0x09, (a, b, c) => (c === 0n ? 0n : (a * b) % c)],
  EXP: [0x0a, power],
  SIGNEXTEND: [0x0b, (a, b) => (a < 31n ? BigInt.asIntN(8 * (Number(a) + 1), b) : b)],
  LT: [0x10, (a, b) => flag(a < b)],
  GT: [0x11, (a, b) => flag(a > b)],
  SLT: [0x12, (a, b) => flag(signed(a) < signed(b))],
  SGT: [0x13, (a, b) => flag(signed(a) > signed(b))],
  EQ: [0x14, (a, b) => flag(a === b)],
  ISZERO: [0x15, (a) => flag(a === 0n)],
  AND: [0x16, (a, b) => a & b],
  OR: [0x17, (a, b) => a | b],
  XOR: [0x18, (a, b) => a ^ b],
  NOT: [0x19, (a) => ~a],
  BYTE: [0x1a, (a, b) => (a < 32n ? (b >> (8n * (31n - a))) & 0xffn : 0n)],
  SHL: [0x1b, (a, b) => (a < 256n ? b << a : 0n)],
  SHR: [0x1c, (a, b) => shiftRight(b, a)],
  SAR: [0x1d, (a, b) => shiftRight(signed(b), a)],
  CLZ: [0x1e, (a) => BigInt(a === 0n ? 256 : 256 - a.toString(2).length)],
}

/** Gives what an instruction makes of words, in a loop over nothing but that. */
function createRunner(op: number): (a: bigint, b: bigint, c: bigint) => bigint {
  // Below them is a word of ones that must stay so.
  const call = setUp([concatBytes(code('5f19 6040 35 6020 35 5f 35'), Uint8Array.of(op), code('5f 52 6020 5f f3'))])
  return (a, b, c) => {
    const { status, output } = call(concatBytes(...[a, b, c].map((word) => bigIntToFixedBytes(word, 32))))
    assert.equal(status, 'success')
    return bytesToBigInt(output)
  }
}

function check(name: string, words: Iterable<readonly [bigint, bigint, bigint]>): void {
  const [op, oracle] = ORACLES[name]
  assert.ok(wasmOpcodes().has(op))
  const run = createRunner(op)
  for (const [a, b, c] of words) {
    const expected = unsigned(oracle(a, b, c))
    const result = run(a, b, c)
    if (result !== expected) {
      const given = [a, b, c].map((word) => `0x${word.toString(16)}`).join(', ')
      assert.fail(`${name} of ${given}: 0x${result.toString(16)}, not 0x${expected.toString(16)}`)
    }
  }
}

// Of the random input.
const SHARE = THOROUGH ? 1 : 0.3

test('there is a loop', () => {
  assert.notEqual(wasmCoreOfThread(), undefined)
})

for (const name of Object.keys(ORACLES)) {
  test(`${name} does as integers say`, () => {
    const random = createRandomWords(20_261_121)
    const isSmall = ['SIGNEXTEND', 'BYTE', 'SHL', 'SHR', 'SAR'].includes(name)
    const rounds = (name === 'EXP' ? 1000 : ['DIV', 'MOD', 'ADDMOD', 'MULMOD'].includes(name) ? 30_000 : 6000) * SHARE
    check(
      name,
      (function* () {
        const third = () => random.word()
        for (const a of EDGES) for (const b of EDGES) yield [a, b, third()]
        for (let i = 0; i < rounds; i++) yield [random.word(), random.word(), third()]
        // Equal ones, and ones that differ in one bit.
        for (let i = 0; i < 500; i++) {
          const word = random.word()
          yield [word, word, word]
          yield [word, word ^ (1n << BigInt(random.below(256))), unsigned(word + 1n)]
        }
        for (let a = 0n; isSmall && a < 520n; a++) for (let i = 0; i < 8; i++) yield [a, random.word(), 0n]
      })(),
    )
  })
}

test('divides where the guess of a digit is too large and is corrected', () => {
  const random = createRandomWords(7)
  const QUOTIENTS = [1n, 2n, 0xffffn, 0xffff_ffffn, 2n ** 32n, 2n ** 64n - 1n, 2n ** 128n - 1n, 2n ** 128n]
  function* cases(): Generator<[bigint, bigint, bigint]> {
    for (let bits = 1n; bits <= 256n; bits++) {
      const top = 2n ** (bits - 1n)
      const divisors = [top, 2n * top - 1n, top + 1n, top | (top >> 1n), 2n * top - 2n ** (bits / 2n)]
      for (const divisor of divisors.filter((value) => value < MODULUS)) {
        for (const quotient of [...QUOTIENTS, random.word(), random.word()]) {
          for (const change of [-1n, 0n, 1n, divisor - 1n]) {
            yield [unsigned(divisor * quotient + change), divisor, divisor]
          }
        }
      }
    }
  }
  for (const name of ['DIV', 'MOD', 'SDIV', 'SMOD', 'ADDMOD', 'MULMOD']) check(name, cases())
})

test('reduces products by moduli near to both factors', () => {
  const random = createRandomWords(8)
  function* cases(): Generator<[bigint, bigint, bigint]> {
    for (let i = 0; i < 30_000 * SHARE; i++) {
      const c = random.word()
      const near = () => unsigned(c + BigInt(random.below(5)) - 2n)
      yield [random.below(2) ? near() : random.word(), near(), c]
    }
  }
  check('MULMOD', cases())
  check('ADDMOD', cases())
})

// Pushes of 0 to 32 bytes, near the end of the code too, where zeros are read.
test('pushes data of every length', () => {
  const random = seededRandom(5)
  for (let size = 1; size <= 32; size++) {
    const data = random.bytes(size)
    const call = setUp([concatBytes(code('5f19'), Uint8Array.of(0x5f + size), data, code('5f 52 6020 5f f3'))])
    assert.equal(bytesToBigInt(call().output), bytesToBigInt(data), `${size} bytes`)
    for (const there of [0, 1, size - 1]) {
      // Cut off, so that nothing follows: the gas alone shows that it was executed.
      const { status, gasLeft } = setUp([concatBytes(Uint8Array.of(0x5f + size), data.subarray(0, there))])()
      assert.deepEqual([status, gasLeft], ['success', 999_997n])
    }
  }
})

test('hashes, loads and stores memory at every offset and length', () => {
  const random = seededRandom(6)
  // Call data go to memory; its first word is an offset, its second one a length or a value.
  const call = setUp([
    code('36 5f 5f 37 6020 35 5f 35 20 5f 52 6020 5f f3'),
    code('36 5f 5f 37 5f 35 51 5f 52 6020 5f f3'),
    code('36 5f 5f 37 60aa 5f 35 53 36 5f f3'),
    code('36 5f 5f 37 6020 35 5f 35 52 36 5f f3'),
    code('5f 35 35 5f 52 6020 5f f3'),
  ])
  const lengths = [...Array.from({ length: 300 }, (_, i) => i), LONGEST_HASHED - 1, LONGEST_HASHED, LONGEST_HASHED + 1]
  for (const length of lengths) {
    const size = 64 + random.below(600) + (length > 300 ? length : 0)
    const offset = random.below(size)
    const input = random.bytes(size)
    input.set(bigIntToFixedBytes(BigInt(offset), 32))
    input.set(bigIntToFixedBytes(BigInt(length), 32), 32)
    const there = concatBytes(input, new Uint8Array(length + 64))
    const outputOf = (to: number) => Buffer.from(call(input, to, 10_000_000n).output).toString('hex')
    const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
    assert.equal(outputOf(0), hex(keccak256(there.slice(offset, offset + length))), `${length} bytes at ${offset}`)
    assert.equal(outputOf(1), hex(there.slice(offset, offset + 32)), `a word at ${offset} of ${size}`)
    assert.equal(outputOf(4), hex(there.slice(offset, offset + 32)), `call data at ${offset} of ${size}`)
    const changed = there.slice()
    changed[offset] = 0xaa
    assert.equal(outputOf(2), hex(changed.slice(0, size)), `a byte at ${offset} of ${size}`)
    const stored = there.slice()
    stored.set(input.subarray(32, 64), offset)
    assert.equal(outputOf(3), hex(stored.slice(0, size)), `a word stored at ${offset} of ${size}`)
  }
})

test('copies calldata of every offset and length to memory', () => {
  const random = seededRandom(7)
  // Copies by the first three words of the calldata, and returns the memory. The second contract calls the first one
  // with its own calldata behind 32 bytes, where it begins at an offset.
  const copier = code('5f 19 5f 52 6040 35 6020 35 5f 35 37 59 5f f3')
  const caller = code(`36 5f 6020 37 5f 5f 36 6020 5f 73 ${Buffer.from(addressOf(0)).toString('hex')} 5a f1 50
    3d 5f 5f 3e 3d 5f f3`)
  const [calls, expected] = [true, false].map((withWasm) => setUp([copier, caller], { withWasm }))
  for (let i = 0; i < 1500; i++) {
    const size = 96 + random.below(200)
    const input = random.bytes(size)
    const far = [2n ** 32n, 2n ** 64n, 2n ** 255n][random.below(3)]
    const words = [random.below(1500), random.below(size + 40), random.below([40, 300, 1100][random.below(3)])].map(
      BigInt,
    )
    const which = random.below(40)
    if (which < 2) words[which] = far
    for (const [at, word] of words.entries()) input.set(bigIntToFixedBytes(word, 32), 32 * at)
    const [to, from, length] = words.map(Number)
    const where = `${words} of ${size} bytes`
    for (const contract of [0, 1]) {
      const outcome = calls(input, contract, 100_000n)
      assert.deepEqual(outcome, expected(input, contract, 100_000n), where)
      if (which === 0 || length === 0) continue
      const memory = new Uint8Array(Math.max(32, Math.ceil((to + length) / 32) * 32)).fill(0xff, 0, 32)
      memory.fill(0, to, to + length)
      if (from < size) memory.set(input.subarray(from, Math.min(from + length, size)), to)
      assert.deepEqual(outcome.output, memory, where)
    }
  }
})

test('the hashes of 64 bytes are right, of new ones and of those that were hashed before', () => {
  const random = seededRandom(8)
  const call = setUp([code('6040 5f 5f 37 6040 5f 20 5f 52 6020 5f f3')])
  // More than are kept: no bytes, keys of mappings, and keys that differ from another one in one bit.
  const keys = Array.from({ length: 6000 }, (_, i) => {
    const key = new Uint8Array(64)
    if (i > 0) key.set(random.bytes(20), 12)
    if (i % 3 > 0) key.set(random.bytes(32), 32)
    if (i % 3 === 1) key[63] = i
    return key
  })
  for (const key of keys.slice(0, 500)) {
    const other = key.slice()
    other[random.below(64)] ^= 1 << random.below(8)
    keys.push(other)
  }
  const hashes = keys.map((key) => Buffer.from(keccak256(key)).toString('hex'))
  const check = (i: number) => assert.equal(Buffer.from(call(keys[i]).output).toString('hex'), hashes[i])
  for (let i = 0; i < keys.length; i++) {
    check(i)
    check(random.below(i + 1))
    check(Math.max(0, i - random.below(8)))
  }
})

/** A program of instructions with operands that often mean something to them, which ends in the words on its stack. */
function randomProgram(words: ReturnType<typeof createRandomWords>): Uint8Array {
  const parts: Uint8Array[] = []
  const push = (value: bigint, size = 32) => {
    parts.push(Uint8Array.of(0x5f + size), bigIntToFixedBytes(BigInt.asUintN(8 * size, value), size))
  }
  const small = () => push(BigInt(words.below([4, 40, 300, 2000][words.below(4)])), 2)
  const codes = [...wasmOpcodes()]
  const length = 4 + words.below(60)
  for (let i = 0; i < length; i++) {
    const kind = words.below(16)
    if (kind < 4) push(words.word(), words.below(3) === 0 ? 1 + words.below(32) : 32)
    else if (kind < 7) small()
    else if (kind < 14) parts.push(Uint8Array.of(codes[words.below(codes.length)]))
    else if (kind === 14) parts.push(Uint8Array.of(0x5b))
    else parts.push(Uint8Array.of(words.below(256)))
    // Jumps, which mostly miss: some to the first byte, which is a JUMPDEST, until the gas is used up.
    if (words.below(40) === 0) parts.push(code(['6000 56', '5a 6007 16 6000 57', '80 6000 57'][words.below(3)]))
  }
  // What is left: some words, and the memory.
  return concatBytes(Uint8Array.of(0x5b), ...parts, code('6103 00 52 6103 20 52 6103 40 52 6103 60 52 6104 00 6000 f3'))
}

test('ends as the instructions in JavaScript do, on random programs of every fork', () => {
  const words = createRandomWords(31)
  let succeeded = 0
  for (let i = 0; i < 6000 * SHARE; i++) {
    const fork = FORKS[i % FORKS.length]
    const program = randomProgram(words)
    const input = bigIntToFixedBytes(words.word(), 32).subarray(words.below(33))
    const gas = BigInt(words.below(2) === 0 ? 100_000 : 40 + words.below(400))
    const [ours, expected] = [true, false].map((withWasm) => setUp([program], { fork, withWasm })(input, 0, gas))
    assert.deepEqual(
      ours,
      expected,
      `${fork}, gas ${gas}, input ${Buffer.from(input).toString('hex')}, program
      ${Buffer.from(program).toString('hex')}`,
    )
    if (ours.status === 'success') succeeded++
  }
  assert.ok(succeeded > 500 * SHARE, `only ${succeeded} succeeded`)
})

const EXECUTED = wasmOpcodes()
const IS_LEFT = Uint8Array.from({ length: 256 }, (_, op) => (EXECUTED.has(op) ? 0 : 1))

/** Hooks that list the instructions which the loop leaves, with what stands when they begin and when they end. */
function observe(): { hooks: Hooks; seen: unknown[] } {
  const seen: unknown[] = []
  let isSeen = false
  const hooks: Hooks = {
    opcodes: IS_LEFT,
    step(_, frame, op) {
      isSeen = IS_LEFT[op] === 1
      if (isSeen) seen.push([op, frame.pc, frame.sp - frame.stackBase, frame.gas, frame.memorySize])
    },
    stepped(_, cost, failure) {
      if (isSeen) seen.push([Number(cost), failure])
    },
  }
  return { hooks, seen }
}

test('hooks for what the loop leaves see the same as those for every instruction', () => {
  const words = createRandomWords(32)
  let count = 0
  for (let i = 0; i < 4000 * SHARE; i++) {
    const fork = FORKS[i % FORKS.length]
    const program = randomProgram(words)
    const input = bigIntToFixedBytes(words.word(), 32)
    const gas = BigInt(words.below(2) === 0 ? 100_000 : 40 + words.below(3000))
    const [some, all] = [observe(), observe()]
    const wanted = setUp([program], { fork, hooks: { ...all.hooks, opcodes: undefined } })(input, 0, gas)
    const outcome = setUp([program], { fork, hooks: some.hooks })(input, 0, gas)
    const where = `${fork}, gas ${gas}, program ${Buffer.from(program).toString('hex')}`
    assert.deepEqual(outcome, wanted, where)
    assert.deepEqual(some.seen, all.seen, where)
    count += some.seen.length
  }
  assert.ok(count > 2000 * SHARE, `only ${count} were seen`)
})

test('continues without the loop where a message needs more memory than it has', () => {
  // Words at the end of what the loop has, across it and beyond it, then back; then the same from the beginning.
  const at = (offset: number) => `63${offset.toString(16).padStart(8, '0')}`
  const offsets = [64, MEMORIES_BYTES - 32, MEMORIES_BYTES - 8, MEMORIES_BYTES + 4096, 128]
  const stores = offsets.map((offset, i) => `61${(0xab00 + i).toString(16)} ${at(offset)} 52`).join(' ')
  const loads = offsets.map((offset) => `${at(offset)} 51 01`).join(' ')
  const call = setUp([code(`${stores} 5f ${loads} 5f 35 01 5f 52 6020 5f f3`)])
  const input = bigIntToFixedBytes(5n, 32)
  for (let i = 0; i < 3; i++) {
    const { status, output } = call(input, 0, 2n ** 40n)
    assert.equal(status, 'success')
    // The word across the end has zeros where the one before ended.
    const sum = 0xab00n + 0xab02n + 0xab03n + 0xab04n + 5n
    assert.equal(bytesToBigInt(output), sum)
  }
})

test('continues without the loop where frames need more stack than it has', () => {
  // Fills its stack with 1,000 ones, then calls itself with what is left of the gas, and adds the result to its own
  // sum.
  const program = code(`
    ${'6001'.repeat(1000)}
    6020 5f 5f 5f 5f 30 5a f1 50
    ${'01'.repeat(999)} 5f 51 01 5f 52 6020 5f f3`)
  const results = [true, false].map((withWasm) => setUp([program], { withWasm })(undefined, 0, 40_000_000n))
  assert.deepEqual(results[0], results[1])
  assert.ok(bytesToBigInt(results[0].output) > 200n * 1000n, `sum ${bytesToBigInt(results[0].output)}`)
})

test('keeps codes apart where there is not enough room for all of them', () => {
  // Each contract returns its own number after much code; the first one calls all others and sums.
  const size = 24_000
  const count = Math.ceil((CODES_END - CODES) / size) + 20
  const programs = Array.from({ length: count }, (_, i) => {
    const number = bigIntToFixedBytes(BigInt(i), 2)
    return concatBytes(new Uint8Array(size).fill(0x5b), code('61'), number, code('5f 52 6020 5f f3'))
  })
  const calls = programs.slice(1).map((_, i) => {
    return concatBytes(code('6020 5f 5f 5f 5f 73'), addressOf(i + 1), code('5a f1 50 5f 51 01'))
  })
  programs[0] = concatBytes(code('5f'), ...calls, code('5f 52 6020 5f f3'))
  const call = setUp(programs)
  for (let round = 0; round < 2; round++) {
    for (let i = 1; i < count; i++) assert.equal(bytesToBigInt(call(undefined, i).output), BigInt(i))
    assert.equal(bytesToBigInt(call(undefined, 0, 30_000_000n).output), BigInt((count * (count - 1)) / 2))
  }
})
