import { LIMBS } from '../words/words.js'

/* Where things lie in the memory of the compiled loop, in bytes. */

/** Limbs of one full stack, and a little more. */
export const STACK_LIMBS = 1040 * LIMBS

/** What the loop is given for a frame, and where it says how it ended: integers of 32 bits from 0 on. */
export const REGISTERS = {
  /** Where the instruction is that it did not execute, in bytes of the code. */
  pc: 0,
  /** Where the stack ends, in limbs. */
  sp: 4,
  /** Where the frame's stack begins, in limbs. */
  stackBase: 8,
  /** Addresses of the code and of the bits of its jump targets. */
  code: 12,
  targets: 16,
  codeLength: 20,
  /** Address of the frame's memory, and offsets that 32 bytes may be read or written at: those below this one. */
  memory: 24,
  memoryTop: 28,
  memorySize: 32,
  /** The same of the call data. */
  input: 36,
  inputTop: 40,
  inputLength: 44,
  returnLength: 48,
  /** EXP's gas for a byte of the exponent. */
  expByteGas: 52,
  /** Not 0 where there is gas beyond that which the loop knows of. */
  gasBeyond: 56,
} as const

/** 32 bytes of ones before 32 of zeros. */
export const MASKS = 128

// Digits of divisions, and words that are worked on. Before and behind each are zeros that are never written to.
/** The dividend, then the remainder: 16 digits of 32 bits and one that it needs. */
export const DIVIDEND = 264
/** The divisor, 8 digits. */
export const DIVISOR = 392
/** The quotient, 17 digits. */
export const QUOTIENT = 480
/** A word that is shifted, between 40 bytes of zeros and 40 that it is filled up from. */
export const SHIFTED = 640
/** Two words of EXP. */
export const POWER = 768
export const FACTOR = 800

/** For each instruction 16 bytes: the bytes of stack that it needs, how many more there may be, and its gas in 64 bits. */
export const INSTRUCTIONS = 4096

/** The part of the memory that hashes are made in, and how many bytes it takes at a time. */
export const KECCAK = 8192
export const LONGEST_HASHED = 0x4000

/** Stacks: as much as is kept between messages. */
export const STACKS = KECCAK + 0x6000
export const STACKS_LIMBS = 64 * STACK_LIMBS
/** Memories of frames. */
export const MEMORIES = STACKS + 4 * STACKS_LIMBS
export const MEMORIES_BYTES = 0x40_0000
/** Code with its jump targets. */
export const CODES = MEMORIES + MEMORIES_BYTES
export const CODES_END = CODES + 0x40_0000
export const PAGES = Math.ceil(CODES_END / 0x1_0000)
