import { EMPTY_BYTES } from '../../lib/bytes.js'
import { parseHex } from '../../lib/hex.js'
import { keccak256 } from '../crypto.js'

/** `unclesHash` of a block without uncles: Keccak-256 of the RLP of an empty list. 32 bytes; never write to it. */
export const EMPTY_UNCLES_HASH = parseHex('0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347')

/** `requestsHash` of a block without requests (EIP-7685): SHA-256 of no bytes. 32 bytes; never write to it. */
export const EMPTY_REQUESTS_HASH = parseHex('0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')

/** `blockAccessListHash` of an empty list (EIP-7928): Keccak-256 of the RLP of an empty list. 32 bytes; never write to
 *  it. */
export const EMPTY_ACCESS_LIST_HASH = EMPTY_UNCLES_HASH

/** keccak-256 of no bytes: the code hash of an account without code. */
export const EMPTY_CODE_HASH = keccak256(EMPTY_BYTES)
