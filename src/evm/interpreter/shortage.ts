/** The price of an instruction that could not be paid, and why it failed, in geth's numbers and words. The interpreter
 *  computes with numbers and stops at 2 GiB of memory; this reads the operands again, only after a failure. */
import { CALL, CREATE2 } from '../../chain/eth/callOpcodes.js'
import {
  GAS_OVERFLOW,
  initCodeTooLarge,
  OUT_OF_GAS,
  OUT_OF_GAS_WHILE_PRICING,
  PRICE_OVERFLOW,
  WRITE_PROTECTION_WHILE_PRICING,
} from './failures.js'
import type { Frame } from './frame.js'
import { totalGas } from './gas.js'
import type { Machine } from './machine.js'
import { type Words, wordToBigInt } from './words/words.js'

/** A failed instruction. `price` undefined: only the constant gas was computed. */
export interface Shortage {
  readonly failure: string
  readonly price?: bigint
}

/** Positions of offset and length of a memory range on the stack, from the top; or a fixed length. */
type MemoryRange = readonly [offset: number, length: number | { readonly bytes: bigint }]

const EXTCODECOPY = 0x3c
const MCOPY = 0x5e

const RANGES = new Map<number, readonly MemoryRange[]>([
  [0x20, [[1, 2]]], // KECCAK256
  [0x37, [[1, 3]]], // CALLDATACOPY
  [0x39, [[1, 3]]], // CODECOPY
  [EXTCODECOPY, [[2, 4]]],
  [0x3e, [[1, 3]]], // RETURNDATACOPY
  [0x51, [[1, { bytes: 32n }]]], // MLOAD
  [0x52, [[1, { bytes: 32n }]]], // MSTORE
  [0x53, [[1, { bytes: 1n }]]], // MSTORE8
  [
    MCOPY,
    [
      [1, 3],
      [2, 3],
    ],
  ],
  [0xf0, [[2, 3]]], // CREATE
  [
    CALL,
    [
      [4, 5],
      [6, 7],
    ],
  ],
  [
    0xf2,
    [
      [4, 5],
      [6, 7],
    ],
  ], // CALLCODE
  [0xf3, [[1, 2]]], // RETURN
  [
    0xf4,
    [
      [3, 4],
      [5, 6],
    ],
  ], // DELEGATECALL
  [CREATE2, [[2, 3]]],
  [
    0xfa,
    [
      [3, 4],
      [5, 6],
    ],
  ], // STATICCALL
  [0xfd, [[1, 2]]], // REVERT
])
for (let op = 0xa0; op <= 0xa4; op++) RANGES.set(op, [[1, 2]]) // LOG0 to LOG4

/** Gas per word of the length, and the position of the length on the stack. */
const WORD_GAS = new Map<number, readonly [gas: bigint, length: number]>([
  [0x20, [6n, 2]],
  [0x37, [3n, 3]],
  [0x39, [3n, 3]],
  [EXTCODECOPY, [3n, 4]],
  [0x3e, [3n, 3]],
  [MCOPY, [3n, 3]],
])
const LOG_BYTE_GAS = 8n
const HASH_WORD_GAS = 6n
const WARM_GAS = 100n

const UINT64 = 2n ** 64n
/** Beyond this geth's price of memory does not fit 64 bits. */
const MOST_PRICED = 0x1f_ffff_ffe0n

const wordAt = (stack: Words, sp: number, position: number) => wordToBigInt(stack, sp - 8 * position)
const wordsOf = (bytes: bigint) => (bytes + 31n) / 32n

/** End of the instruction's memory range; undefined if beyond 64 bits. */
function memoryEnd(stack: Words, op: number, sp: number): bigint | undefined {
  let most = 0n
  for (const [offsetAt, lengthAt] of RANGES.get(op) ?? []) {
    const length = typeof lengthAt === 'number' ? wordAt(stack, sp, lengthAt) : lengthAt.bytes
    const end = length === 0n ? 0n : wordAt(stack, sp, offsetAt) + length
    if (length >= UINT64 || 32n * wordsOf(end) >= UINT64) return undefined
    if (end > most) most = end
  }
  return most
}

/** Gas to expand the frame's memory to `end`; undefined if it has no price. */
function memoryPrice({ memorySize }: Pick<Frame, 'memorySize'>, end: bigint): bigint | undefined {
  if (end > MOST_PRICED) return undefined
  const total = (words: bigint) => 3n * words + (words * words) / 512n
  const [before, after] = [BigInt(memorySize / 32), wordsOf(end)]
  return after > before ? total(after) - total(before) : 0n
}

