/* A WebAssembly assembler: the parts of the binary format (WebAssembly core specification, section 5) that the modules
 * here need. */

// The part of the environment's `WebAssembly` that is used here: TypeScript has it only in its browser types.
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object) => { readonly exports: object }
}

/** The exported functions and memory of an `assembleModule` module. @throws Error without WebAssembly, without enough
 *  memory, or if an instruction is not supported. */
export function instantiate<Functions>(
  module: Uint8Array,
): Functions & { readonly memory: { readonly buffer: ArrayBuffer } } {
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(module))
  return exports as ReturnType<typeof instantiate<Functions>>
}

type Bytes = readonly number[]

/** Instructions with operands as bytes, nested to avoid copying until all are written. */
export type Code = readonly (number | Code)[]

export const I32 = 0x7f
export const I64 = 0x7e
export const F64 = 0x7c
export const V128 = 0x7b
/** Type of a local, parameter or result. */
type ValueType = typeof I32 | typeof I64 | typeof F64 | typeof V128

/** LEB128, seven bits to a byte, the lowest first. */
function unsigned(value: number): Bytes {
  return value < 128 ? [value] : [(value & 127) | 128, ...unsigned(value >>> 7)]
}

/** LEB128 in two's complement, of 32 bits. */
function signed(value: number): Bytes {
  const low = value & 127
  const rest = value >> 7
  const ends = (rest === 0 && low < 64) || (rest === -1 && low >= 64)
  return ends ? [low] : [low | 128, ...signed(rest)]
}

/** LEB128 in two's complement, of 64 bits. */
function signed64(value: bigint): Bytes {
  const small = Number(value)
  if (small === (small | 0)) return signed(small)
  const rest = value >> 7n
  return [Number(value & 127n) | 128, ...signed64(rest)]
}

function section(id: number, content: Code): Code {
  const bytes: number[] = []
  flatten(content, bytes)
  return [id, unsigned(bytes.length), bytes]
}

/** A name of at most 127 bytes. */
function name(text: string): Bytes {
  return [text.length, ...Buffer.from(text)]
}

function flatten(code: Code, out: number[]): void {
  for (let i = 0; i < code.length; i++) {
    const part = code[i]
    if (typeof part === 'number') out.push(part)
    else flatten(part, out)
  }
}

/** The bytes of a module with a fixed memory of that many 64 KiB pages, exported as `memory`. Functions are numbered in
 *  order; those with a name are exported. `data` is the initial memory. */
export function assembleModule(parts: {
  pages: number
  functions: readonly FunctionCode[]
  data?: readonly { at: number; bytes: readonly number[] }[]
}): Uint8Array<ArrayBuffer> {
  const { pages, functions, data = [] } = parts
  const vector = (items: readonly Code[]): Code => [unsigned(items.length), items]
  const bytes = (content: Bytes): Code => [unsigned(content.length), content]
  const exported = functions.flatMap(({ exportName }, i) =>
    exportName === undefined ? [] : [[name(exportName), 0, unsigned(i)]],
  )
  const out: number[] = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0] // magic and version
  flatten(
    [
      section(1, vector(functions.map(({ params, results }) => [0x60, bytes(params), bytes(results)]))),
      section(3, vector(functions.map((_, i) => unsigned(i)))),
      section(5, [1, 1, unsigned(pages), unsigned(pages)]),
      section(7, vector([[name('memory'), 2, 0], ...exported])),
      section(10, vector(functions.map(({ code }) => bytes(code)))),
      section(11, vector(data.map((part) => [0, i32(part.at), 0x0b, bytes(part.bytes)]))),
    ],
    out,
  )
  return new Uint8Array(out)
}

/** A function of a module. */
export interface FunctionCode {
  params: readonly ValueType[]
  results: readonly ValueType[]
  exportName?: string
  /** Its locals and instructions. */
  code: readonly number[]
}

/** Writes a function. Expressions are code, and blocks have labels, so that callers need not count nesting depths. */
export class FunctionWriter {
  readonly #params: readonly ValueType[]
  readonly #results: readonly ValueType[]
  readonly #locals: ValueType[] = []
  readonly #labels: string[] = []
  readonly #code: number[] = []

