import { keccak256Into, keccakInput } from '../chain/crypto.js'
import { headerLength, LIST, STRING, writeHeader } from '../chain/eth/rlpBytes.js'
import { KEY_BYTES, LEAF, LEAF_HEAD, MAX_REFERENCE, slotLength, valueLength } from './nodeFormat.js'

/* RLP encoding of stored nodes into reused memory: hashing is most of the work of a state trie. Same encodings as in
 * chain/eth/trieNodes. Short byte strings are copied in loops, which take half the time of `set`. */

/** Encodes stored values for hashing. */
export interface ValueRlp {
  /** Memory of the results. */
  readonly out: Uint8Array
  /** Writes the RLP of the value in bytes [from, to) to the start of `out`; returns its length. */
  encode(bytes: Uint8Array, from: number, to: number): number
  /** Returns the stored value with that RLP. @throws DecodeError for RLP that `encode` does not write */
  decode(rlp: Uint8Array): Uint8Array
}

// Header of a list of up to 65,535 bytes.
const MAX_HEADER = 3

// 16 references, and a byte for the always empty value.
const branchRlp = new Uint8Array(MAX_HEADER + 16 * MAX_REFERENCE + 1)
// Two header bytes, the path and its header, the reference of the branch.
const extensionRlp = new Uint8Array(2 + 1 + (1 + KEY_BYTES) + MAX_REFERENCE)

/** Writes the reference of the leaf at `leafAt` in its parent (Yellow Paper, appendices C and D) at `at`; returns its
 *  end. Its path is the nibbles of its key from `depth` on. */
export function writeLeafReference(
  out: Uint8Array,
  at: number,
  { bytes, at: leafAt, depth }: NodePlace,
  valueRlp: ValueRlp,
): number {
  const valueAt = leafAt + LEAF_HEAD
  const length = valueRlp.encode(bytes, valueAt, valueAt + valueLength(bytes, leafAt))
  const value = valueRlp.out
  const isOwnRlp = length === 1 && value[0] < STRING
  const pathBytes = KEY_BYTES - (depth >> 1) + (depth & 1 ? 0 : 1)
  // A single byte below 0x80 is its own RLP; a one-byte path always is, because it is 0x20 or 0x30 plus a nibble.
  const payload = (pathBytes === 1 ? 1 : 1 + pathBytes) + (isOwnRlp ? 1 : headerLength(length) + length)
  const total = headerLength(payload) + payload
  const rlp = total <= keccakInput.bytes.length ? keccakInput.bytes : new Uint8Array(total)
  let end = writeHeader(rlp, 0, LIST, payload)
  if (pathBytes > 1) rlp[end++] = STRING + pathBytes
  let from = leafAt + 1 + (depth >> 1)
  rlp[end++] = depth & 1 ? 0x30 | (bytes[from++] & 15) : 0x20
  for (const keyEnd = leafAt + 1 + KEY_BYTES; from < keyEnd; from++) rlp[end++] = bytes[from]
  if (!isOwnRlp) end = writeHeader(rlp, end, STRING, length)
  for (let i = 0; i < length; i++) rlp[end + i] = value[i]
  if (total < 32 || rlp !== keccakInput.bytes) return writeReference(out, at, rlp, 0, total)
  out[at] = STRING + 32
  keccakInput.hashInto(total, out, at + 1)
  return at + MAX_REFERENCE
}

/** A stored leaf or branch, without its reference, and its depth. */
export interface NodePlace {
  bytes: Uint8Array
  at: number
  depth: number
}

const child: NodePlace = { bytes: branchRlp, at: 0, depth: 0 }

/** Writes the reference of the branch in its parent at `at`; returns its end. */
export function writeBranchReference(out: Uint8Array, at: number, branch: NodePlace, valueRlp: ValueRlp): number {
  const { bytes, at: branchAt } = branch
  const { start, end } = writeBranch(branch, valueRlp)
  const skipped = bytes[branchAt]
  if (skipped === 0) return writeReference(out, at, branchRlp, start, end)
  return writeExtensionReference(out, at, bytes.subarray(branchAt + 1, branchAt + 1 + skipped), start, end)
}

