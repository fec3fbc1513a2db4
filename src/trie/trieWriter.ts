import { EMPTY_BYTES } from '../lib/bytes.js'
import {
  compareTrieKeys,
  INLINE,
  KEY_BYTES,
  LEAF,
  LEAF_HEAD,
  LINK,
  MAX_REFERENCE,
  nibbleIn,
  PAGE_ID_BYTES,
  pageAt,
  slotLength,
  type TrieNodeRef,
  valueLength,
  writePageId,
} from './nodeFormat.js'
import { type NodePlace, type ValueRlp, writeBranchReference } from './nodeHashing.js'
import type { ByteRange, SortedChanges } from './trieChanges.js'

/** Storage of trie pages. Bytes passed in or out are immutable. */
export interface TriePages {
  read(page: number): Uint8Array
  write(page: number, branch: Uint8Array): void
  /** An unused page id, from 1 on. */
  allocate(): number
  free(page: number): void
}

/** Applies changes [from, to), at least one, to a trie, and returns the new one; undefined is an empty one. Replaces
 *  the pages of the old one. A change must not apply changes with the same writer. */
export type TrieWriter = (
  top: TrieNodeRef | undefined,
  changes: SortedChanges,
  range: { from: number; to: number },
) => TrieNodeRef | undefined

// Keeps the largest page, 16 such children, within an SQLite page.
const INLINE_BYTES = 240
// Before a branch inside its parent: kind, length of the reference, reference, length. A link is shorter than that and
// a branch.
const BRANCH_HEAD = 2 + MAX_REFERENCE + 2
const BITMAP_BYTES = 2
const MOST_NIBBLES = 2 * KEY_BYTES
const FIRST_ROOM = 2 ** 14
const NO_CHANGES: SortedChanges = { keys: EMPTY_BYTES, change: () => {} }

/** A branch to be changed. */
interface BranchSource {
  bytes: Uint8Array
  at: number
  /** The page that contains it; 0: none. */
  page: number
  /** Its skipped nibbles count from this one on; earlier ones belong to a branch above it. */
  skipFrom: number
}

/** Writes nodes in their stored form to one growing array, `out`: each after its siblings and inside its parent. Copies
 *  unchanged parts; decodes and encodes nothing twice. Functions that write a node take its start and depth and return
 *  its end, which is the start if it is empty. They pass numbers, because objects would mean several allocations per
 *  node. */
