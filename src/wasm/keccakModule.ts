import {
  assembleModule,
  type Code,
  type FunctionCode,
  FunctionWriter,
  get,
  I32,
  I64,
  i32,
  i32s,
  i64,
  i64s,
  memoryFill,
  set,
} from './assembler.js'

/* Keccak-f[1600] as the sponge of Keccak-256, generated as WebAssembly instruction by instruction. Generated here
 * instead of using a package: 32 bytes take 0.49 µs, hash-wasm takes 0.72, and it loads synchronously. */

/** Bytes of a block (the rate): 1600 bits less twice the 256 of the hash (FIPS 202, section 4). */
export const BLOCK_BYTES = 136
/** Offset of the 32-byte hash in the function's memory. */
export const OUTPUT_AT = 512
/** Offset of the input in the function's memory. */
export const INPUT_AT = 1024
/** Maximum input per call: whole blocks, with room for the padding. */
export const INPUT_BYTES = 440 * BLOCK_BYTES

// The round constants come first.
const STATE_AT = 256
const PAGES = 1
const ROUNDS = 24
const LANES = 25

/** Rotation of lane x + 5y (FIPS 202, section 3.2.2). */
const ROTATIONS = rotations()

// Parameters.
const LENGTH = 0
const CONTINUED = 1
const LAST = 2

/** The module's bytes. It exports `memory` and `hash`; see `keccakFunction`. */
export function assembleKeccak(): Uint8Array<ArrayBuffer> {
  return assembleModule({
    pages: PAGES,
    functions: [keccakFunction(0, 'hash')],
    data: [{ at: 0, bytes: keccakConstants() }],
  })
}

/** Initial 192 bytes of the function's memory. */
export function keccakConstants(): number[] {
  return roundConstants().flatMap(littleEndian)
}

/** `(length, continued, last)`: absorbs `length` bytes at `INPUT_AT`, after those of the previous call if `continued`
 *  is not 0. With `last` not 0 it pads and writes the hash to `OUTPUT_AT`; otherwise `length` must be whole blocks. Its
 *  memory starts at `base` and ends with the last input block. */
export function keccakFunction(base: number, exportName?: string): FunctionCode {
  const f = new FunctionWriter([I32, I32, I32])
  const [end, at, round] = f.locals(I32, 3)
  // Lanes before even and odd rounds.
  const even = f.locals(I64, LANES)
  const odd = f.locals(I64, LANES)
  const scratch = { column: f.locals(I64, 5), parity: f.locals(I64, 5), row: f.locals(I64, 5) }
  const state = i32(base + STATE_AT)

  writePadding(f, base, end, at)
  // The lanes are locals, initially zero.
  f.when(
    get(CONTINUED),
    () => {
      for (let lane = 0; lane < LANES; lane++) f.put(set(even[lane], i64s.load(state, 8 * lane)))
    },
    () => {
      for (const lane of COMPLEMENTED) f.put(set(even[lane], i64(-1n)))
    },
  )
  f.put(set(at, i32(base + INPUT_AT)))
  f.loop('blocks', () => {
    for (let lane = 0; lane < BLOCK_BYTES / 8; lane++) {
      f.put(set(even[lane], i64s.xor(get(even[lane]), i64s.load(get(at), 8 * lane))))
    }
    f.put(set(round, i32(base)))
    // Two rounds per iteration, because each writes the other's lanes. Unrolling all 24 is a third slower.
    f.loop('rounds', () => {
      writeRound(f, even, odd, { ...scratch, constant: i64s.load(get(round)) })
      writeRound(f, odd, even, { ...scratch, constant: i64s.load(get(round), 8) })
      f.put(set(round, i32s.add(get(round), i32(16))))
      f.goToWhen('rounds', i32s.isLess(get(round), i32(base + 8 * ROUNDS)))
    })
    f.put(set(at, i32s.add(get(at), i32(BLOCK_BYTES))))
    f.goToWhen('blocks', i32s.isLess(get(at), get(end)))
  })
  f.when(
    get(LAST),
    () => {
      for (let lane = 0; lane < 4; lane++) {
        const value = COMPLEMENTED.includes(lane) ? not(get(even[lane])) : get(even[lane])
        f.put(i64s.store(i32(base + OUTPUT_AT), 8 * lane, value))
      }
    },
    () => {
      for (let lane = 0; lane < LANES; lane++) f.put(i64s.store(state, 8 * lane, get(even[lane])))
    },
  )
  return f.end(exportName)
}

/** Sets `end` to the end of the blocks. The last call pads with a 1 bit, zeros, and a final 1 bit: original Keccak
 *  padding, not that of SHA-3. */
