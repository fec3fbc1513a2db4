import { keccak256Into } from '../chain/crypto.js'
import { headerLength, LIST, STRING, stringLength, writeHeader, writeString } from '../chain/eth/rlpBytes.js'

/* RLP encoding of nodes into reused memory: hashing is most of the work of a state trie. Same encodings as in
 * chain/eth/trieNodes. */

const KEY_BYTES = 32
// Headers of lists and strings of up to 65,535 bytes.
const MAX_HEADER = 4
const MAX_VALUE = 0xffff

const leafBytes = new Uint8Array(2 * MAX_HEADER + 1 + KEY_BYTES + MAX_HEADER + MAX_VALUE)
// 16 references of at most 33 bytes, and a byte for the always empty value.
const branchBytes = new Uint8Array(MAX_HEADER + 16 * 33 + 1)

/** A leaf: its key of 32 bytes is at `keyAt` of the bytes; its path is the nibbles from `depth` on. */
export interface LeafPlace {
  bytes: Uint8Array
  keyAt: number
  depth: number
  value: Uint8Array
}

/** Writes a leaf's reference in its parent (Yellow Paper, appendices C and D) at `at`; returns its end. */
export function writeLeafReference(out: Uint8Array, at: number, leaf: LeafPlace): number {
  const { start, end } = writeLeaf(leaf)
  return writeReference(out, at, leafBytes, start, end)
}

function writeLeaf({ bytes, keyAt, depth, value }: LeafPlace): { start: number; end: number } {
  const pathBytes = KEY_BYTES - (depth >> 1) + (depth & 1 ? 0 : 1)
  // A single byte below 0x80 is its own RLP; a one-byte path always is, because it is 0x20 or 0x30 plus a nibble.
  const pathLength = pathBytes === 1 ? 1 : 1 + pathBytes
  const payload = pathLength + stringLength(value)
  const start = MAX_HEADER - headerLength(payload)
  let at = writeHeader(leafBytes, start, LIST, payload)
  if (pathBytes > 1) leafBytes[at++] = STRING + pathBytes
  let from = keyAt + (depth >> 1)
  leafBytes[at++] = depth & 1 ? 0x30 | (bytes[from++] & 15) : 0x20
  for (const end = keyAt + KEY_BYTES; from < end; from++) leafBytes[at++] = bytes[from]
  return { start, end: writeString(leafBytes, at, value) }
}

/** A branch's reference in its parent. `writeChild` writes the reference of the child at a nibble to `out` and returns
 *  its end; without a child it writes nothing. */
export function hashBranch(writeChild: (out: Uint8Array, at: number, nibble: number) => number): Uint8Array {
  let at = MAX_HEADER
  for (let nibble = 0; nibble < 16; nibble++) {
    const end = writeChild(branchBytes, at, nibble)
    if (end === at) branchBytes[at++] = STRING
    else at = end
  }
  branchBytes[at++] = STRING
  const payload = at - MAX_HEADER
  const start = MAX_HEADER - headerLength(payload)
  writeHeader(branchBytes, start, LIST, payload)
  const reference = new Uint8Array(at - start < 32 ? at - start : 33)
  writeReference(reference, 0, branchBytes, start, at)
  return reference
}

function writeReference(out: Uint8Array, at: number, bytes: Uint8Array, from: number, to: number): number {
  if (to - from < 32) {
    out.set(bytes.subarray(from, to), at)
    return at + to - from
  }
  out[at] = STRING + 32
  keccak256Into(bytes.subarray(from, to), out, at + 1)
  return at + 33
}
