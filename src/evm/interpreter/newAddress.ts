import { keccak256 } from '../../chain/crypto.js'
import { concatBytes } from '../../lib/bytes.js'

/** Address of a contract created with CREATE at that nonce: 20 bytes (Yellow Paper, 7). */
export { createAddress as contractAddress } from '../../chain/eth/transaction.js'

const PREFIX = Uint8Array.of(0xff)

/** Address of a contract created with CREATE2: 20 bytes (EIP-1014). `salt` has 32 bytes. */
export function contractAddress2(creator: Uint8Array, salt: Uint8Array, initCode: Uint8Array): Uint8Array {
  return keccak256(concatBytes(PREFIX, creator, salt, keccak256(initCode))).slice(12)
}
