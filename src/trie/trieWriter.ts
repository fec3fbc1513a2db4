import { EMPTY_BYTES } from '../lib/bytes.js'
import {
  compareTrieKeys,
  INLINE,
  KEY_BYTES,
  LEAF,
  LEAF_HEAD,
  LINK,
  MAX_REFERENCE,
  NODE_HASH_BYTES,
  nibbleIn,
  PAGE_ID_BYTES,
  pageAt,
  slotLength,
  type TrieNodeRef,
  UNKNOWN,
  UNKNOWN_BRANCH,
  valueLength,
  writePageId,
} from './nodeFormat.js'
import { type NodePlace, type ValueRlp, writeBranchReference, writeUnknownBranchReference } from './nodeHashing.js'
import { convertBranch, convertNode } from './storeNode.js'
import type { ByteRange, SortedChanges } from './trieChanges.js'
import { NOTHING_KNOWN, type UnknownNodes } from './unknownNodes.js'

/** Storage of trie pages. Bytes passed in or out are immutable. */
export interface TriePages {
  read(page: number): Uint8Array
  write(page: number, branch: Uint8Array): void
  /** An unused page id, from 1 on. */
  allocate(): number
  free(page: number): void
}

// Keeps the largest page, 16 such children, within an SQLite page.
const INLINE_BYTES = 240
// Before a branch inside its parent: kind, length of the reference, reference, length. A link is shorter than that and
// a branch.
const BRANCH_HEAD = 2 + MAX_REFERENCE + 2
const BITMAP_BYTES = 2
const MOST_NIBBLES = 2 * KEY_BYTES
const FIRST_ROOM = 2 ** 14
const NO_CHANGES: SortedChanges = { keys: EMPTY_BYTES, change: () => {} }

// The page of an unknown branch.
const NO_CONTENTS = -1

/** A branch to be changed. */
interface BranchSource {
  bytes: Uint8Array
  at: number
  /** The page that contains it; 0: none; `NO_CONTENTS`: the bytes have its skipped nibbles and its hash. */
  page: number
  /** Its skipped nibbles count from this one on; earlier ones belong to a branch above it. */
  skipFrom: number
}

/** Writes nodes in their stored form to one growing array, `out`: each after its siblings and inside its parent. Copies
 *  unchanged parts; decodes and encodes nothing twice. Functions that write a node take its start and depth and return
 *  its end, which is the start if it is empty. They pass numbers, because objects would mean several allocations per
 *  node. */
export class TrieWriter {
  private readonly pages: TriePages
  private readonly valueRlp: ValueRlp
  private readonly unknown: UnknownNodes
  private out = new Uint8Array(FIRST_ROOM)
  private changes = NO_CHANGES
  private keys: Uint8Array = NO_CHANGES.keys
  private readonly value: ByteRange = { bytes: EMPTY_BYTES, from: 0, to: 0 }
  // Leaves of a new branch before their positions in it are known: the end of each is the start of the next.
  private leaves = new Uint8Array(FIRST_ROOM)
  private leafStarts: number[] = []
  private readonly path = new Uint8Array(MOST_NIBBLES)
  private readonly place: NodePlace = { bytes: this.out, at: 0, depth: 0 }

  constructor(pages: TriePages, valueRlp: ValueRlp, unknown: UnknownNodes = NOTHING_KNOWN) {
    this.pages = pages
    this.unknown = unknown
    this.valueRlp = valueRlp
  }

  /** Applies changes [from, to), at least one, to a trie, and returns the new one; undefined is an empty one. Replaces
   *  the pages of the old one. A change must not apply changes with the same writer. */
  apply(
    top: TrieNodeRef | undefined,
    changes: SortedChanges,
    { from, to }: { from: number; to: number },
  ): TrieNodeRef | undefined {
    this.changes = changes
    this.keys = changes.keys
    const end = this.merge(top ?? EMPTY_BYTES, top === undefined ? -1 : 0, from, to, 0, 0)
    this.changes = NO_CHANGES
    this.keys = this.changes.keys
    return end === 0 ? undefined : this.out.slice(0, end)
  }

  private reserve(end: number): void {
    if (end > this.out.length) this.out = grown(this.out, end)
  }

  private copy(bytes: Uint8Array, from: number, to: number, at: number): number {
    const end = at + to - from
    this.reserve(end)
    if (to - from < 64) for (let i = from, o = at; i < to; i++, o++) this.out[o] = bytes[i]
    else this.out.set(bytes.subarray(from, to), at)
    return end
  }