/** Returns failure and price of an instruction other than a call or creation. `access` is the access cost of the
 *  account that it names. */
export function shortageOf({ stack }: Machine, frame: Frame, op: number, sp: number, access = 0): Shortage {
  const end = memoryEnd(stack, op, sp)
  if (end === undefined) return { failure: GAS_OVERFLOW }
  const price = memoryPrice(frame, end)
  if (price === undefined) return { failure: PRICE_OVERFLOW }
  const perWord = WORD_GAS.get(op)
  const copied = perWord === undefined ? 0n : perWord[0] * wordsOf(wordAt(stack, sp, perWord[1]))
  const logged = op >= 0xa0 && op <= 0xa4 ? LOG_BYTE_GAS * wordAt(stack, sp, 2) : 0n
  return { failure: OUT_OF_GAS, price: price + copied + logged + BigInt(access) }
}

/** Like `shortageOf`, for a creation, with the `sp` and the memory at its start. */
export function creationShortage(
  { stack, rules }: Machine,
  { isStatic, memorySize }: Pick<Frame, 'isStatic' | 'memorySize'>,
  op: number,
  sp: number,
): Shortage {
  const end = memoryEnd(stack, op, sp)
  if (end === undefined) return { failure: GAS_OVERFLOW }
  if (isStatic) return { failure: WRITE_PROTECTION_WHILE_PRICING }
  const price = memoryPrice({ memorySize }, end)
  if (price === undefined) return { failure: PRICE_OVERFLOW }
  const length = wordAt(stack, sp, 3)
  if (length > rules.maxInitCodeSize) return { failure: initCodeTooLarge(length, rules.maxInitCodeSize) }
  const wordGas = BigInt(rules.initCodeWordGas) + (op === CREATE2 ? HASH_WORD_GAS : 0n)
  return { failure: OUT_OF_GAS, price: price + wordGas * wordsOf(length) }
}

/** Like `shortageOf`, for a call. `access` is the access cost of the called account; `makesAccount`: the call would
 *  create it. */
export function callShortage(
  { stack, rules }: Machine,
  frame: Frame,
  { access, makesAccount }: { access: number; makesAccount: boolean },
): Shortage {
  const { sp, callOpcode: op, isStatic } = frame
  const cold = rules.eip2929 ? BigInt(access) - WARM_GAS : 0n
  let gas = totalGas(frame) - (rules.eip2929 ? WARM_GAS : 0n)
  if (gas < 0n) return { failure: OUT_OF_GAS, price: 0n }
  const end = memoryEnd(stack, op, sp)
  if (end === undefined) return { failure: GAS_OVERFLOW }
  const sends = (op === CALL || op === 0xf2) && wordAt(stack, sp, 3) !== 0n
  const isForbidden = isStatic && sends && op === CALL
  if (isForbidden && rules.delegations) return { failure: WRITE_PROTECTION_WHILE_PRICING }
  gas -= cold
  if (gas < 0n) return { failure: OUT_OF_GAS_WHILE_PRICING }
  if (isForbidden) return { failure: WRITE_PROTECTION_WHILE_PRICING }
  const memory = memoryPrice(frame, end)
  if (memory === undefined) return { failure: PRICE_OVERFLOW }
  if (rules.delegations) return { failure: OUT_OF_GAS_WHILE_PRICING }
  const transfer = memory + (sends ? BigInt(rules.callValueGas) : 0n)
  if (op === CALL && gas < transfer) return { failure: OUT_OF_GAS_WHILE_PRICING }
  const own = transfer + (makesAccount ? BigInt(rules.callNewAccountGas) : 0n)
  const asked = wordAt(stack, sp, 1)
  return passedGasShortage(cold + own, rules.eip150 ? passedOfNegative(asked, gas - own) : asked)
}

/** Like `shortageOf`, for a call that costs `own` and requests more gas than is left. */
export function passedGasShortage(own: bigint, asked: bigint): Shortage {
  return own + asked >= UINT64 ? { failure: PRICE_OVERFLOW } : { failure: OUT_OF_GAS, price: own + asked }
}

/** The gas that geth passes to a call that cannot pay for itself: the negative gas left wraps around. */
function passedOfNegative(asked: bigint, left: bigint): bigint {
  const wrapped = BigInt.asUintN(64, left)
  const most = wrapped - wrapped / 64n
  return asked > most ? most : asked
}
