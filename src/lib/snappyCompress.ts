import { concatBytes } from './bytes.js'
import { crc32c } from './snappy.js'
import { writeInteger } from './varint.js'

const CHUNK_BYTES = 65_536 // of one frame before compression, section 4 of the framing format
const STREAM_IDENTIFIER = Uint8Array.from([0xff, 6, 0, 0, ...new TextEncoder().encode('sNaPpY')])
const COMPRESSED = 0x00
const UNCOMPRESSED = 0x01
const FRAME_HEADER_BYTES = 8 // type, length, checksum

/** Returns the bytes in snappy's framing format (framing_format.txt of snappy). A frame that compression makes less
 *  than an eighth smaller is stored as it is. The output is that of the encoder that geth uses. */
export function compressFrames(bytes: Uint8Array): Uint8Array {
  const parts: Uint8Array[] = [STREAM_IDENTIFIER]
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    const chunk = bytes.subarray(at, at + CHUNK_BYTES)
    const packed = compressBlock(chunk)
    const isSmaller = packed.length < chunk.length - Math.floor(chunk.length / 8)
    parts.push(frameHeader(isSmaller ? COMPRESSED : UNCOMPRESSED, chunk, isSmaller ? packed : chunk))
    parts.push(isSmaller ? packed : chunk)
  }
  return concatBytes(...parts)
}

function frameHeader(type: number, chunk: Uint8Array, payload: Uint8Array): Uint8Array {
  const head = new Uint8Array(FRAME_HEADER_BYTES)
  const view = new DataView(head.buffer)
  view.setUint32(0, type | ((payload.length + 4) << 8), true)
  const crc = crc32c(chunk)
  view.setUint32(4, ((crc >>> 15) | (crc << 17)) + 0xa282ead8, true) // masked, section 3
  return head
}

const MAX_TABLE_BITS = 14
const MIN_TABLE_BITS = 8
// The end of a block is a literal, so that four bytes can be read at each position that is looked up.
const END_MARGIN = 15
const MIN_BLOCK_BYTES = END_MARGIN + 2
const MAX_TAG_COPY = 64
const HASH_FACTOR = 0x1e35a7bd

/** Returns one raw snappy block (format_description.txt of snappy) of at most 65,536 bytes. Copies are found by a table
 *  of the last position of each hash of four bytes. */
function compressBlock(source: Uint8Array): Uint8Array {
  const length: number[] = []
  writeInteger(length, source.length)
  const out = new BlockOutput(Uint8Array.from(length), source)
  if (source.length < MIN_BLOCK_BYTES) out.literal(0, source.length)
  else copyMatches(source, out)
  return out.bytes()
}

function copyMatches(source: Uint8Array, out: BlockOutput): void {
  const view = new DataView(source.buffer, source.byteOffset, source.length)
  let bits = MIN_TABLE_BITS
  while (bits < MAX_TABLE_BITS && 1 << bits < source.length) bits++
  const table = new Uint16Array(1 << bits)
  const word = (at: number) => view.getUint32(at, true)
  const slotOf = (at: number) => Math.imul(word(at), HASH_FACTOR) >>> (32 - bits)
  const limit = source.length - END_MARGIN
  let emitted = 0
  let at = 1 // the first byte has nothing before it to copy
  for (;;) {
    const match = findMatch({ at, limit, table, word, slotOf })
    if (match === undefined) break
    out.literal(emitted, match.at)
    let { from } = match
    at = match.at
    for (;;) {
      const start = at
      at += 4
      for (let i = from + 4; at < source.length && source[i] === source[at]; i++) at++
      out.copy(start - from, at - start)
      emitted = at
      if (at >= limit) break
      table[slotOf(at - 1)] = at - 1
      const slot = slotOf(at)
      from = table[slot]
      table[slot] = at
      if (word(at) !== word(from)) break
    }
    if (at >= limit) break
    at++
  }
  if (emitted < source.length) out.literal(emitted, source.length)
}

interface Search {
  readonly at: number
  readonly limit: number
  readonly table: Uint16Array
  word(at: number): number
  slotOf(at: number): number
}

/** Returns the next position whose four bytes occurred before, and the earlier position. After each 32 positions
 *  without a match the step grows by one byte, so that incompressible data is passed quickly. */
function findMatch({ at: start, limit, table, word, slotOf }: Search): { at: number; from: number } | undefined {
  let at = start
  for (let skip = 32; ; ) {
    const step = skip >> 5
    skip += step
    if (at + step > limit) return undefined
    const slot = slotOf(at)
    const from = table[slot]
    table[slot] = at
    if (word(at) === word(from)) return { at, from }
    at += step
  }
}

/** The elements of a compressed block. */
class BlockOutput {
  private readonly source: Uint8Array
  private readonly out: Uint8Array
  private at: number

  constructor(head: Uint8Array, source: Uint8Array) {
    this.source = source
    this.out = new Uint8Array(32 + source.length + Math.ceil(source.length / 6)) // the bound of snappy's MaxCompressedLength
    this.out.set(head)
    this.at = head.length
  }

  bytes(): Uint8Array {
    return this.out.subarray(0, this.at)
  }

  /** Appends bytes [start, end) of the source as they are. */
  literal(start: number, end: number): void {
    const last = end - start - 1
    if (last < 60) this.put(last << 2)
    else if (last < 256) this.put(60 << 2, last)
    else this.put(61 << 2, last & 0xff, last >> 8)
    this.out.set(this.source.subarray(start, end), this.at)
    this.at += end - start
  }

  /** Appends a copy of `length` bytes from `offset` bytes before, in elements of at most 64 bytes. The last one has at
   *  least four, the least that the short form has. */
  copy(offset: number, length: number): void {
    let left = length
    for (; left >= MAX_TAG_COPY + 4; left -= MAX_TAG_COPY) this.longCopy(offset, MAX_TAG_COPY)
    if (left > MAX_TAG_COPY) {
      this.longCopy(offset, MAX_TAG_COPY - 4)
      left -= MAX_TAG_COPY - 4
    }
    if (left >= 12 || offset >= 2048) this.longCopy(offset, left)
    else this.put(((offset >> 8) << 5) | ((left - 4) << 2) | 1, offset & 0xff)
  }

  private longCopy(offset: number, length: number): void {
    this.put(((length - 1) << 2) | 2, offset & 0xff, offset >> 8)
  }

  private put(...bytes: number[]): void {
    for (const byte of bytes) this.out[this.at++] = byte
  }
}
