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

/** The message for an opcode that the fork does not have. */
export function invalidOpcode(op: number): string {
  return `invalid opcode: ${op === 0xfe ? 'INVALID' : `opcode 0x${op.toString(16)} not defined`}`
}

/** The message for a stack overflow or underflow. Heights are in words. */
export function stackFailure(height: number, needed: number, room: number): string {
  if (height < needed) return `stack underflow (${height} <=> ${needed})`
  return `stack limit reached ${height} (${room})`
}
