import { headerLength, LIST, STRING, stringLength, writeHeader, writeString } from '../chain/eth/rlpBytes.js'
import { keccak256 } from '../lib/crypto.js'

/* RLP of nodes, written into memory that is used again: hashing is most of what a state trie does. The forms are those of
 * chain/eth/trieNodes. */

const KEY_BYTES = 32
// Headers of lists and strings of up to 65,535 bytes.
const MAX_HEADER = 4
const MAX_VALUE = 0xffff

const leafBytes = new Uint8Array(2 * MAX_HEADER + 1 + KEY_BYTES + MAX_HEADER + MAX_VALUE)
// 16 references of at most 33 bytes, and a byte for the value that there never is.
const branchBytes = new Uint8Array(MAX_HEADER + 16 * 33 + 1)

/** How a leaf stands in its parent (Yellow Paper, appendices C and D). Its path are the nibbles from `depth` on of the key
 *  of 32 bytes at `keyAt`. */
export function leafReference(bytes: Uint8Array, keyAt: number, depth: number, value: Uint8Array): Uint8Array {
  const pathBytes = KEY_BYTES - (depth >> 1) + (depth & 1 ? 0 : 1)
  // A single byte below 0x80 is its own RLP; a path of one byte always is, being 0x20 or 0x30 and a nibble.
  const pathLength = pathBytes === 1 ? 1 : 1 + pathBytes
  const payload = pathLength + stringLength(value)
  let at = writeHeader(leafBytes, MAX_HEADER - headerLength(payload), LIST, payload)
  const start = MAX_HEADER - headerLength(payload)
  if (pathBytes > 1) leafBytes[at++] = STRING + pathBytes
  let from = keyAt + (depth >> 1)
  leafBytes[at++] = depth & 1 ? 0x30 | (bytes[from++] & 15) : 0x20
  for (const end = keyAt + KEY_BYTES; from < end; from++) leafBytes[at++] = bytes[from]
  at = writeString(leafBytes, at, value)
  return referenceOf(leafBytes, start, at)
}

/** How a branch stands in its parent. `child` writes the reference of the child at a nibble, where there is one. */
export function hashBranch(
  child: (nibble: number, write: (from: Uint8Array, at: number, length: number) => void) => void,
): Uint8Array {
  let at = MAX_HEADER
  const write = (from: Uint8Array, start: number, length: number) => {
    for (let i = 0; i < length; i++) branchBytes[at + i] = from[start + i]
    at += length
  }
  for (let nibble = 0; nibble < 16; nibble++) {
    const before = at
    child(nibble, write)
    if (at === before) branchBytes[at++] = 0x80
  }
  branchBytes[at++] = 0x80
  const payload = at - MAX_HEADER
  const start = MAX_HEADER - headerLength(payload)
  writeHeader(branchBytes, start, LIST, payload)
  return referenceOf(branchBytes, start, at)
}

function referenceOf(bytes: Uint8Array, from: number, to: number): Uint8Array {
  if (to - from < 32) return bytes.slice(from, to)
  const reference = new Uint8Array(33)
  reference[0] = 0xa0
  reference.set(keccak256(bytes.subarray(from, to)), 1)
  return reference
}
