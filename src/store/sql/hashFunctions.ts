import { keccak256 } from '../../chain/crypto.js'
import { formatChecksumAddress } from '../../chain/eth/checksumAddress.js'
import { formatData, parseHex } from '../../lib/hex.js'
import type { Database } from '../database.js'

/** Adds `keccak256(value)` (hex text of 32 bytes) and `checksum(address)` (EIP-55) to a connection. `keccak256` hashes
 *  bytes, hex text (`0x…`, an even number of digits) as its bytes, and other text as UTF-8. NULL gives NULL. Another
 *  type, or an address that has not 20 bytes, is an error. */
export function addHashFunctions(db: Database): void {
  const options = { deterministic: true }
  db.function('keccak256', options, (value: unknown) => (value === null ? null : formatData(keccak256(toBytes(value)))))
  db.function('checksum', options, (value: unknown) => {
    if (value === null) return null
    const bytes = value instanceof Uint8Array || isHex(value) ? toBytes(value) : undefined
    if (bytes?.length !== 20) throw new Error(`checksum: expected an address of 20 bytes, got ${describe(value)}`)
    return formatChecksumAddress(bytes)
  })
}

function isHex(value: unknown): value is string {
  return typeof value === 'string' && /^0x(?:[0-9a-f]{2})*$/i.test(value)
}

function toBytes(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value
  if (isHex(value)) return parseHex(value)
  if (typeof value !== 'string') throw new Error(`keccak256: expected text or bytes, got ${describe(value)}`)
  return new TextEncoder().encode(value)
}

function describe(value: unknown): string {
  return value instanceof Uint8Array ? formatData(value.subarray(0, 40)) : String(value).slice(0, 80)
}
