import { formatQuantity } from '../../lib/hex.js'

// Panic codes of the Solidity documentation (Control Structures, Panic via assert), in geth's words.
const PANICS = new Map([
  [0x00n, 'generic panic'],
  [0x01n, 'assert(false)'],
  [0x11n, 'arithmetic underflow or overflow'],
  [0x12n, 'division or modulo by zero'],
  [0x21n, 'enum overflow'],
  [0x22n, 'invalid encoded storage byte array accessed'],
  [0x31n, 'out-of-bounds array access; popping on an empty array'],
  [0x32n, 'out-of-bounds access of an array or bytesN'],
  [0x41n, 'out of memory'],
  [0x51n, 'uninitialized function'],
])

/** The meaning of the code of `Panic(uint256)`, in geth's words. */
export function describePanic(code: bigint): string {
  return PANICS.get(code) ?? `unknown panic code: ${formatQuantity(code)}`
}
