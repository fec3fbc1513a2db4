import { concatBytes } from '../../lib/bytes.js'
import { keccak256 } from '../crypto.js'
import { encodeFelt, type Felt } from './felt.js'

/** Hash of a message from layer 1, 32 bytes (Starknet documentation, "L1-L2 messaging": the hash that the core contract
 *  logs). Messages had no nonce before Starknet 0.8. */
export function hashMessageToL2(message: {
  from: Felt
  to: Felt
  nonce: Felt | undefined
  selector: Felt
  payload: readonly Felt[]
}): Uint8Array {
  const { from, to, nonce, selector, payload } = message
  const words = [from, to, ...(nonce === undefined ? [] : [nonce]), selector, BigInt(payload.length), ...payload]
  return keccak256(concatBytes(...words.map(encodeFelt)))
}
