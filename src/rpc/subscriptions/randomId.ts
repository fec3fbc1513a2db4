import { randomBytes } from 'node:crypto'

/** A new id of a filter or a subscription: 16 random bytes in hex, of fixed length, geth's maximum. Its first digit is
 *  not zero: web3.js reads the id of a filter as a number, and sends it back without leading zeros. */
export function randomId(): string {
  const bytes = randomBytes(16)
  bytes[0] |= 0x80
  return `0x${bytes.toString('hex')}`
}
