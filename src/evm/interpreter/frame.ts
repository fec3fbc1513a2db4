import { type Code, EMPTY_CODE } from './code.js'
import type { MemoryMeter } from './memoryMeter.js'
import type { Account } from './state.js'
import { LIMBS, type Words } from './words/words.js'

/* Why the instructions of a frame stopped. */

/** STOP, RETURN or SELFDESTRUCT. */
export const SUCCEEDED = 1
export const REVERTED = 2
/** Exceptional halt; `Frame.failure` says which. */
export const HALTED = 3
/** A call or create instruction: the frame goes on when that is done. `Frame.pc` is behind the instruction. */
export const LEFT = 4

/** One running message call or contract creation. Frames are made once for each depth and used again. */
export interface Frame {
  readonly depth: number
  /** The account whose storage and balance are in use. */
  account: Account
  /** The sender's address as a word. */
  caller: Words
  readonly value: Words
  code: Code
  isStatic: boolean
  /** A contract creation: what the code returns becomes the code of `account`. */
  isCreate: boolean
  /** The call data, in the machine's memory. */
  inputOffset: number
  inputLength: number

  pc: number
  /** Gas that is left, at most 2^53 - 1 of it. */
  gas: number
  /** Gas beyond that, which no instruction can use up: limits of 2^63 occur in tests. */
  gasBeyond: bigint
  /** Where its stack begins and where its next word goes, in limbs of the machine's stack. */
  stackBase: number
  sp: number
  /** Where its memory begins in the machine's memory, and how many bytes of it there are. */
  memoryBase: number
  memorySize: number
  /** What the last call of it returned: the first `returnLength` bytes. */
  returnData: Uint8Array
  returnLength: number

  /** State to go back to when it fails. */
  snapshot: number
  /** Where the caller wants the output, in the caller's memory. */
  outputTo: number
  outputRoom: number
  /** Output of RETURN and REVERT, in the machine's memory. */
  outputOffset: number
  outputLength: number
  /** The instruction that it was left at. */
  leftAt: number
  failure: string
}

const INITIAL_RETURN_DATA = 256
// Longer data is seldom: it gets the room that it needs, and is given back when the frame ends.
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
    leftAt: 0,
    failure: '',
  }
}

/** Makes room for so many bytes that a call of the frame returned. @throws CallMemoryExceeded */
export function reserveReturnData(frame: Frame, length: number, meter: MemoryMeter): void {
  const before = frame.returnData.length
  if (length <= before) return
  const size = Math.max(length, Math.min(2 * before, LONG_RETURN_DATA))
  meter.take(size - before)
  frame.returnData = new Uint8Array(size)
}

/** Keeps `length` bytes of `source` as what the frame's last call returned. There is room for them. */
export function setReturnData(frame: Frame, source: Uint8Array, offset: number, length: number): void {
  // Most results are a word or two, for which a loop is faster than a view and a copy.
  if (length <= 64) for (let i = 0; i < length; i++) frame.returnData[i] = source[offset + i]
  else frame.returnData.set(source.subarray(offset, offset + length))
  frame.returnLength = length
}

/** Gives back what the last call of a frame returned, if it is much: the frame has ended. */
export function dropReturnData(frame: Frame, meter: MemoryMeter): void {
  if (frame.returnData.length <= LONG_RETURN_DATA) return
  meter.give(frame.returnData.length - INITIAL_RETURN_DATA)
  frame.returnData = new Uint8Array(INITIAL_RETURN_DATA)
}
