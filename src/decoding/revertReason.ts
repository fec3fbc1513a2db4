import { describePanic } from '../chain/eth/panicCodes.js'
import { bytesToBigInt } from '../lib/bytes.js'

const ERROR_SELECTOR = 0x08c379a0 // Error(string)
const PANIC_SELECTOR = 0x4e487b71 // Panic(uint256)

const UTF8 = new TextDecoder('utf-8', { ignoreBOM: true })

/** Maximum length of a reason in a message; the data has all of it. */
export const MAX_REASON_BYTES = 4096

/** The reason in revert data as geth reads it, for what is to equal geth's: the text of `Error(string)`, or the meaning
 *  of `Panic(uint256)`. Undefined for custom errors, empty data, and malformed data. */
export function decodeRevertReason(data: Uint8Array): string | undefined {
  if (data.length < 4) return undefined
  const selector = Buffer.from(data.buffer, data.byteOffset, 4).readUInt32BE()
  const body = data.subarray(4)
  if (selector === ERROR_SELECTOR) return decodeText(body)
  if (selector === PANIC_SELECTOR && body.length >= 32) {
    return describePanic(bytesToBigInt(body.subarray(0, 32)))
  }
  return undefined
}

/** The single dynamic string of an ABI-encoded tuple, truncated with an ellipsis. Invalid UTF-8 becomes U+FFFD. */
function decodeText(body: Uint8Array): string | undefined {
  const offset = readLength(body, 0)
  if (offset === undefined) return undefined
  const length = readLength(body, offset)
  if (length === undefined || offset + 32 + length > body.length) return undefined
  const start = offset + 32
  if (length <= MAX_REASON_BYTES) return UTF8.decode(body.subarray(start, start + length))
  // A character split by the truncation is dropped.
  return `${new TextDecoder('utf-8', { ignoreBOM: true }).decode(body.subarray(start, start + MAX_REASON_BYTES), { stream: true })}…`
}

function readLength(body: Uint8Array, at: number): number | undefined {
  if (at + 32 > body.length) return undefined
  const value = bytesToBigInt(body.subarray(at, at + 32))
  return value <= BigInt(body.length) ? Number(value) : undefined
}
