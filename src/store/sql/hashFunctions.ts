import { keccak256 } from '../../chain/crypto.js'
import { formatChecksumAddress } from '../../chain/eth/checksumAddress.js'
import { formatData } from '../../lib/hex.js'
import type { Database } from '../database.js'
import { addressOfValue, bytesOfValue, describeValue } from './functionValues.js'

/** Adds `keccak256(value)` (hex text of 32 bytes) and `checksum(address)` (EIP-55) to a connection. `keccak256` hashes
 *  bytes, hex text (`0x…`, an even number of digits) as its bytes, and other text as UTF-8. NULL gives NULL. Another
 *  type, or an address that has not 20 bytes, is an error. */
export function addHashFunctions(db: Database): void {
  const options = { deterministic: true }
  db.function('keccak256', options, (value: unknown) => (value === null ? null : formatData(keccak256(toBytes(value)))))
  db.function('checksum', options, (value: unknown) =>
    value === null ? null : formatChecksumAddress(addressOfValue('checksum', value)),
  )
}

function toBytes(value: unknown): Uint8Array {
  const bytes = bytesOfValue(value)
  if (bytes !== undefined) return bytes
  if (typeof value !== 'string') throw new Error(`keccak256: expected text or bytes, got ${describeValue(value)}`)
  return new TextEncoder().encode(value)
}
