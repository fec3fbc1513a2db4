import { keccak256 } from '../crypto.js'
import { encodeListOf, encodeRlp } from './rlp.js'

/** The reference of a node in its parent (Yellow Paper, appendix D): its RLP if below 32 bytes, otherwise the RLP of
 *  its hash. The parent's list contains it unchanged. */
export type NodeReference = Uint8Array

/** The reference of a missing child: the RLP of no bytes. Shared: never write to it. */
export const NO_CHILD: NodeReference = Uint8Array.of(0x80)

/** The nibbles of the bytes, high one first: one per element, values 0 to 15. */
export function toNibbles(bytes: Uint8Array): Uint8Array {
  const nibbles = new Uint8Array(bytes.length * 2)
  for (let i = 0; i < bytes.length; i++) {
    nibbles[2 * i] = bytes[i] >> 4
    nibbles[2 * i + 1] = bytes[i] & 15
  }
  return nibbles
}

/** Hex-prefix encoding of a path (Yellow Paper, appendix C): the flag for a leaf or an extension and for odd length,
 *  then the nibbles two to a byte. */
export function encodeHexPrefix(nibbles: Uint8Array, isLeaf: boolean): Uint8Array {
  const odd = nibbles.length & 1
  const out = new Uint8Array((nibbles.length >> 1) + 1)
  out[0] = (isLeaf ? 0x20 : 0) | (odd === 1 ? 0x10 | nibbles[0] : 0)
  for (let i = odd, at = 1; i < nibbles.length; i += 2, at++) out[at] = (nibbles[i] << 4) | nibbles[i + 1]
  return out
}

/** RLP of a leaf whose remaining path is `nibbles`. */
export function encodeLeaf(nibbles: Uint8Array, value: Uint8Array): Uint8Array {
  return encodeRlp([encodeHexPrefix(nibbles, true), value])
}

/** RLP of an extension over `nibbles` to a child. */
export function encodeExtension(nibbles: Uint8Array, child: NodeReference): Uint8Array {
  return encodeListOf([encodeRlp(encodeHexPrefix(nibbles, false)), child])
}

/** RLP of a branch of 16 children, `NO_CHILD` for missing ones, without a value: keys of the tries that Ethereum hashes
 *  never end at a branch. */
export function encodeBranch(children: readonly NodeReference[]): Uint8Array {
  return encodeListOf([...children, NO_CHILD])
}

/** Returns the reference of the node with this RLP. */
export function referenceTo(nodeRlp: Uint8Array): NodeReference {
  if (nodeRlp.length < 32) return nodeRlp
  const reference = new Uint8Array(33)
  reference[0] = 0xa0
  reference.set(keccak256(nodeRlp), 1)
  return reference
}
