/* Opcodes that begin a call or a contract, or end one (Yellow Paper, appendix H). */

export const CREATE = 0xf0
export const CALL = 0xf1
export const CALLCODE = 0xf2
export const DELEGATECALL = 0xf4
export const CREATE2 = 0xf5
export const STATICCALL = 0xfa
export const SELFDESTRUCT = 0xff

/** True for CREATE and CREATE2. */
export function isCreation({ opcode }: { readonly opcode: number }): boolean {
  return opcode === CREATE || opcode === CREATE2
}

/** What the `trace_` methods call a call, a creation and a SELFDESTRUCT. */
export const PARITY_TYPES = ['call', 'create', 'suicide'] as const

/** Returns the type of a call in the `trace_` methods. */
export function parityTypeOf(call: { readonly opcode: number }): (typeof PARITY_TYPES)[number] {
  if (call.opcode === SELFDESTRUCT) return 'suicide'
  return isCreation(call) ? 'create' : 'call'
}
