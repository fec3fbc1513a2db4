import { bytesToBigInt } from '../lib/bytes.js'
import { formatQuantity } from '../lib/hex.js'

const ERROR_SELECTOR = 0x08c379a0 // Error(string)
const PANIC_SELECTOR = 0x4e487b71 // Panic(uint256)

// The codes of the Solidity documentation (Control Structures, Panic via assert), in the words that geth has for them.
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

/** The reason that the data of a REVERT tells: the text of `Error(string)`, or the meaning of `Panic(uint256)`.
 *  Undefined for custom errors, no data, and data that is cut short or otherwise not what its selector says. */
export function decodeRevertReason(data: Uint8Array): string | undefined {
  if (data.length < 4) return undefined
  const selector = Buffer.from(data.buffer, data.byteOffset, 4).readUInt32BE()
  const body = data.subarray(4)
  if (selector === ERROR_SELECTOR) return decodeText(body)
  if (selector === PANIC_SELECTOR && body.length >= 32) {
    const code = bytesToBigInt(body.subarray(0, 32))
    return PANICS.get(code) ?? `unknown panic code: ${formatQuantity(code)}`
  }
  return undefined
}

/** The one dynamic string of an ABI-encoded tuple. Bytes that are no UTF-8 become U+FFFD. */
function decodeText(body: Uint8Array): string | undefined {
  const offset = readLength(body, 0)
  if (offset === undefined) return undefined
  const length = readLength(body, offset)
  if (length === undefined || offset + 32 + length > body.length) return undefined
  return Buffer.from(body.buffer, body.byteOffset + offset + 32, length).toString('utf8')
}

function readLength(body: Uint8Array, at: number): number | undefined {
  if (at + 32 > body.length) return undefined
  const value = bytesToBigInt(body.subarray(at, at + 32))
  return value <= BigInt(body.length) ? Number(value) : undefined
}
