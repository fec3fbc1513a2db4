import { formatData } from '../../lib/hex.js'
import { keccak256 } from '../crypto.js'

/** An address of 20 bytes as geth writes it in messages: hex digits with the checksum of EIP-55 in their case. */
export function formatChecksumAddress(address: Uint8Array): string {
  const digits = formatData(address).slice(2)
  const hash = keccak256(Buffer.from(digits))
  const isHigh = (index: number) => ((hash[index >> 1] >> (index % 2 === 0 ? 4 : 0)) & 15) > 7
  return `0x${Array.from(digits, (digit, index) => (isHigh(index) ? digit.toUpperCase() : digit)).join('')}`
}