export function createTrieWriter(pages: TriePages, valueRlp: ValueRlp): TrieWriter {
  let out = new Uint8Array(FIRST_ROOM)
  let changes = NO_CHANGES
  let { keys } = changes
  const value: ByteRange = { bytes: EMPTY_BYTES, from: 0, to: 0 }
  // Leaves of a new branch before their positions in it are known: the end of each is the start of the next.
  let leaves = new Uint8Array(FIRST_ROOM)
  let leafStarts: number[] = []
  const path = new Uint8Array(MOST_NIBBLES)
  const place: NodePlace = { bytes: out, at: 0, depth: 0 }

  const reserve = (end: number) => {
    if (end > out.length) out = grown(out, end)
  }
  const copy = (bytes: Uint8Array, from: number, to: number, at: number): number => {
    const end = at + to - from
    reserve(end)
    if (to - from < 64) for (let i = from, o = at; i < to; i++, o++) out[o] = bytes[i]
    else out.set(bytes.subarray(from, to), at)
    return end
  }
  const writeBitmap = (at: number, bitmap: number) => {
    out[at] = bitmap >> 8
    out[at + 1] = bitmap
  }
  const endOfNibble = (from: number, to: number, depth: number, nibble: number): number => {
    let end = from
    while (end < to && nibbleIn(keys, end * KEY_BYTES, depth) === nibble) end++
    return end
  }

  /** Writes the leaf after a change. `leafAt` is the start of the old leaf; -1: none. */
  const writeLeaf = (index: number, bytes: Uint8Array, leafAt: number, at: number): number => {
    value.bytes = bytes
    value.from = leafAt < 0 ? 0 : leafAt + LEAF_HEAD
    value.to = leafAt < 0 ? 0 : value.from + valueLength(bytes, leafAt)
    changes.change(index, value)
    const length = value.to - value.from
    if (length === 0) return at
    reserve(at + LEAF_HEAD + length)
    out[at] = LEAF
    for (let i = 0, from = index * KEY_BYTES; i < KEY_BYTES; i++) out[at + 1 + i] = keys[from + i]
    out[at + 1 + KEY_BYTES] = length >> 8
    out[at + 2 + KEY_BYTES] = length
    return copy(value.bytes, value.from, value.to, at + LEAF_HEAD)
  }

  /** Writes the node after changes of a trie with at most one leaf. */
  const mergeLeaf = (
    bytes: Uint8Array,
    leafAt: number,
    from: number,
    to: number,
    depth: number,
    at: number,
  ): number => {
    if (to - from === 1 && (leafAt < 0 || compareTrieKeys(bytes, leafAt + 1, keys, from * KEY_BYTES) === 0)) {
      return writeLeaf(from, bytes, leafAt, at)
    }
    const starts: number[] = []
    let end = at
    let isAhead = leafAt >= 0
    for (let i = from; i < to; i++) {
      const order = isAhead ? compareTrieKeys(bytes, leafAt + 1, keys, i * KEY_BYTES) : 1
      if (order < 0) {
        starts.push(end - at)
        end = copy(bytes, leafAt, leafAt + slotLength(bytes, leafAt), end)
      }
      if (order <= 0) isAhead = false
      const next = writeLeaf(i, bytes, order === 0 ? leafAt : -1, end)
      if (next > end) starts.push(end - at)
      end = next
    }
    if (isAhead) {
      starts.push(end - at)
      end = copy(bytes, leafAt, leafAt + slotLength(bytes, leafAt), end)
    }
    if (starts.length < 2) return end
    if (end - at > leaves.length) leaves = grown(leaves, end - at)
    leaves.set(out.subarray(at, end))
    leafStarts = starts
    starts.push(end - at)
    return build(0, starts.length - 1, depth, at)
  }

  /** Writes the node over `leaves` [from, to). */
  const build = (from: number, to: number, depth: number, at: number): number => {
    if (to - from === 1) return copy(leaves, leafStarts[from], leafStarts[to], at)
    const [first, last] = [leafStarts[from] + 1, leafStarts[to - 1] + 1]
    let branching = depth
    while (nibbleIn(leaves, first, branching) === nibbleIn(leaves, last, branching)) branching++
    const skipped = branching - depth
    const bitmapAt = at + BRANCH_HEAD + 1 + skipped
    let end = bitmapAt + BITMAP_BYTES
    reserve(end)
    out[at + BRANCH_HEAD] = skipped
    for (let i = 0; i < skipped; i++) out[at + BRANCH_HEAD + 1 + i] = nibbleIn(leaves, first, depth + i)
    let bitmap = 0
    for (let start = from; start < to; ) {
      const nibble = nibbleIn(leaves, leafStarts[start] + 1, branching)
      let stop = start + 1
      while (stop < to && nibbleIn(leaves, leafStarts[stop] + 1, branching) === nibble) stop++
      end = build(start, stop, branching + 1, end)
      bitmap |= 1 << nibble
      start = stop
    }
    writeBitmap(bitmapAt, bitmap)
    return seal(at, end, depth, 0)
  }

  /** Writes the node after changes of the one at `nodeAt`; -1: none. */
  const merge = (bytes: Uint8Array, nodeAt: number, from: number, to: number, depth: number, at: number): number => {
    if (nodeAt < 0 || bytes[nodeAt] === LEAF) return mergeLeaf(bytes, nodeAt, from, to, depth, at)
    if (bytes[nodeAt] === INLINE) {
      return mergeBranch({ bytes, at: nodeAt + 4 + bytes[nodeAt + 1], page: 0, skipFrom: 0 }, from, to, depth, at)
    }
    const page = pageAt(bytes, nodeAt)
    return mergeBranch({ bytes: pages.read(page), at: 0, page, skipFrom: 0 }, from, to, depth, at)
  }

  /** Returns how many of the skipped nibbles lead to the keys of the changes. */
  const sharedNibbles = ({ bytes, at, skipFrom }: BranchSource, from: number, to: number, depth: number): number => {
    const skipped = bytes[at] - skipFrom
    // Among sorted keys, the first or the last has the shortest common prefix with the skipped nibbles.
    const [first, last] = [from * KEY_BYTES, (to - 1) * KEY_BYTES]
    let shared = 0
    for (; shared < skipped; shared++) {
      const nibble = bytes[at + 1 + skipFrom + shared]
      if (nibbleIn(keys, first, depth + shared) !== nibble || nibbleIn(keys, last, depth + shared) !== nibble) break
    }
    return shared
  }

  /** Writes the node after changes, possibly none, of a branch. */
  const mergeBranch = (source: BranchSource, from: number, to: number, depth: number, at: number): number => {
    const { bytes, page, skipFrom } = source
    const skipped = bytes[source.at] - skipFrom
    if (skipped > 0 && from < to) {
      const shared = sharedNibbles(source, from, to, depth)
      if (shared < skipped) return split(source, shared, from, to, depth, at)
    }
    const heldAt = source.at + 1 + bytes[source.at]
    const held = (bytes[heldAt] << 8) | bytes[heldAt + 1]
    const bitmapAt = writeSkip(source, skipped, at)
    const branching = depth + skipped
    let end = bitmapAt + BITMAP_BYTES
    let bitmap = held
    let child = heldAt + BITMAP_BYTES
    let unchanged = child // children from here on are not copied yet
    let next = from
    for (let nibble = 0; next < to; nibble++) {
      const has = (held >> nibble) & 1
      const childEnd = has === 0 ? child : child + slotLength(bytes, child)
      const stop = endOfNibble(next, to, branching, nibble)
      if (stop > next) {
        end = copy(bytes, unchanged, child, end)
        const after = merge(bytes, has === 0 ? -1 : child, next, stop, branching + 1, end)
        bitmap = after > end ? bitmap | (1 << nibble) : bitmap & ~(1 << nibble)
        end = after
        unchanged = childEnd
        next = stop
      }
      child = childEnd
    }
    end = copy(bytes, unchanged, endOfBranch(source), end)
    writeBitmap(bitmapAt, bitmap)
    return finish(at, end, depth, page)
  }

  /** Writes the first `count` of the skipped nibbles that count; returns the offset of the bitmap. */
  const writeSkip = ({ bytes, at: branchAt, skipFrom }: BranchSource, count: number, at: number): number => {
    const bitmapAt = at + BRANCH_HEAD + 1 + count
    reserve(bitmapAt + BITMAP_BYTES)
    out[at + BRANCH_HEAD] = count
    for (let i = 0; i < count; i++) out[at + BRANCH_HEAD + 1 + i] = bytes[branchAt + 1 + skipFrom + i]
    return bitmapAt
  }

  /** Writes the node after changes of a branch that is split after the first `shared` skipped nibbles. */
  const split = (source: BranchSource, shared: number, from: number, to: number, depth: number, at: number): number => {
    const { bytes, at: branchAt, page, skipFrom } = source
    const bitmapAt = writeSkip(source, shared, at)
    const below = depth + shared + 1
    const own = bytes[branchAt + 1 + skipFrom + shared]
    const rest = { bytes, at: branchAt, page, skipFrom: skipFrom + shared + 1 }
    let end = bitmapAt + BITMAP_BYTES
    let bitmap = 0
    for (let nibble = 0, next = from; nibble < 16; nibble++) {
      const stop = endOfNibble(next, to, depth + shared, nibble)
      let after = end
      if (nibble === own) after = mergeBranch(rest, next, stop, below, end)
      else if (stop > next) after = mergeLeaf(bytes, -1, next, stop, below, end)
      if (after > end) bitmap |= 1 << nibble
      end = after
      next = stop
    }
    writeBitmap(bitmapAt, bitmap)
    return finish(at, end, depth, 0)
  }

  /** Converts the branch written at `at` to a node that fits its number of children. */
  const finish = (at: number, end: number, depth: number, page: number): number => {
    const bitmapAt = at + BRANCH_HEAD + 1 + out[at + BRANCH_HEAD]
    const bitmap = (out[bitmapAt] << 8) | out[bitmapAt + 1]
    if ((bitmap & (bitmap - 1)) !== 0) return seal(at, end, depth, page)
    if (page !== 0) pages.free(page)
    return bitmap === 0 ? at : collapse(at, end, depth, 31 - Math.clz32(bitmap))
  }

  /** Replaces a branch with a single child by that child, prefixed with the branch's nibbles. */
  const collapse = (at: number, end: number, depth: number, nibble: number): number => {
    const skipped = out[at + BRANCH_HEAD]
    const child = at + BRANCH_HEAD + 1 + skipped + BITMAP_BYTES
    if (out[child] === LEAF) {
      out.copyWithin(at, child, end)
      return at + end - child
    }
    const page = out[child] === LINK ? pageAt(out, child) : 0
    const bytes = page === 0 ? out : pages.read(page)
    const branchAt = page === 0 ? child + 4 + out[child + 1] : 0
    const branchEnd = page === 0 ? end : bytes.length
    for (let i = 0; i < skipped; i++) path[i] = out[at + BRANCH_HEAD + 1 + i]
    path[skipped] = nibble
    for (let i = 0; i < bytes[branchAt]; i++) path[skipped + 1 + i] = bytes[branchAt + 1 + i]
    const length = skipped + 1 + bytes[branchAt]
    const bitmapAt = at + BRANCH_HEAD + 1 + length
    const rest = bytes.subarray(branchAt + 1 + bytes[branchAt], branchEnd)
    reserve(bitmapAt + rest.length)
    out.set(rest, bitmapAt)
    out[at + BRANCH_HEAD] = length
    for (let i = 0; i < length; i++) out[at + BRANCH_HEAD + 1 + i] = path[i]
    return seal(at, bitmapAt + rest.length, depth, page)
  }

  /** Converts the branch written at `at` to a node for its parent. */
  const seal = (at: number, end: number, depth: number, page: number): number => {
    const branchAt = at + BRANCH_HEAD
    place.bytes = out
    place.at = branchAt
    place.depth = depth
    const after = writeBranchReference(out, at + 2, place, valueRlp)
    out[at + 1] = after - at - 2
    const length = end - branchAt
    if (length <= INLINE_BYTES) {
      if (page !== 0) pages.free(page)
      out[at] = INLINE
      writeBitmap(after, length)
      if (after + 2 < branchAt) out.copyWithin(after + 2, branchAt, end)
      return after + 2 + length
    }
    const own = page === 0 ? pages.allocate() : page
    pages.write(own, out.slice(branchAt, end))
    out[at] = LINK
    writePageId(out, after, own)
    return after + PAGE_ID_BYTES
  }
  return (top, given, { from, to }) => {
    changes = given
    keys = given.keys
    const end = merge(top ?? EMPTY_BYTES, top === undefined ? -1 : 0, from, to, 0, 0)
    changes = NO_CHANGES
    keys = changes.keys
    return end === 0 ? undefined : out.slice(0, end)
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