  private writeBitmap(at: number, bitmap: number): void {
    this.out[at] = bitmap >> 8
    this.out[at + 1] = bitmap
  }

  private endOfNibble(from: number, to: number, depth: number, nibble: number): number {
    let end = from
    while (end < to && nibbleIn(this.keys, end * KEY_BYTES, depth) === nibble) end++
    return end
  }

  /** Writes the leaf after a change. `leafAt` is the start of the old leaf; -1: none. */
  private writeLeaf(index: number, bytes: Uint8Array, leafAt: number, at: number): number {
    this.value.bytes = bytes
    this.value.from = leafAt < 0 ? 0 : leafAt + LEAF_HEAD
    this.value.to = leafAt < 0 ? 0 : this.value.from + valueLength(bytes, leafAt)
    this.changes.change(index, this.value)
    const length = this.value.to - this.value.from
    if (length === 0) return at
    this.reserve(at + LEAF_HEAD + length)
    this.out[at] = LEAF
    for (let i = 0, from = index * KEY_BYTES; i < KEY_BYTES; i++) this.out[at + 1 + i] = this.keys[from + i]
    this.out[at + 1 + KEY_BYTES] = length >> 8
    this.out[at + 2 + KEY_BYTES] = length
    return this.copy(this.value.bytes, this.value.from, this.value.to, at + LEAF_HEAD)
  }

  /** Writes the node after changes of a trie with at most one leaf. */
  private mergeLeaf(bytes: Uint8Array, leafAt: number, from: number, to: number, depth: number, at: number): number {
    if (to - from === 1 && (leafAt < 0 || compareTrieKeys(bytes, leafAt + 1, this.keys, from * KEY_BYTES) === 0)) {
      return this.writeLeaf(from, bytes, leafAt, at)
    }
    const starts: number[] = []
    let end = at
    let isAhead = leafAt >= 0
    for (let i = from; i < to; i++) {
      const order = isAhead ? compareTrieKeys(bytes, leafAt + 1, this.keys, i * KEY_BYTES) : 1
      if (order < 0) {
        starts.push(end - at)
        end = this.copy(bytes, leafAt, leafAt + slotLength(bytes, leafAt), end)
      }
      if (order <= 0) isAhead = false
      const next = this.writeLeaf(i, bytes, order === 0 ? leafAt : -1, end)
      if (next > end) starts.push(end - at)
      end = next
    }
    if (isAhead) {
      starts.push(end - at)
      end = this.copy(bytes, leafAt, leafAt + slotLength(bytes, leafAt), end)
    }
    if (starts.length < 2) return end
    if (end - at > this.leaves.length) this.leaves = grown(this.leaves, end - at)
    this.leaves.set(this.out.subarray(at, end))
    this.leafStarts = starts
    starts.push(end - at)
    return this.build(0, starts.length - 1, depth, at)
  }

  /** Writes the node over `leaves` [from, to). */
  private build(from: number, to: number, depth: number, at: number): number {
    if (to - from === 1) return this.copy(this.leaves, this.leafStarts[from], this.leafStarts[to], at)
    const [first, last] = [this.leafStarts[from] + 1, this.leafStarts[to - 1] + 1]
    let branching = depth
    while (nibbleIn(this.leaves, first, branching) === nibbleIn(this.leaves, last, branching)) branching++
    const skipped = branching - depth
    const bitmapAt = at + BRANCH_HEAD + 1 + skipped
    let end = bitmapAt + BITMAP_BYTES
    this.reserve(end)
    this.out[at + BRANCH_HEAD] = skipped
    for (let i = 0; i < skipped; i++) this.out[at + BRANCH_HEAD + 1 + i] = nibbleIn(this.leaves, first, depth + i)
    let bitmap = 0
    for (let start = from; start < to; ) {
      const nibble = nibbleIn(this.leaves, this.leafStarts[start] + 1, branching)
      let stop = start + 1
      while (stop < to && nibbleIn(this.leaves, this.leafStarts[stop] + 1, branching) === nibble) stop++
      end = this.build(start, stop, branching + 1, end)
      bitmap |= 1 << nibble
      start = stop
    }
    this.writeBitmap(bitmapAt, bitmap)
    return this.seal(at, end, depth, 0)
  }