  /** A function with these parameters (locals 0, 1 and so on) and results. */
  constructor(params: readonly ValueType[], results: readonly ValueType[] = []) {
    this.#params = params
    this.#results = results
  }

  /** A new local, initially zero. */
  local(type: ValueType): number {
    this.#locals.push(type)
    return this.#params.length + this.#locals.length - 1
  }

  /** That many new locals. */
  locals(type: ValueType, count: number): number[] {
    return Array.from({ length: count }, () => this.local(type))
  }

  /** Writes instructions. */
  put(...codes: readonly Code[]): void {
    flatten(codes, this.#code)
  }

  /** A block; `goTo` its label leaves it. */
  block(label: string, write: () => void): void {
    this.#nest(label, [0x02, 0x40], write)
  }

  /** A loop; `goTo` its label repeats it. It ends at the end of its instructions. */
  loop(label: string, write: () => void): void {
    this.#nest(label, [0x03, 0x40], write)
  }

  /** if … else. */
  when(condition: Code, then: () => void, otherwise?: () => void): void {
    this.put(condition)
    this.#nest('', [0x04, 0x40], () => {
      then()
      if (otherwise === undefined) return
      this.put([0x05])
      otherwise()
    })
  }

  /** Branches to the label: leaves a block, repeats a loop. */
  goTo(label: string): void {
    this.put([0x0c, ...unsigned(this.#depth(label))])
  }

  /** Conditional branch. */
  goToWhen(label: string, condition: Code): void {
    this.put(condition, [0x0d, ...unsigned(this.#depth(label))])
  }

  /** Branches to the label at an index, beyond them to `otherwise`. */
  goToOneOf(labels: readonly string[], otherwise: string, index: Code): void {
    const depths = [...labels, otherwise].map((label) => this.#depth(label))
    this.put(index, [0x0e, ...unsigned(labels.length), ...depths.flatMap(unsigned)])
  }

  /** The whole function. */
  end(exportName?: string): FunctionCode {
    const locals = this.#locals.flatMap((type) => [1, type])
    const code = [...unsigned(this.#locals.length), ...locals, ...this.#code, 0x0b]
    return { params: this.#params, results: this.#results, exportName, code }
  }

  #nest(label: string, begin: Code, write: () => void): void {
    this.#labels.push(label)
    this.put(begin)
    write()
    this.put([0x0b])
    this.#labels.pop()
  }

  #depth(label: string): number {
    const at = this.#labels.lastIndexOf(label)
    if (at < 0) throw new Error(`no block around here is named ${label}`)
    return this.#labels.length - 1 - at
  }
}

type Binary = (x: Code, y: Code) => Code
type Unary = (x: Code) => Code
const binary =
  (instruction: number): Binary =>
  (x, y) => [x, y, instruction]
const unary =
  (instruction: number): Unary =>
  (x) => [x, instruction]

/** Value of a local. */
export const get = (local: number): Code => [0x20, ...unsigned(local)]
/** Sets a local. */
export const set = (local: number, value: Code): Code => [value, 0x21, ...unsigned(local)]
/** A constant, signed. */
export const i32 = (value: number): Code => [0x41, ...signed(value)]
/** A constant, signed. */
export const i64 = (value: bigint): Code => [0x42, ...signed64(value)]
/** Returns from the function. */
export const RETURN: Code = [0x0f]
/** Calls the function with that index. */
export const call = (index: number, ...values: readonly Code[]): Code => [values, 0x10, ...unsigned(index)]
/** Fills `length` bytes from `to`. */
export const memoryFill = (to: Code, byte: Code, length: Code): Code => [to, byte, length, 0xfc, 11, 0]
/** Copies `length` bytes. */
export const memoryCopy = (to: Code, from: Code, length: Code): Code => [to, from, length, 0xfc, 10, 0, 0]

type Load = (address: Code, offset?: number) => Code
type Store = (address: Code, offset: number, value: Code) => Code
// Alignment hint 0: no effect on the result.
const load =
  (...instruction: Code): Load =>
  (address, offset = 0) => [address, ...instruction, 0, ...unsigned(offset)]
const store =
  (...instruction: Code): Store =>
  (address, offset, value) => [address, value, ...instruction, 0, ...unsigned(offset)]

/** 32-bit integer instructions; comparisons of both widths yield them. */
export const i32s = {
  load: load(0x28),
  loadByte: load(0x2d),
  store: store(0x36),
  storeByte: store(0x3a),
  isZero: unary(0x45),
  equal: binary(0x46),
  isLess: binary(0x49),
  isMore: binary(0x4b),
  isAtLeast: binary(0x4f),
  isAtLeastSigned: binary(0x4e),
  leadingZeros: unary(0x67),
  add: binary(0x6a),
  sub: binary(0x6b),
  multiply: binary(0x6c),
  divide: binary(0x6e),
  and: binary(0x71),
  or: binary(0x72),
  xor: binary(0x73),
  left: binary(0x74),
  right: binary(0x76),
  low: unary(0xa7),
} as const

/** 64-bit integer instructions. */
export const i64s = {
  load: load(0x29),
  load8Signed: load(0x30),
  load8: load(0x31),
  load32: load(0x35),
  store: store(0x37),
  store8: store(0x3c),
  store32: store(0x3e),
  isZero: unary(0x50),
  equal: binary(0x51),
  isLess: binary(0x54),
  isLessSigned: binary(0x53),
  isMore: binary(0x56),
  isAtLeast: binary(0x5a),
  leadingZeros: unary(0x79),
  add: binary(0x7c),
  sub: binary(0x7d),
  multiply: binary(0x7e),
  divide: binary(0x80),
  remainder: binary(0x82),
  and: binary(0x83),
  or: binary(0x84),
  xor: binary(0x85),
  left: binary(0x86),
  rightSigned: binary(0x87),
  right: binary(0x88),
  rotateLeft: binary(0x89),
  of: unary(0xad), // from an unsigned 32-bit integer
  ofDouble: unary(0xb0),
  toDouble: unary(0xb9),
} as const

/** SIMD instructions on 16 bytes. */
export const v128s = {
  load: load(0xfd, 0x00),
  store: store(0xfd, 0x0b),
  zero: [0xfd, 0x0c, ...new Array<number>(16).fill(0)] as Code,
  /** A constant of 16 bytes. */
  constant: (bytes: Bytes): Code => [0xfd, 0x0c, ...bytes],
  /** The bytes in reverse order. Evaluates `x` twice. */
  reverse: (x: Code): Code => [x, x, 0xfd, 0x0d, ...Array.from({ length: 16 }, (_, i) => 15 - i)],
  /** The bytes of `x` at the places that the bytes of `places` name. */
  swizzle: (x: Code, places: Code): Code => [x, places, 0xfd, 0x0e],
  /** The first 8 bytes of both, alternating, `x` first. */
  lowPairs: (x: Code, y: Code): Code => [
    x,
    y,
    0xfd,
    0x0d,
    ...Array.from({ length: 16 }, (_, i) => (i >> 1) + 16 * (i & 1)),
  ],
  /** The last 8 bytes of both, alternating, `x` first. */
  highPairs: (x: Code, y: Code): Code => [
    x,
    y,
    0xfd,
    0x0d,
    ...Array.from({ length: 16 }, (_, i) => 8 + (i >> 1) + 16 * (i & 1)),
  ],
  /** Each byte shifted to the right, zeros shifted in. */
  shiftRight8s: (x: Code, by: Code): Code => [x, by, 0xfd, 0x6d],
  not: (x: Code): Code => [x, 0xfd, 0x4d],
  and: (x: Code, y: Code): Code => [x, y, 0xfd, 0x4e],
  or: (x: Code, y: Code): Code => [x, y, 0xfd, 0x50],
  xor: (x: Code, y: Code): Code => [x, y, 0xfd, 0x51],
  /** 1 if any bit is set, otherwise 0. */
  isAny: (x: Code): Code => [x, 0xfd, 0x53],
} as const