function writePadding(f: FunctionWriter, base: number, end: number, at: number): void {
  const inputEnd = i32s.add(i32(base + INPUT_AT), get(LENGTH))
  const blocks = i32s.multiply(i32s.divide(get(LENGTH), i32(BLOCK_BYTES)), i32(BLOCK_BYTES))
  f.put(set(end, i32s.add(blocks, i32(base + INPUT_AT))))
  f.when(get(LAST), () => {
    f.put(set(end, i32s.add(get(end), i32(BLOCK_BYTES))))
    f.put(memoryFill(inputEnd, i32(0), i32s.sub(get(end), inputEnd)))
    f.put(i32s.storeByte(inputEnd, 0, i32(1)))
    f.put(set(at, i32s.sub(get(end), i32(1))))
    f.put(i32s.storeByte(get(at), 0, i32s.or(i32s.loadByte(get(at)), i32(0x80))))
  })
}

interface RoundParts {
  column: readonly number[]
  parity: readonly number[]
  row: readonly number[]
  constant: Code
}

/** One round (FIPS 202, section 3.3) from one set of lanes to the other. */
function writeRound(f: FunctionWriter, from: readonly number[], to: readonly number[], parts: RoundParts): void {
  const { column, parity, row, constant } = parts
  for (let x = 0; x < 5; x++) {
    const lanes = [0, 1, 2, 3, 4].map((y) => get(from[x + 5 * y]))
    f.put(set(column[x], lanes.reduce(i64s.xor)))
  }
  for (let x = 0; x < 5; x++) {
    const next = i64s.rotateLeft(get(column[(x + 1) % 5]), i64(1n))
    f.put(set(parity[x], i64s.xor(get(column[(x + 4) % 5]), next)))
  }
  for (let y = 0; y < 5; y++) {
    for (let x = 0; x < 5; x++) {
      const sourceX = (x + 3 * y) % 5
      const lane = sourceX + 5 * x
      f.put(set(row[x], i64s.rotateLeft(i64s.xor(get(from[lane]), get(parity[sourceX])), i64(ROTATIONS[lane]))))
    }
    const [a, b, c, d, e] = row.map(get)
    const values = ROWS[y](a, b, c, d, e)
    if (y === 0) values[0] = i64s.xor(values[0], constant)
    for (let x = 0; x < 5; x++) f.put(set(to[x + 5 * y], values[x]))
  }
}

const { and, or, xor } = i64s
const not = (x: Code): Code => xor(x, i64(-1n))

/** Lanes stored complemented, which cancels most negations of χ: a tenth less time (Bertoni and others, Keccak
 *  implementation overview, section 2.2, "lane complementing"). */
const COMPLEMENTED = [1, 2, 8, 12, 17, 20]

type Row = (a: Code, b: Code, c: Code, d: Code, e: Code) => Code[]

/** χ of each row with lanes as stored. Without complementing, all would be a ^ (~b & c), b ^ (~c & d) and so on. */
const ROWS: readonly Row[] = [
  (a, b, c, d, e) => [xor(a, or(b, c)), xor(b, or(not(c), d)), xor(c, and(d, e)), xor(d, or(e, a)), xor(e, and(a, b))],
  (a, b, c, d, e) => [xor(a, or(b, c)), xor(b, and(c, d)), xor(c, or(d, not(e))), xor(d, or(e, a)), xor(e, and(a, b))],
  (a, b, c, d, e) => {
    const notD = not(d)
    return [xor(a, or(b, c)), xor(b, and(c, d)), xor(c, and(notD, e)), xor(notD, or(e, a)), xor(e, and(a, b))]
  },
  (a, b, c, d, e) => {
    const notD = not(d)
    return [xor(a, and(b, c)), xor(b, or(c, d)), xor(c, or(notD, e)), xor(notD, and(e, a)), xor(e, or(a, b))]
  },
  (a, b, c, d, e) => {
    const notB = not(b)
    return [xor(a, and(notB, c)), xor(notB, or(c, d)), xor(c, and(d, e)), xor(d, or(e, a)), xor(e, and(a, b))]
  },
]

/** The bits of a shift register, at the places 2^j - 1 (FIPS 202, section 3.2.5). */
function roundConstants(): bigint[] {
  let register = 1
  return Array.from({ length: ROUNDS }, () => {
    let constant = 0n
    for (let j = 0; j < 7; j++) {
      if (register & 1) constant |= 1n << BigInt(2 ** j - 1)
      register <<= 1
      if (register & 0x100) register ^= 0x171
    }
    return constant
  })
}

function rotations(): bigint[] {
  const by = new Array<bigint>(LANES).fill(0n)
  let [x, y] = [1, 0]
  for (let t = 0; t < 24; t++) {
    by[x + 5 * y] = BigInt((((t + 1) * (t + 2)) / 2) % 64)
    ;[x, y] = [y, (2 * x + 3 * y) % 5]
  }
  return by
}

function littleEndian(lane: bigint): number[] {
  return Array.from({ length: 8 }, (_, i) => Number((lane >> BigInt(8 * i)) & 0xffn))
}
