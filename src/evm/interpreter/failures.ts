import { opcodeName } from './opcodes/instructions.js'

/** Reasons of exceptional halts, and why a message could not start, in geth's words. */
export const OUT_OF_GAS = 'out of gas'
export const INVALID_JUMP = 'invalid jump destination'
export const WRITE_PROTECTION = 'write protection'
export const RETURN_DATA_OUT_OF_BOUNDS = 'return data out of bounds'
export const INSUFFICIENT_BALANCE = 'insufficient balance for transfer'
export const CALL_DEPTH = 'max call depth exceeded'
export const REVERTED_BY_CODE = 'execution reverted'
export const ADDRESS_COLLISION = 'contract address collision'
export const NONCE_OVERFLOW = 'nonce uint64 overflow'
export const CODE_TOO_LARGE = 'max code size exceeded'
export const INIT_CODE_TOO_LARGE = 'max initcode size exceeded'
export const CODE_STORE_OUT_OF_GAS = 'contract creation code storage out of gas'
export const INVALID_CODE = 'invalid code: must not begin with 0xef'
export const PRECOMPILE_FAILED = 'precompiled contract failed'
/** The memory range of an instruction ends beyond 64 bits. */
export const GAS_OVERFLOW = 'gas uint64 overflow'

// geth wraps the errors of pricing an instruction.
const whilePricing = (failure: string) => `${OUT_OF_GAS}: ${failure}`

/** Part of the price of an instruction could not be paid, so the rest of it was not computed. */
export const OUT_OF_GAS_WHILE_PRICING = whilePricing(OUT_OF_GAS)
/** The memory price of an instruction exceeds 64 bits. */
export const PRICE_OVERFLOW = whilePricing(GAS_OVERFLOW)
/** Write protection of the instructions that check it before their price. */
export const WRITE_PROTECTION_WHILE_PRICING = whilePricing(WRITE_PROTECTION)
/** SSTORE with at most 2300 gas (EIP-2200). */
export const SENTRY_FAILED = whilePricing('not enough gas for reentrancy sentry')

/** True if more gas might have helped, as geth sees it. */
export function isOutOfGas(failure: string | undefined): boolean {
  return failure?.startsWith(OUT_OF_GAS) ?? false
}

/** The message for code of a new contract that is too long. */
export function codeTooLarge(size: number, limit: number): string {
  return `${CODE_TOO_LARGE}: code size ${size} limit ${limit}`
}

/** The message for init code of an instruction that is too long. */
export function initCodeTooLarge(size: bigint, limit: number): string {
  return whilePricing(`${INIT_CODE_TOO_LARGE}: code size ${size} limit ${limit}`)
}

/** The message for an opcode that the fork does not have, or for one with an immediate byte that it must not have. */
export function invalidOpcode(op: number, immediate?: number): string {
  const operand = immediate === undefined ? '' : ` (operand: 0x${immediate.toString(16).padStart(2, '0')})`
  return `invalid opcode: ${opcodeName(op)}${operand}`
}

/** The message for a stack overflow or underflow. Heights are in words. */
export function stackFailure(height: number, needed: number, room: number): string {
  if (height < needed) return `stack underflow (${height} <=> ${needed})`
  return `stack limit reached ${height} (${room})`
}

/** A deposit of the OP stack failed before it ran: op-geth's tracers show no call then. */
export const FAILED_DEPOSIT = 'failed deposit transaction'