  /** Writes the node after changes of the one at `nodeAt`; -1: none. */
  private merge(bytes: Uint8Array, nodeAt: number, from: number, to: number, depth: number, at: number): number {
    if (nodeAt < 0 || bytes[nodeAt] === LEAF) return this.mergeLeaf(bytes, nodeAt, from, to, depth, at)
    if (bytes[nodeAt] === INLINE) {
      return this.mergeBranch({ bytes, at: nodeAt + 4 + bytes[nodeAt + 1], page: 0, skipFrom: 0 }, from, to, depth, at)
    }
    if (bytes[nodeAt] !== LINK) return this.mergeUnknown(bytes, nodeAt, from, to, depth, at)
    const page = pageAt(bytes, nodeAt)
    return this.mergeBranch({ bytes: this.pages.read(page), at: 0, page, skipFrom: 0 }, from, to, depth, at)
  }

  /** Writes the node after changes of the unknown one at `nodeAt`. */
  private mergeUnknown(bytes: Uint8Array, nodeAt: number, from: number, to: number, depth: number, at: number): number {
    if (bytes[nodeAt] === UNKNOWN_BRANCH) {
      const source = { bytes, at: nodeAt + 2 + bytes[nodeAt + 1], page: NO_CONTENTS, skipFrom: 0 }
      return this.mergeBranch(source, from, to, depth, at)
    }
    const hash = hashOfUnknown(bytes, nodeAt)
    const { nodes, onMissing } = this.unknown
    const known = convertNode(hash, depth, { nodes, valueRlp: this.valueRlp, path: this.pathTo(from, depth) })
    if (known !== undefined) return this.merge(known, 0, from, to, depth, at)
    onMissing({ hash: hash.slice(), from, to, isSibling: false })
    return this.copy(bytes, nodeAt, nodeAt + slotLength(bytes, nodeAt), at)
  }

  /** Writes the node after changes, possibly none, of an unknown branch to which its skipped nibbles lead. */
  private mergeUnknownBranch(source: BranchSource, from: number, to: number, depth: number, at: number): number {
    const { bytes, at: branchAt, skipFrom } = source
    const hashAt = branchAt + 1 + bytes[branchAt]
    const skip = bytes.subarray(branchAt + 1 + skipFrom, hashAt)
    const hash = bytes.subarray(hashAt, hashAt + NODE_HASH_BYTES)
    if (from === to) return this.writeUnknownBranch(skip, hash, at)
    const { nodes, onMissing } = this.unknown
    const path = this.pathTo(from, depth)
    const known = convertBranch(hash, skip, { nodes, valueRlp: this.valueRlp, path, depth })
    if (known !== undefined) return this.merge(known, 0, from, to, depth, at)
    onMissing({ hash: hash.slice(), from, to, isSibling: false })
    return this.writeUnknownBranch(skip, hash, at)
  }

  /** The first `depth` nibbles of the key of a change, and room for the others. */
  private pathTo(index: number, depth: number): Uint8Array {
    const path = new Uint8Array(MOST_NIBBLES)
    for (let i = 0; i < depth; i++) path[i] = nibbleIn(this.keys, index * KEY_BYTES, i)
    return path
  }

  private writeUnknownBranch(skip: Uint8Array, hash: Uint8Array, at: number): number {
    this.reserve(at + BRANCH_HEAD + 1 + skip.length + NODE_HASH_BYTES)
    const after = writeUnknownBranchReference(this.out, at + 2, skip, hash)
    this.out[at] = UNKNOWN_BRANCH
    this.out[at + 1] = after - at - 2
    this.out[after] = skip.length
    this.out.set(skip, after + 1)
    this.out.set(hash, after + 1 + skip.length)
    return after + 1 + skip.length + NODE_HASH_BYTES
  }

  /** Returns how many of the skipped nibbles lead to the keys of the changes. */
  private sharedNibbles({ bytes, at, skipFrom }: BranchSource, from: number, to: number, depth: number): number {
    const skipped = bytes[at] - skipFrom
    // Among sorted keys, the first or the last has the shortest common prefix with the skipped nibbles.
    const [first, last] = [from * KEY_BYTES, (to - 1) * KEY_BYTES]
    let shared = 0
    for (; shared < skipped; shared++) {
      const nibble = bytes[at + 1 + skipFrom + shared]
      if (nibbleIn(this.keys, first, depth + shared) !== nibble || nibbleIn(this.keys, last, depth + shared) !== nibble)
        break
    }
    return shared
  }

