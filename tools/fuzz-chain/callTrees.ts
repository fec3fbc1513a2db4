import type { Fork } from '../../src/chain/eth/forks/rules.js'
import { bigIntToBytes, concatBytes } from '../../src/lib/bytes.js'
import type { SeededRandom } from '../../test/support/random.js'
import { precompileInput } from '../fuzz-evm/precompileInputs.js'

/** What call trees may use. */
export interface TreeOptions {
  has(fork: Fork): boolean
  /** Addresses that they call. */
  known: readonly Uint8Array[]
}

/** A piece of code whose bytes depend on where the data behind the code starts. */
type Piece = (dataOffset: number) => Uint8Array

const OP = {
  add: 0x01,
  codecopy: 0x39,
  returndatasize: 0x3d,
  returndatacopy: 0x3e,
  pop: 0x50,
  mload: 0x51,
  mstore: 0x52,
  sload: 0x54,
  sstore: 0x55,
  gas: 0x5a,
  log0: 0xa0,
  create: 0xf0,
  call: 0xf1,
  callcode: 0xf2,
  return: 0xf3,
  delegatecall: 0xf4,
  create2: 0xf5,
  staticcall: 0xfa,
  revert: 0xfd,
  invalid: 0xfe,
  selfdestruct: 0xff,
} as const

const ops = (...codes: number[]) => Uint8Array.from(codes)

function push(value: bigint | number | Uint8Array): Uint8Array {
  const bytes = value instanceof Uint8Array ? value : bigIntToBytes(BigInt(value))
  const shown = bytes.length === 0 ? Uint8Array.of(0) : bytes
  return concatBytes(Uint8Array.of(0x5f + shown.length), shown)
}

/** Makers of code that calls, creates, stores, logs and destroys itself, with init codes that do so too. */
export function createCallTrees(random: SeededRandom, { has, known }: TreeOptions) {
  const pick = <T>(values: readonly T[]): T => values[random.below(values.length)]
  const slot = () => push(random.below(4))

  const target = (): Uint8Array => {
    const kind = random.below(10)
    if (kind === 0) return push(random.bytes(20))
    if (kind <= 3) return push(1 + random.below(20)) // precompiles, and some that are none
    return push(pick(known))
  }
  const gas = (): Uint8Array => {
    const kind = random.below(8)
    if (kind === 0) return push(0)
    if (kind === 1) return push(pick([700, 2300, 3000, 10_000]))
    if (kind <= 4) return push(20_000 + random.below(100_000))
    return ops(OP.gas)
  }
  const value = (): Uint8Array => push(pick([0, 0, 1, 5, 1000, 2n ** 200n]))
  const callKinds = (): number[] => [
    OP.call,
    OP.call,
    OP.callcode,
    ...(has('homestead') ? [OP.delegatecall] : []),
    ...(has('byzantium') ? [OP.staticcall] : []),
  ]
  /** What is done with the flag or the address on the stack. */
  const keep = (): Uint8Array => (random.below(2) === 0 ? ops(OP.pop) : concatBytes(slot(), ops(OP.sstore)))

  const input = (bytes: Uint8Array): Uint8Array => {
    const parts: Uint8Array[] = []
    for (let at = 0; at < bytes.length; at += 32) {
      const word = new Uint8Array(32)
      word.set(bytes.subarray(at, at + 32))
      parts.push(push(word), push(at), ops(OP.mstore))
    }
    return concatBytes(...parts)
  }
  const call = (): Piece => {
    const precompile = random.below(4) === 0 ? precompileInput(random) : undefined
    const data = precompile?.input ?? random.bytes(random.below(70))
    const to = precompile === undefined ? target() : push(precompile.address)
    const op = pick(callKinds())
    const withValue = op === OP.call || op === OP.callcode
    const parts = [input(data), push(random.below(80)), push(random.below(64)), push(data.length), push(0)]
    parts.push(withValue ? value() : new Uint8Array(0), to, gas(), ops(op), keep())
    if (has('byzantium') && random.below(4) === 0) {
      const length = random.below(3) === 0 ? push(random.below(70)) : ops(OP.returndatasize)
      parts.push(length, push(0), push(0), ops(OP.returndatacopy))
    }
    const code = concatBytes(...parts)
    return () => code
  }
  const create = (data: Uint8Array[], depth: number): Piece => {
    const init = depth > 0 && random.below(3) > 0 ? tree(depth - 1, true) : random.bytes(random.below(12))
    const before = data.reduce((sum, each) => sum + each.length, 0)
    data.push(init)
    const isCreate2 = has('constantinople') && random.below(2) === 0
    const salt = isCreate2 ? push(random.below(2)) : new Uint8Array(0)
    const rest = concatBytes(salt, push(init.length), push(0), value(), ops(isCreate2 ? OP.create2 : OP.create), keep())
    return (dataOffset) => {
      const at = dataOffset + before
      return concatBytes(push(init.length), Uint8Array.of(0x61, at >>> 8, at & 0xff), push(0), ops(OP.codecopy), rest)
    }
  }
  const plain = (): Piece => {
    const kind = random.below(5)
    const topics = random.below(5)
    const parts =
      kind <= 1
        ? [push(random.below(3)), slot(), ops(OP.sstore)]
        : kind === 2
          ? [slot(), ops(OP.sload), push(32), ops(OP.mstore)]
          : kind === 3
            ? [...Array.from({ length: topics }, () => push(random.bytes(2))), push(40), push(0), ops(OP.log0 + topics)]
            : [push(pick([0, 64, 3000])), ops(OP.mload), slot(), ops(OP.sstore)]
    const code = concatBytes(...parts)
    return () => code
  }
  const end = (isInit: boolean): Piece => {
    const kind = random.below(10)
    const size = push(pick([0, 1, 32, 40, 100]))
    const code =
      kind === 0
        ? concatBytes(target(), ops(OP.selfdestruct))
        : kind === 1 && has('byzantium')
          ? concatBytes(size, push(0), ops(OP.revert))
          : kind === 2
            ? ops(OP.invalid)
            : kind <= 5 || isInit
              ? concatBytes(size, push(random.below(3)), ops(OP.return))
              : ops(0)
    return () => code
  }

  function tree(depth: number, isInit = false): Uint8Array {
    const data: Uint8Array[] = []
    const pieces: Piece[] = Array.from({ length: 1 + random.below(6) }, () => {
      const kind = random.below(10)
      return kind < 5 ? call() : kind < 7 ? create(data, depth) : plain()
    })
    pieces.push(end(isInit))
    const size = pieces.reduce((sum, piece) => sum + piece(0).length, 0)
    return concatBytes(...pieces.map((piece) => piece(size)), ...data)
  }

  return { tree: () => tree(2), initCode: () => tree(2, true) }
}
