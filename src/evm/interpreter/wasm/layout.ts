import { LIMBS } from '../words/words.js'

/* Layout of the module's memory, in bytes. */

/** Limbs of one full stack, and some margin. */
export const STACK_LIMBS = 1040 * LIMBS

/** Inputs and outputs of a run: 32-bit integers from address 0. */
export const REGISTERS = {
  /** Offset in the code of the instruction at which it stopped. */
  pc: 0,
  /** Stack pointer, in limbs. */
  sp: 4,
  /** Start of the frame's stack, in limbs. */
  stackBase: 8,
  /** Addresses of the code and of its jump target bits. */
  code: 12,
  targets: 16,
  codeLength: 20,
  /** Address of the frame's memory, and the bound of offsets at which 32 bytes may be read or written. */
  memory: 24,
  memoryTop: 28,
  memorySize: 32,
  /** The same for the calldata. */
  input: 36,
  inputTop: 40,
  inputLength: 44,
  returnLength: 48,
  /** EXP gas per byte of the exponent. */
  expByteGas: 52,
  /** Not 0 if the frame has gas beyond what the module sees. */
  gasBeyond: 56,
  /** Size up to which the module may extend the frame's memory; 0 if memory and calldata are elsewhere. */
  memoryRoom: 60,
} as const

/** 32 bytes of ones followed by 32 of zeros. */
export const MASKS = 128

// Operands of divisions, and temporary words. Each is surrounded by zeros that are never written.
/** The dividend, then the remainder: 16 digits of 32 bits plus one. */
export const DIVIDEND = 264
/** The divisor, 8 digits. */
export const DIVISOR = 392
/** The quotient, 17 digits. */
export const QUOTIENT = 480
/** A word to be shifted, between 40 zero bytes and 40 fill bytes. */
export const SHIFTED = 640
/** Two temporaries of EXP. */
export const POWER = 768
export const FACTOR = 800

/** 16 bytes per opcode: stack bytes needed, stack bytes that may be on top, and gas as 64 bits. */
export const INSTRUCTIONS = 4096

/** Working memory of Keccak, and its input size per round. */
export const KECCAK = 8192
export const LONGEST_HASHED = 0x4000

/** Stacks: as many as are kept between messages. */
export const STACKS = KECCAK + 0x6000
export const STACKS_LIMBS = 64 * STACK_LIMBS
/** Memories of frames. */
export const MEMORIES = STACKS + 4 * STACKS_LIMBS
export const MEMORIES_BYTES = 0x40_0000
/** Code with its jump targets. */
export const CODES = MEMORIES + MEMORIES_BYTES
export const CODES_END = CODES + 0x40_0000
/** Hashes of 64 bytes, the keys of mappings: contracts ask for the same ones again and again, and to find one takes a
 *  twentieth of the time of the hash. Each entry has the bytes and their hash as a word. The bytes determine a set of
 *  two entries. */
export const HASHES = CODES_END
export const HASH_SET_BITS = 11
export const HASH_ENTRY_BYTES = 96
const HASHES_END = HASHES + ((2 * HASH_ENTRY_BYTES) << HASH_SET_BITS)
export const PAGES = Math.ceil(HASHES_END / 0x1_0000)