  /** Writes the node after changes, possibly none, of a branch. */
  private mergeBranch(source: BranchSource, from: number, to: number, depth: number, at: number): number {
    const { bytes, page, skipFrom } = source
    const skipped = bytes[source.at] - skipFrom
    if (skipped > 0 && from < to) {
      const shared = this.sharedNibbles(source, from, to, depth)
      if (shared < skipped) return this.split(source, shared, from, to, depth, at)
    }
    if (page === NO_CONTENTS) return this.mergeUnknownBranch(source, from, to, depth, at)
    const heldAt = source.at + 1 + bytes[source.at]
    const held = (bytes[heldAt] << 8) | bytes[heldAt + 1]
    const bitmapAt = this.writeSkip(source, skipped, at)
    const branching = depth + skipped
    let end = bitmapAt + BITMAP_BYTES
    let bitmap = held
    let child = heldAt + BITMAP_BYTES
    let unchanged = child // children from here on are not copied yet
    let next = from
    for (let nibble = 0; next < to; nibble++) {
      const has = (held >> nibble) & 1
      const childEnd = has === 0 ? child : child + slotLength(bytes, child)
      const stop = this.endOfNibble(next, to, branching, nibble)
      if (stop > next) {
        end = this.copy(bytes, unchanged, child, end)
        const after = this.merge(bytes, has === 0 ? -1 : child, next, stop, branching + 1, end)
        bitmap = after > end ? bitmap | (1 << nibble) : bitmap & ~(1 << nibble)
        end = after
        unchanged = childEnd
        next = stop
      }
      child = childEnd
    }
    end = this.copy(bytes, unchanged, endOfBranch(source), end)
    this.writeBitmap(bitmapAt, bitmap)
    return this.finish(at, end, depth, page, from, to)
  }

  /** Writes the first `count` of the skipped nibbles that count; returns the offset of the bitmap. */
  private writeSkip({ bytes, at: branchAt, skipFrom }: BranchSource, count: number, at: number): number {
    const bitmapAt = at + BRANCH_HEAD + 1 + count
    this.reserve(bitmapAt + BITMAP_BYTES)
    this.out[at + BRANCH_HEAD] = count
    for (let i = 0; i < count; i++) this.out[at + BRANCH_HEAD + 1 + i] = bytes[branchAt + 1 + skipFrom + i]
    return bitmapAt
  }

  /** Writes the node after changes of a branch that is split after the first `shared` skipped nibbles. */
  private split(source: BranchSource, shared: number, from: number, to: number, depth: number, at: number): number {
    const { bytes, at: branchAt, page, skipFrom } = source
    const bitmapAt = this.writeSkip(source, shared, at)
    const below = depth + shared + 1
    const own = bytes[branchAt + 1 + skipFrom + shared]
    const rest = { bytes, at: branchAt, page, skipFrom: skipFrom + shared + 1 }
    let end = bitmapAt + BITMAP_BYTES
    let bitmap = 0
    for (let nibble = 0, next = from; nibble < 16; nibble++) {
      const stop = this.endOfNibble(next, to, depth + shared, nibble)
      let after = end
      if (nibble === own) after = this.mergeBranch(rest, next, stop, below, end)
      else if (stop > next) after = this.mergeLeaf(bytes, -1, next, stop, below, end)
      if (after > end) bitmap |= 1 << nibble
      end = after
      next = stop
    }
    this.writeBitmap(bitmapAt, bitmap)
    return this.finish(at, end, depth, 0, from, to)
  }

  /** Converts the branch written at `at` to a node that fits its number of children. */
  private finish(at: number, end: number, depth: number, page: number, from: number, to: number): number {
    const bitmapAt = at + BRANCH_HEAD + 1 + this.out[at + BRANCH_HEAD]
    const bitmap = (this.out[bitmapAt] << 8) | this.out[bitmapAt + 1]
    if ((bitmap & (bitmap - 1)) !== 0) return this.seal(at, end, depth, page)
    if (page !== 0) this.pages.free(page)
    return bitmap === 0 ? at : this.collapse(at, end, depth, 31 - Math.clz32(bitmap), from, to)
  }

