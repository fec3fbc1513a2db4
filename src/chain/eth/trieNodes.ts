import { keccak256 } from '../crypto.js'
import {
  asBytes,
  asList,
  DecodeError,
  describeItem,
  encodeListOf,
  encodeRlp,
  type RlpItem,
  type RlpList,
} from './rlp.js'

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
  return nodeRlp.length < 32 ? nodeRlp : hashReference(keccak256(nodeRlp))
}

/** The reference to the node with that hash (32 bytes): the RLP of the hash. */
export function hashReference(hash: Uint8Array): NodeReference {
  const reference = new Uint8Array(33)
  reference[0] = 0xa0
  reference.set(hash, 1)
  return reference
}

/** A child of a decoded node: the hash of its RLP (32 bytes), or the node itself if its RLP is below 32 bytes. */
export type ChildNode = Uint8Array | RlpList

/** A node decoded from its RLP. Paths are nibbles, one per element. */
export type DecodedNode =
  | { readonly kind: 'leaf'; readonly path: Uint8Array; readonly value: Uint8Array }
  | { readonly kind: 'extension'; readonly path: Uint8Array; readonly child: ChildNode }
  | { readonly kind: 'branch'; readonly children: readonly (ChildNode | undefined)[] } // 16

/** Decodes a node of a trie whose keys have one length (Yellow Paper, appendix D). Only the RLP that `encodeLeaf`,
 *  `encodeExtension` and `encodeBranch` write is accepted.
 *  @throws DecodeError at `path` for other numbers of items, an invalid hex prefix, an empty value, an extension
 *  without nibbles, a child that is neither a hash nor a shorter node, a branch with a value or with fewer than two
 *  children */
export function decodeTrieNode(item: RlpItem, path = 'node'): DecodedNode {
  const items = asList(item, path, 2, 17)
  if (items.length === 17) return decodeBranch(items, path)
  if (items.length !== 2) throw new DecodeError(path, `expected 2 or 17 items, got ${items.length}`)
  const { nibbles, isLeaf } = decodeHexPrefix(asBytes(items[0], `${path}[0]`), `${path}[0]`)
  if (isLeaf) {
    const value = asBytes(items[1], `${path}[1]`)
    if (value.length === 0) throw new DecodeError(`${path}[1]`, 'expected a value, got no bytes')
    return { kind: 'leaf', path: nibbles, value }
  }
  if (nibbles.length === 0)
    throw new DecodeError(`${path}[0]`, 'expected an extension of at least one nibble, got none')
  const child = decodeChild(items[1], `${path}[1]`)
  if (child === undefined) throw new DecodeError(`${path}[1]`, 'expected an extension with a child, got none')
  return { kind: 'extension', path: nibbles, child }
}

function decodeBranch(items: readonly RlpItem[], path: string): DecodedNode {
  const children = items.slice(0, 16).map((item, nibble) => decodeChild(item, `${path}[${nibble}]`))
  const count = children.reduce((sum, child) => (child === undefined ? sum : sum + 1), 0)
  if (count < 2) throw new DecodeError(path, `expected a branch of at least 2 children, got ${count}`)
  // Keys all have the same length, so none ends at a branch.
  if (asBytes(items[16], `${path}[16]`).length > 0) {
    throw new DecodeError(`${path}[16]`, `expected a branch without a value, got ${describeItem(items[16])}`)
  }
  return { kind: 'branch', children }
}

function decodeChild(item: RlpItem, path: string): ChildNode | undefined {
  if (item instanceof Uint8Array ? item.length === 32 : item.raw.length < 32) return item
  if (item instanceof Uint8Array && item.length === 0) return undefined
  throw new DecodeError(path, `expected a hash, no bytes or a node below 32 bytes, got ${describeItem(item)}`)
}

/** Decodes a path (Yellow Paper, appendix C): its nibbles, one per element, and whether it is that of a leaf.
 *  @throws DecodeError at `path` for no bytes, for other flags and for padding that is not zero */
export function decodeHexPrefix(bytes: Uint8Array, path: string): { nibbles: Uint8Array; isLeaf: boolean } {
  const flag = bytes.length === 0 ? 0xff : bytes[0] >> 4
  if (flag > 3 || ((flag & 1) === 0 && bytes[0] !== flag << 4)) {
    throw new DecodeError(path, `expected a hex-prefix path, got ${describeItem(bytes)}`)
  }
  return { nibbles: toNibbles(bytes).subarray((flag & 1) === 1 ? 1 : 2), isLeaf: flag >= 2 }
}
