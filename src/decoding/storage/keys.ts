import { bigIntToFixedBytes, padLeft } from '../../lib/bytes.js'
import { parseHex } from '../../lib/hex.js'
import type { StorageType } from './layout.js'

/** Returns the bytes of a key of a mapping as they are hashed before its slot: 32 bytes for a value, the bytes
 *  themselves for `string` and `bytes`. For a text that is no such key: what would work. `type` is the key of the type
 *  in its layout. */
export function encodeKey(
  text: string,
  type: string,
  { encoding, label, numberOfBytes }: StorageType,
): Uint8Array | string {
  const isHex = /^0x([\da-f]{2})*$/i.test(text)
  const size = Math.min(32, Math.max(1, Number(numberOfBytes)))
  if (encoding === 'bytes') {
    if (/string/.test(type)) return new TextEncoder().encode(text)
    return isHex ? parseHex(text.toLowerCase()) : `a key of type ${label} is hex with 0x`
  }
  if (type === 't_bool') {
    if (text !== 'true' && text !== 'false') return 'a key of type bool is true or false'
    return padLeft(Uint8Array.of(text === 'true' ? 1 : 0), 32)
  }
  if (/^t_(address|contract)/.test(type)) {
    if (!isHex || text.length !== 42) return `a key of type ${label} is 0x and 40 hex digits`
    return padLeft(parseHex(text.toLowerCase()), 32)
  }
  if (/^t_bytes\d/.test(type)) {
    if (!isHex || text.length !== 2 + 2 * size) return `a key of type ${label} is 0x and ${2 * size} hex digits`
    const key = new Uint8Array(32)
    key.set(parseHex(text.toLowerCase()))
    return key
  }
  const isSigned = /^t_int/.test(type)
  const value = parseInteger(text, isSigned)
  const bits = BigInt(8 * size)
  const [least, most] = isSigned ? [-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n] : [0n, 2n ** bits - 1n]
  if (value === undefined || value < least || value > most) {
    return `a key of type ${label} is an integer from ${least} to ${most}`
  }
  return bigIntToFixedBytes(BigInt.asUintN(256, value), 32)
}

function parseInteger(text: string, isSigned: boolean): bigint | undefined {
  if (/^(\d{1,78}|0x[\da-f]{1,64})$/i.test(text)) return BigInt(text)
  return isSigned && /^-\d{1,78}$/.test(text) ? BigInt(text) : undefined
}