/** Returns the RLP of the branch, without the extension that leads to it. */
export function encodeBranchAt(branch: NodePlace, valueRlp: ValueRlp): Uint8Array {
  const { start, end } = writeBranch(branch, valueRlp)
  return branchRlp.slice(start, end)
}

const written = { start: 0, end: 0 }

/** Writes the RLP of the branch to `branchRlp`; returns where it is, until the next call. */
function writeBranch({ bytes, at: branchAt, depth }: NodePlace, valueRlp: ValueRlp): { start: number; end: number } {
  const skipped = bytes[branchAt]
  const bitmapAt = branchAt + 1 + skipped
  const bitmap = (bytes[bitmapAt] << 8) | bytes[bitmapAt + 1]
  child.bytes = bytes
  child.at = bitmapAt + 2
  child.depth = depth + skipped + 1
  let end = MAX_HEADER
  for (let nibble = 0; nibble < 16; nibble++) {
    if ((bitmap & (1 << nibble)) === 0) {
      branchRlp[end++] = STRING
      continue
    }
    if (bytes[child.at] === LEAF) end = writeLeafReference(branchRlp, end, child, valueRlp)
    else {
      const from = child.at + 2
      const length = bytes[from - 1]
      for (let i = 0; i < length; i++) branchRlp[end + i] = bytes[from + i]
      end += length
    }
    child.at += slotLength(bytes, child.at)
  }
  branchRlp[end++] = STRING
  const payload = end - MAX_HEADER
  written.start = MAX_HEADER - headerLength(payload)
  written.end = end
  writeHeader(branchRlp, written.start, LIST, payload)
  return written
}

/** Writes the reference of an extension over the nibbles to the branch whose RLP is in `branchRlp` [from, to). */
function writeExtensionReference(out: Uint8Array, at: number, nibbles: Uint8Array, from: number, to: number): number {
  return endExtension(out, at, writeReference(extensionRlp, beginExtension(nibbles), branchRlp, from, to))
}

/** Writes the reference of the extension over the nibbles to the branch with that hash at `at`, without nibbles that of
 *  the branch; returns its end. */
export function writeUnknownBranchReference(
  out: Uint8Array,
  at: number,
  nibbles: Uint8Array,
  hash: Uint8Array,
): number {
  if (nibbles.length > 0) return endExtension(out, at, writeHashReference(extensionRlp, beginExtension(nibbles), hash))
  return writeHashReference(out, at, hash)
}

function writeHashReference(out: Uint8Array, at: number, hash: Uint8Array): number {
  out[at] = STRING + 32
  out.set(hash, at + 1)
  return at + MAX_REFERENCE
}

/** Writes the path of an extension to `extensionRlp`; returns its end. */
function beginExtension(nibbles: Uint8Array): number {
  const odd = nibbles.length & 1
  const pathBytes = (nibbles.length >> 1) + 1
  // The header of the list is one byte unless the path is longer than 20; two bytes are reserved.
  let end = 2
  if (pathBytes > 1) extensionRlp[end++] = STRING + pathBytes
  extensionRlp[end++] = odd === 1 ? 0x10 | nibbles[0] : 0
  for (let i = odd; i < nibbles.length; i += 2) extensionRlp[end++] = (nibbles[i] << 4) | nibbles[i + 1]
  return end
}

/** Writes the reference of the extension whose path and child end at `end` of `extensionRlp` at `at`; returns its
 *  end. */
function endExtension(out: Uint8Array, at: number, end: number): number {
  const payload = end - 2
  const start = 2 - headerLength(payload)
  writeHeader(extensionRlp, start, LIST, payload)
  return writeReference(out, at, extensionRlp, start, end)
}

function writeReference(out: Uint8Array, at: number, bytes: Uint8Array, from: number, to: number): number {
  if (to - from < 32) {
    for (let i = from; i < to; i++) out[at + i - from] = bytes[i]
    return at + to - from
  }
  out[at] = STRING + 32
  keccak256Into(bytes.subarray(from, to), out, at + 1)
  return at + MAX_REFERENCE
}
