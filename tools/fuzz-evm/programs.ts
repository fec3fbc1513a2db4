import { combineForks, FORK_DEFINITIONS, type Fork } from '../../src/chain/eth/forks/all.js'
import { instructionsOf } from '../../src/evm/interpreter/opcodes/instructions.js'
import { concatBytes } from '../../src/lib/bytes.js'
import type { SeededRandom } from '../../test/support/random.js'
import { precompileInput } from './precompileInputs.js'

/** What programs are made for. */
export interface ProgramOptions {
  has(fork: Fork): boolean
  /** Addresses that they name. */
  known: readonly Uint8Array[]
}

const JUMPDEST = 0x5b
const CREATES = [0xf0, 0xf5]
const CALLS = [0xf1, 0xf2, 0xf4, 0xfa]
const ENDS = [0xf3, 0xfd]

/** Words at which carries, signs and bounds change. */
export const EDGES = [
  '00',
  '01',
  '02',
  '1f',
  '20',
  'ff',
  '0100',
  '7fffffff',
  '80000000',
  'ffffffff',
  '0100000000',
  '1fffffffffffff',
  'ffffffffffffffff',
  '010000000000000000',
  `7f${'ff'.repeat(31)}`,
  `80${'00'.repeat(31)}`,
  'ff'.repeat(32),
  `${'ff'.repeat(31)}fe`,
].map((text) => new Uint8Array(Buffer.from(text, 'hex')))

/** Makers of random programs. They consist of statements that push operands which mean something to the instruction, so
 *  that most programs get far; some are spoiled, and some are nothing but random bytes. */
export function createPrograms(random: SeededRandom, options: ProgramOptions) {
  const maker = createStatements(random, options)
  const program = (): Uint8Array => {
    if (random.below(25) === 0) return random.bytes(random.below(60))
    const parts: Uint8Array[] = []
    const count = 1 + random.below(14)
    let length = 0
    for (let i = 0; i < count; i++) {
      const part = maker.statement(length)
      parts.push(part)
      length += part.length
    }
    if (random.below(2) === 0) parts.push(maker.end())
    const code = concatBytes(...parts)
    if (random.below(20) === 0 && code.length > 0) code[random.below(code.length)] = random.below(256)
    return code
  }
  return { program, initCode: () => concatBytes(program(), maker.returnCode()) }
}

