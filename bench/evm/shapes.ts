import { keccak256 } from '../../src/chain/crypto.js'
import { bigIntToFixedBytes, bytesToBigInt, concatBytes, padLeft } from '../../src/lib/bytes.js'
import { encodeCall, selector } from '../../tools/fixture/contracts.js'
import { ARITHMETIC } from './contracts.js'
import { AT, balanceSlot, createTraders, HOLDERS, holderAt, SLOTS, unpackReserves } from './world.js'

/** A call of the benchmark. */
export interface BenchCall {
  from?: Uint8Array
  to: Uint8Array
  data: Uint8Array
}

/** The value of a contract's slot at the block that is called. */
export type ReadSlot = (address: Uint8Array, slot: bigint) => bigint

/** Calls of one kind. */
export interface CallShape {
  name: string
  /** How many different calls there are. */
  variants: number
  call(variant: number): BenchCall
  /** What the call must return, computed without any EVM. */
  expected(variant: number, readSlot: ReadSlot): Uint8Array
}

/** Times as many as package defaults that the shape is to reach, and of anvil over HTTP. */
export const GOALS: { readonly [name: string]: { defaults: number; anvil: number } } = {
  'erc20 balanceOf': { defaults: 5, anvil: 1 },
  'pair swap': { defaults: 5, anvil: 1 },
  'multicall of 100': { defaults: 10, anvil: 0.5 },
  'arithmetic loop 10k': { defaults: 10, anvil: 0.5 },
  'keccak loop 10k': { defaults: 10, anvil: 0.5 },
  'sload loop 2k': { defaults: 5, anvil: 0.5 },
  'sload loop 2k, other slots': { defaults: 5, anvil: 0.5 },
}

const ROUNDS = 10_000
const SLOADS = 2_000
const INNER_CALLS = 100

const word = (value: bigint) => bigIntToFixedBytes(value, 32)
const wrap = (value: bigint) => BigInt.asUintN(256, value)

/** All shapes, in the order in which they are measured. */
export function makeCallShapes(): CallShape[] {
  return [balanceOf(), pairSwap(), multicall(), arithmeticLoop(), keccakLoop(), ...sloadLoops()]
}

function balanceOf(): CallShape {
  return {
    name: 'erc20 balanceOf',
    variants: HOLDERS,
    call: (variant) => ({ to: AT.token0, data: encodeCall('balanceOf(address)', holderAt(variant)) }),
    expected: (variant, readSlot) => word(readSlot(AT.token0, balanceSlot(holderAt(variant)))),
  }
}

function pairSwap(): CallShape {
  const traders = createTraders()
  const amount = (variant: number) => 10n ** 15n * BigInt(variant + 1)
  return {
    name: 'pair swap',
    variants: 400,
    call: (variant) => {
      const from = traders[variant % traders.length].address
      return { from, to: AT.pair, data: encodeCall('swap(uint256,address)', amount(variant), from) }
    },
    expected: (variant, readSlot) => {
      const [reserve0, reserve1] = unpackReserves(readSlot(AT.pair, 1n))
      const afterFee = amount(variant) * 997n
      return word((afterFee * reserve1) / (reserve0 * 1000n + afterFee))
    },
  }
}

function multicall(): CallShape {
  const inner = (variant: number, index: number) => {
    const token = index % 2 === 0 ? AT.token0 : AT.token1
    return { token, holder: holderAt((variant * INNER_CALLS + index * 7) % HOLDERS) }
  }
  const indexes = Array.from({ length: INNER_CALLS }, (_, index) => index)
  return {
    name: 'multicall of 100',
    variants: 20,
    call: (variant) => {
      const calls = indexes.map((index) => {
        const { token, holder } = inner(variant, index)
        return concatBytes(padLeft(token, 32), encodeCall('balanceOf(address)', holder))
      })
      return { to: AT.multicall, data: concatBytes(selector('run()'), word(BigInt(INNER_CALLS)), ...calls) }
    },
    expected: (variant, readSlot) =>
      concatBytes(
        ...indexes.map((index) => {
          const { token, holder } = inner(variant, index)
          return word(readSlot(token, balanceSlot(holder)))
        }),
      ),
  }
}

function arithmeticLoop(): CallShape {
  const { factor, modulus, divisor, prime } = ARITHMETIC
  return {
    name: 'arithmetic loop 10k',
    variants: 16,
    call: (variant) => ({
      to: AT.arithmetic,
      data: encodeCall('run(uint256,uint256)', BigInt(ROUNDS), BigInt(variant + 1)),
    }),
    expected: (variant) => {
      let x = BigInt(variant + 1)
      let sum = 0n
      for (let n = BigInt(ROUNDS); n > 0n; n--) {
        x = wrap(x * factor + n)
        sum = wrap((((sum + x) % prime) ^ (x / divisor)) + (x % modulus))
      }
      return word(sum)
    },
  }
}

function keccakLoop(): CallShape {
  return {
    name: 'keccak loop 10k',
    variants: 16,
    call: (variant) => ({
      to: AT.keccak,
      data: encodeCall('run(uint256,uint256)', BigInt(ROUNDS), BigInt(variant + 1)),
    }),
    expected: (variant) => {
      let hash = word(BigInt(variant + 1))
      for (let n = ROUNDS; n > 0; n--) hash = keccak256(concatBytes(hash, word(BigInt(n))))
      return hash
    },
  }
}

/** The same slots at every call, and others at every call. */
function sloadLoops(): CallShape[] {
  const loop = (name: string, variants: number): CallShape => ({
    name,
    variants,
    call: (variant) => ({
      to: AT.sloads,
      data: encodeCall('run(uint256,uint256)', BigInt(variant * SLOADS), BigInt(SLOADS)),
    }),
    expected: (variant, readSlot) => {
      let sum = 0n
      for (let i = 0; i < SLOADS; i++) sum += readSlot(AT.sloads, BigInt(variant * SLOADS + i))
      return word(wrap(sum))
    },
  })
  return [loop('sload loop 2k', 1), loop('sload loop 2k, other slots', SLOTS / SLOADS)]
}

// Every contract of the benchmark ignores call data after what it knows.
const TRAILER = 8

/** The call data with a number behind them, so that no two calls are the same. */
export function numbered(data: Uint8Array, n: number): Uint8Array {
  const copy = new Uint8Array(data.length + TRAILER)
  copy.set(data)
  new DataView(copy.buffer).setFloat64(data.length, n)
  return copy
}

/** A reader of slots by what gives their bytes. */
export function slotReader(read: (address: Uint8Array, slot: Uint8Array) => Uint8Array): ReadSlot {
  return (address, slot) => bytesToBigInt(read(address, word(slot)))
}
