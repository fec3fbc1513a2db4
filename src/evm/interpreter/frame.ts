import { type Code, EMPTY_CODE } from './code.js'
import type { MemoryMeter } from './memoryMeter.js'
import type { Account } from './state.js'
import { LIMBS, type Words } from './words/words.js'

/* Why a frame stopped. */

/** STOP, RETURN or SELFDESTRUCT. */
export const SUCCEEDED = 1
export const REVERTED = 2
/** Exceptional halt; `Frame.failure` says which. */
export const HALTED = 3
/** A call or create instruction: the frame continues when it is done. `Frame.pc` is behind the instruction. */
export const CALLING = 4

/** A running message call or contract creation. There is one frame per depth, reused. */
export interface Frame {
  readonly depth: number
  /** The account whose storage and balance are in use. */
  account: Account
  /** The sender's address as a word. */
  caller: Words
  readonly value: Words
  code: Code
  isStatic: boolean
  /** A contract creation: the returned bytes become the code of `account`. */
  isCreate: boolean
  /** The calldata, in the machine's memory. */
  inputOffset: number
  inputLength: number

  pc: number
  /** Gas left, at most 2^53 - 1. */
  gas: number
  /** Gas beyond that, which no instruction can use up: tests have limits of 2^63. */
  gasBeyond: bigint
  /** Start of its stack and the next free word, in limbs of the machine's stack. */
  stackBase: number
  sp: number
  /** Start of its memory in the machine's memory, and its size in bytes. */
  memoryBase: number
  memorySize: number
  /** Return data of its last call: the first `returnLength` bytes. */
  returnData: Uint8Array
  returnLength: number

  /** Journal snapshot to revert to if it fails. */
  snapshot: number
  /** Output range of the caller, in the caller's memory. */
  outputTo: number
  outputRoom: number
  /** Output of RETURN and REVERT, in the machine's memory. */
  outputOffset: number
  outputLength: number
  /** The instruction at which it stopped for a call. */
  callOpcode: number
  failure: string

  /* EIP-8037, from Amsterdam on; see `stateGas`. */
  /** State gas of the frame and its successful calls that was paid with execution gas. */
  spilled: number
  /** The machine's `reservoir` and `stateUsed` when the frame began. */
  reservoirBefore: number
  stateUsedBefore: number
  /** State gas that the caller paid for the new account; refilled if the frame fails. */
  accountCharge: number
}

const INITIAL_RETURN_DATA = 256
// Longer return data is rare: it gets a buffer of its own size, released when the frame ends.
const LONG_RETURN_DATA = 0x1_0000

/** A frame for `depth`, to be set up by `calls`. */
export function createFrame(depth: number, account: Account): Frame {
  return {
    depth,
    account,
    caller: account.word,
    value: new Int32Array(LIMBS),
    code: EMPTY_CODE,
    isStatic: false,
    isCreate: false,
    inputOffset: 0,
    inputLength: 0,
    pc: 0,
    gas: 0,
    gasBeyond: 0n,
    stackBase: 0,
    sp: 0,
    memoryBase: 0,
    memorySize: 0,
    returnData: new Uint8Array(INITIAL_RETURN_DATA),
    returnLength: 0,
    snapshot: 0,
    outputTo: 0,
    outputRoom: 0,
    outputOffset: 0,
    outputLength: 0,
    callOpcode: 0,
    failure: '',
    spilled: 0,
    reservoirBefore: 0,
    stateUsedBefore: 0,
    accountCharge: 0,
  }
}

/** Makes room for that many bytes of return data. @throws CallMemoryExceeded */
export function reserveReturnData(frame: Frame, length: number, meter: MemoryMeter): void {
  const before = frame.returnData.length
  if (length <= before) return
  const size = Math.max(length, Math.min(2 * before, LONG_RETURN_DATA))
  meter.take(size - before)
  frame.returnData = new Uint8Array(size)
}

/** Stores `length` bytes of `source` as the frame's return data. Room must be reserved. */
export function setReturnData(frame: Frame, source: Uint8Array, offset: number, length: number): void {
  // Most return data is a word or two; for that a loop is faster than a view and a copy.
  if (length <= 64) for (let i = 0; i < length; i++) frame.returnData[i] = source[offset + i]
  else frame.returnData.set(source.subarray(offset, offset + length))
  frame.returnLength = length
}

/** Releases large return data of a frame that has ended. */
export function dropReturnData(frame: Frame, meter: MemoryMeter): void {
  if (frame.returnData.length <= LONG_RETURN_DATA) return
  meter.give(frame.returnData.length - INITIAL_RETURN_DATA)
  frame.returnData = new Uint8Array(INITIAL_RETURN_DATA)
}
