import { type Cursor, readInteger, writeInteger } from '../../lib/varint.js'

/* The difference between two contents of a trie page is a list of splices: how many bytes of the old content to copy,
 * how many to leave out, how many to insert, and those bytes. What is left of the old content is copied. */

// Equal bytes between two differences that are worth a splice of their own.
const WORTHWHILE = 4

/** Returns the patch that turns one content of a page into another: empty where they are equal, undefined where it is
 *  not smaller than the new content. */
export function diffPage(before: Uint8Array, after: Uint8Array): Uint8Array | undefined {
  const patch: number[] = []
  if (before.length === after.length) diffInPlace(patch, before, after)
  else diffEnds(patch, before, after)
  return patch.length < after.length ? Uint8Array.from(patch) : undefined
}

/** Applies a patch of `diffPage`. @throws RangeError for bytes that are none */
export function patchPage(before: Uint8Array, patch: Uint8Array): Uint8Array {
  const after = new Uint8Array(patchedLength(before.length, patch))
  let [from, to] = [0, 0]
  for (const cursor: Cursor = { bytes: patch, at: 0 }; cursor.at < patch.length; ) {
    const copied = readInteger(cursor)
    const removed = readInteger(cursor)
    const inserted = readBytes(cursor, readInteger(cursor))
    after.set(before.subarray(from, from + copied), to)
    after.set(inserted, to + copied)
    from += copied + removed
    to += copied + inserted.length
  }
  after.set(before.subarray(from), to)
  return after
}

/** Returns the length of the new content, and checks that the splices are within the old one. */
function patchedLength(before: number, patch: Uint8Array): number {
  let [from, length] = [0, before]
  for (const cursor: Cursor = { bytes: patch, at: 0 }; cursor.at < patch.length; ) {
    const copied = readInteger(cursor)
    const removed = readInteger(cursor)
    from += copied + removed
    length += readBytes(cursor, readInteger(cursor)).length - removed
    if (from > before) throw new RangeError(`a patch of a trie page of ${before} bytes reads ${from}`)
  }
  return length
}

function readBytes(cursor: Cursor, length: number): Uint8Array {
  const from = cursor.at
  cursor.at += length
  if (cursor.at > cursor.bytes.length) throw new RangeError('a patch of a trie page ends within its bytes')
  return cursor.bytes.subarray(from, cursor.at)
}

/** Writes a splice for each run of bytes that differ, between contents of one length. */
function diffInPlace(patch: number[], before: Uint8Array, after: Uint8Array): void {
  const { length } = after
  let copiedFrom = 0
  for (let at = 0; at < length && patch.length < length; ) {
    if (before[at] === after[at]) {
      at++
      continue
    }
    let end = at + 1
    for (let equal = 0, next = end; next < length && equal < WORTHWHILE; next++) {
      equal = before[next] === after[next] ? equal + 1 : 0
      if (equal === 0) end = next + 1
    }
    writeSplice(patch, at - copiedFrom, end - at, after.subarray(at, end))
    copiedFrom = end
    at = end
  }
}

/** Writes one splice, between the common begin and the common end. */
function diffEnds(patch: number[], before: Uint8Array, after: Uint8Array): void {
  const shorter = Math.min(before.length, after.length)
  let begin = 0
  while (begin < shorter && before[begin] === after[begin]) begin++
  let end = 0
  while (end < shorter - begin && before[before.length - 1 - end] === after[after.length - 1 - end]) end++
  writeSplice(patch, begin, before.length - end - begin, after.subarray(begin, after.length - end))
}

function writeSplice(patch: number[], copied: number, removed: number, inserted: Uint8Array): void {
  writeInteger(patch, copied)
  writeInteger(patch, removed)
  writeInteger(patch, inserted.length)
  for (const byte of inserted) patch.push(byte)
}