  /** Replaces a branch with a single child by that child, prefixed with the branch's nibbles. */
  private collapse(at: number, end: number, depth: number, nibble: number, from: number, to: number): number {
    const skipped = this.out[at + BRANCH_HEAD]
    const child = at + BRANCH_HEAD + 1 + skipped + BITMAP_BYTES
    if (this.out[child] === LEAF) {
      this.out.copyWithin(at, child, end)
      return at + end - child
    }
    if (this.out[child] >= UNKNOWN) return this.collapseUnknown(at, child, depth, nibble, from, to)
    const page = this.out[child] === LINK ? pageAt(this.out, child) : 0
    const bytes = page === 0 ? this.out : this.pages.read(page)
    const branchAt = page === 0 ? child + 4 + this.out[child + 1] : 0
    const branchEnd = page === 0 ? end : bytes.length
    for (let i = 0; i < skipped; i++) this.path[i] = this.out[at + BRANCH_HEAD + 1 + i]
    this.path[skipped] = nibble
    for (let i = 0; i < bytes[branchAt]; i++) this.path[skipped + 1 + i] = bytes[branchAt + 1 + i]
    const length = skipped + 1 + bytes[branchAt]
    const bitmapAt = at + BRANCH_HEAD + 1 + length
    const rest = bytes.subarray(branchAt + 1 + bytes[branchAt], branchEnd)
    this.reserve(bitmapAt + rest.length)
    this.out.set(rest, bitmapAt)
    this.out[at + BRANCH_HEAD] = length
    for (let i = 0; i < length; i++) this.out[at + BRANCH_HEAD + 1 + i] = this.path[i]
    return this.seal(at, bitmapAt + rest.length, depth, page)
  }

  /** Like `collapse`, for an unknown child. */
  private collapseUnknown(at: number, child: number, depth: number, nibble: number, from: number, to: number): number {
    const skipped = this.out[at + BRANCH_HEAD]
    const path = this.pathTo(from, depth)
    for (let i = 0; i < skipped; i++) path[depth + i] = this.out[at + BRANCH_HEAD + 1 + i]
    const below = depth + skipped + 1
    path[below - 1] = nibble
    if (this.out[child] === UNKNOWN_BRANCH) {
      const skipAt = child + 2 + this.out[child + 1]
      const hashAt = skipAt + 1 + this.out[skipAt]
      path.set(this.out.subarray(skipAt + 1, hashAt), below)
      const hash = this.out.slice(hashAt, hashAt + NODE_HASH_BYTES)
      return this.writeUnknownBranch(path.subarray(depth, below + this.out[skipAt]), hash, at)
    }
    const hash = hashOfUnknown(this.out, child).slice()
    const { nodes, onMissing } = this.unknown
    const known = convertNode(hash, below, { nodes, valueRlp: this.valueRlp, path })
    if (known !== undefined) {
      const end = this.copy(known, 0, known.length, child)
      return this.collapse(at, end, depth, nibble, from, to)
    }
    if (!nodes.takeBranch(hash)) onMissing({ hash, from, to, isSibling: true, path: path.slice(0, below) })
    return this.writeUnknownBranch(path.subarray(depth, below), hash, at)
  }

  /** Converts the branch written at `at` to a node for its parent. */
  private seal(at: number, end: number, depth: number, page: number): number {
    const branchAt = at + BRANCH_HEAD
    this.place.bytes = this.out
    this.place.at = branchAt
    this.place.depth = depth
    const after = writeBranchReference(this.out, at + 2, this.place, this.valueRlp)
    this.out[at + 1] = after - at - 2
    const length = end - branchAt
    if (length <= INLINE_BYTES) {
      if (page !== 0) this.pages.free(page)
      this.out[at] = INLINE
      this.writeBitmap(after, length)
      if (after + 2 < branchAt) this.out.copyWithin(after + 2, branchAt, end)
      return after + 2 + length
    }
    const own = page === 0 ? this.pages.allocate() : page
    this.pages.write(own, this.out.slice(branchAt, end))
    this.out[at] = LINK
    writePageId(this.out, after, own)
    return after + PAGE_ID_BYTES
  }
}

/** Copies the bytes to a larger array. */
function grown(bytes: Uint8Array, least: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.max(least, 2 * bytes.length))
  larger.set(bytes)
  return larger
}

function endOfBranch({ bytes, at, page }: BranchSource): number {
  return page === 0 ? at + ((bytes[at - 2] << 8) | bytes[at - 1]) : bytes.length
}

function hashOfUnknown(bytes: Uint8Array, at: number): Uint8Array {
  return bytes.subarray(at + 3, at + 3 + NODE_HASH_BYTES)
}