function createStatements(random: SeededRandom, { has, known }: ProgramOptions) {
  const instructions = instructionsOf(combineForks(FORK_DEFINITIONS.filter(({ name }) => has(name))))
  const plain: number[] = []
  for (let op = 1; op < 0x100; op++) {
    const isControl = op === 0x56 || op === 0x57 || op === JUMPDEST || (op >= 0x60 && op < 0xa0) || op >= 0xf0
    const isDeep = has('amsterdam') && op >= 0xe6 && op <= 0xe8
    if (!isControl && !isDeep && (instructions[op] !== undefined || random.below(200) === 0)) plain.push(op)
  }

  const push = (bytes: Uint8Array): Uint8Array => concatBytes(Uint8Array.of(0x5f + bytes.length), bytes)
  const small = (limit: number): Uint8Array => {
    const value = random.below(limit)
    return value < 256 ? push(Uint8Array.of(value)) : push(Uint8Array.of(value >>> 8, value & 0xff))
  }
  const word = (): Uint8Array => {
    const kind = random.below(4)
    if (kind === 0) return push(EDGES[random.below(EDGES.length)])
    if (kind === 1) return push(random.bytes(1 + random.below(32)))
    return small(random.below(2) === 0 ? 8 : 300)
  }
  const address = (): Uint8Array => {
    const kind = random.below(10)
    if (kind === 0) return word()
    if (kind <= 2) return push(Uint8Array.of(1 + random.below(has('prague') ? 18 : 10))) // precompiles, and some that are none
    if (kind === 3) return Uint8Array.of(0x30) // ADDRESS
    return push(known[random.below(known.length)])
  }
  /** An offset or length in memory: nearly always one that can be paid. */
  const range = (): Uint8Array => (random.below(60) === 0 ? word() : small(random.below(3) === 0 ? 600 : 100))
  const slot = (): Uint8Array => (random.below(8) === 0 ? word() : small(5))

  const copies = new Set([0x20, 0x37, 0x39, 0x3e, 0x5e, 0xa0, 0xa1, 0xa2, 0xa3, 0xa4])
  const operand = (op: number, index: number): Uint8Array => {
    if (op === 0x3e && random.below(3) > 0) return small(33) // return data is mostly short
    if (copies.has(op) && index < (op >= 0xa0 || op === 0x20 ? 2 : 3)) return range()
    if (op === 0x31 || op === 0x3b || op === 0x3f || op === 0xff) return address()
    if (op === 0x3c) return index === 0 ? address() : range()
    if (op >= 0x51 && op <= 0x53 && index === 0) return range()
    if ((op === 0x54 || op === 0x55 || op === 0x5c || op === 0x5d) && index === 0) return slot()
    if (op === 0x55 && random.below(2) === 0) return small(3)
    if (op === 0x35) return range()
    if (op === 0x40) return small(320)
    if (op === 0x49) return small(4)
    return word()
  }
  const operands = (op: number, count: number): Uint8Array[] => {
    const parts: Uint8Array[] = []
    for (let index = count - 1; index >= 0; index--) parts.push(operand(op, index))
    return parts
  }
  /** What becomes of a result on the stack. */
  const consume = (): Uint8Array => {
    const kind = random.below(6)
    if (kind === 0) return concatBytes(slot(), Uint8Array.of(0x55))
    if (kind <= 2) return concatBytes(small(200), Uint8Array.of(0x52))
    if (kind === 3) return Uint8Array.of(0x50)
    return new Uint8Array(0)
  }
  const plainStatement = (): Uint8Array => {
    const op = plain[random.below(plain.length)]
    const { pops, pushes } = instructions[op] ?? { pops: 1, pushes: 0 }
    return concatBytes(...operands(op, pops), Uint8Array.of(op), pushes > 0 ? consume() : new Uint8Array(0))
  }
  const callStatement = (): Uint8Array => {
    const op = CALLS[random.below(instructions[0xfa] ? 4 : instructions[0xf4] ? 3 : 2)]
    const parts = [small(64), small(300), small(random.below(2) === 0 ? 213 : 130), small(300)]
    if (op === 0xf1 || op === 0xf2) parts.push(random.below(3) === 0 ? small(50) : push(Uint8Array.of(0)))
    const gas = random.below(3)
    parts.push(
      address(),
      gas === 0 ? word() : gas === 1 ? Uint8Array.of(0x5a) : push(random.bytes(2)),
      Uint8Array.of(op),
    )
    return concatBytes(...parts, consume())
  }
  /** A precompile called with an input that it is likely to take, its output kept. */
  const precompileStatement = (): Uint8Array => {
    const { address: precompile, input } = precompileInput(random)
    const parts: Uint8Array[] = []
    for (let at = 0; at < input.length; at += 32) {
      const part = new Uint8Array(32)
      part.set(input.subarray(at, at + 32))
      parts.push(push(part), push(Uint8Array.of(at >>> 8, at & 0xff)), Uint8Array.of(0x52))
    }
    const sized = push(Uint8Array.of(input.length >>> 8, input.length & 0xff))
    const gas = random.below(4) === 0 ? push(random.bytes(2)) : Uint8Array.of(0x5a)
    const zero = push(Uint8Array.of(0))
    parts.push(small(100), zero, sized, zero, zero, push(Uint8Array.of(precompile)), gas, Uint8Array.of(0xf1))
    parts.push(consume(), zero, Uint8Array.of(0x51), slot(), Uint8Array.of(0x55))
    return concatBytes(...parts)
  }
  const returnCode = (): Uint8Array => {
    // MSTORE8 of what the code begins with, and RETURN of some bytes.
    const first = Uint8Array.of([0x00, 0x60, 0xef, 0xfe, 0x5b, 0x30][random.below(6)])
    return concatBytes(
      push(first),
      push(Uint8Array.of(0)),
      Uint8Array.of(0x53),
      small(40),
      push(Uint8Array.of(0)),
      Uint8Array.of(0xf3),
    )
  }
  const createStatement = (): Uint8Array => {
    const op = CREATES[instructions[0xf5] ? random.below(2) : 0]
    // Init code of at most 32 bytes is put in memory first; or whatever lies there is run.
    const code = random.below(4) === 0 ? random.bytes(10) : returnCode()
    const prefix =
      code.length <= 32 ? concatBytes(push(code), push(Uint8Array.of(0)), Uint8Array.of(0x52)) : new Uint8Array(0)
    const parts = [prefix]
    if (op === 0xf5) parts.push(small(3))
    const value = random.below(3) === 0 ? small(40) : push(Uint8Array.of(0))
    parts.push(
      push(Uint8Array.of(code.length)),
      push(Uint8Array.of(32 - Math.min(code.length, 32))),
      value,
      Uint8Array.of(op),
    )
    const next = random.below(3)
    // Often what was created is called or asked for.
    if (next === 0) {
      const zero = push(Uint8Array.of(0))
      parts.push(zero, zero, zero, zero, zero, Uint8Array.of(0x85, 0x5a, 0xf1, 0x50))
    } else if (next === 1) parts.push(Uint8Array.of(0x80, instructions[0x3f] ? 0x3f : 0x3b, 0x50))
    return concatBytes(...parts, consume())
  }
  /** A jump over some bytes, or back to a loop of a few rounds; `at` is where the statement will lie. */
  const jumpStatement = (at: number): Uint8Array => {
    const position = (offset: number) => Uint8Array.of(0x61, (at + offset) >>> 8, (at + offset) & 0xff)
    if (random.below(2) === 0) {
      const skipped = random.bytes(random.below(6))
      const condition = word()
      const length = condition.length + 4 + skipped.length
      return concatBytes(condition, position(length), Uint8Array.of(0x57), skipped, Uint8Array.of(JUMPDEST))
    }
    const body = plainStatement()
    const rounds = Uint8Array.of(0x60, 1 + random.below(6))
    // counter; JUMPDEST; body; counter - 1; DUP1; back when it is not zero. A body may leave the stack otherwise than
    // it was.
    return concatBytes(
      rounds,
      Uint8Array.of(JUMPDEST),
      body,
      Uint8Array.of(0x60, 1, 0x90, 0x03, 0x80),
      position(2),
      Uint8Array.of(0x57),
    )
  }
  const stackStatement = (): Uint8Array => {
    if (has('amsterdam') && random.below(2) === 0) return deepStackStatement()
    const count = 1 + random.below(17)
    const parts = Array.from({ length: count }, word)
    parts.push(Uint8Array.of((random.below(2) === 0 ? 0x80 : 0x90) + random.below(16)))
    return concatBytes(...parts)
  }
  /** DUPN, SWAPN or EXCHANGE on mostly enough words, with any immediate byte. */
  const deepStackStatement = (): Uint8Array => {
    const parts = Array.from({ length: 14 + random.below(10) }, () => small(300))
    const immediate = random.below(3) === 0 ? random.below(256) : (128 + random.below(8)) & 0xff
    parts.push(Uint8Array.of(0xe6 + random.below(3), immediate))
    return concatBytes(...parts, consume())
  }
  const end = (): Uint8Array => {
    const kind = random.below(8)
    if (kind === 0) return concatBytes(address(), Uint8Array.of(0xff))
    if (kind === 1) return Uint8Array.of(0xfe)
    return concatBytes(range(), range(), Uint8Array.of(ENDS[instructions[0xfd] ? random.below(2) : 0]))
  }
  const statement = (at: number): Uint8Array => {
    const kind = random.below(20)
    if (kind < 3) return callStatement()
    if (kind === 3) return createStatement()
    if (kind === 4) return jumpStatement(at)
    if (kind === 7 && random.below(4) === 0) return precompileStatement()
    if (kind === 5) return stackStatement()
    if (kind === 6 && random.below(8) === 0) return end()
    return plainStatement()
  }
  return { statement, end, returnCode }
}
