import { formatData, parseHex } from '../../lib/hex.js'

/* Values that SQLite passes to functions. */

/** Returns the bytes of a BLOB or of hex text (`0x` and an even number of digits); undefined for any other value. */
export function bytesOfValue(value: unknown): Uint8Array | undefined {
  if (value instanceof Uint8Array) return value
  return typeof value === 'string' && /^0x(?:[0-9a-f]{2})*$/i.test(value) ? parseHex(value) : undefined
}

/** Returns an address of 20 bytes. @throws Error that names the function for any other value */
export function addressOfValue(name: string, value: unknown): Uint8Array {
  const bytes = bytesOfValue(value)
  if (bytes?.length !== 20) throw new Error(`${name}: expected an address of 20 bytes, got ${describeValue(value)}`)
  return bytes
}

/** The value as text, cut after 40 bytes or 80 characters, for messages. */
export function describeValue(value: unknown): string {
  return value instanceof Uint8Array ? formatData(value.subarray(0, 40)) : String(value).slice(0, 80)
}
