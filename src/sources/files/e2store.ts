import { keccak256 } from '../../chain/crypto.js'
import { decodeHeader } from '../../chain/eth/header.js'
import {
  BLOCK_INDEX,
  COMPRESSED_BODY,
  COMPRESSED_HEADER,
  COMPRESSED_RECEIPTS,
  COMPRESSED_SLIM_RECEIPTS,
  DYNAMIC_BLOCK_INDEX,
  ENTRY_HEADER_BYTES,
  VERSION,
} from '../../chain/eth/history/entryTypes.js'
import { DecodeError } from '../../chain/eth/rlp.js'
import type { Header } from '../../chain/eth/types.js'
import { equalBytes } from '../../lib/bytes.js'
import { formatData } from '../../lib/hex.js'
import { CorruptSnappy, decompressFrames } from '../../lib/snappy.js'
import { SourceError } from '../source.js'
import { type FileBytes, openFileBytes } from './fileBytes.js'

// Limit of an entry, both compressed and decompressed; blocks of all networks are far smaller.
const MAX_ENTRY_BYTES = 256 * 1024 * 1024
// Limit of a header. A header has about 600 bytes plus its extra data. The limit is low because all headers of a file
// are in memory at once.
const MAX_HEADER_BYTES = 16 * 1024

/** True when the bytes start like an e2store file: with an empty version entry. */
export function recogniseE2store(head: Uint8Array): boolean {
  return head.length >= 8 && [0x65, 0x32, 0, 0, 0, 0, 0, 0].every((byte, at) => head[at] === byte)
}

/** An entry of an e2store file: its type and byte offsets. */
export interface Entry {
  readonly type: number
  readonly start: number
  /** Of its value, [value, end). */
  readonly value: number
  readonly end: number
}

/** Reads the entry at offset `start`, without its value.
 *  @throws SourceError when it is malformed or ends after `limit`. */
export function readEntry(path: string, file: FileBytes, start: number, limit: number): Entry {
  if (start + ENTRY_HEADER_BYTES > limit)
    throw new SourceError({ path, offset: start, problem: 'expected an entry, the file ends' })
  const head = file.read(start, ENTRY_HEADER_BYTES)
  const type = head[0] | (head[1] << 8)
  const length = head[2] + head[3] * 2 ** 8 + head[4] * 2 ** 16 + head[5] * 2 ** 24
  if (head[6] !== 0 || head[7] !== 0)
    throw new SourceError({ path, offset: start, problem: 'the reserved bytes of an entry are not zero' })
  const value = start + ENTRY_HEADER_BYTES
  if (value + length > limit) {
    throw new SourceError({
      path,
      offset: start,
      problem: `expected ${length} bytes of an entry, got ${limit - value}`,
    })
  }
  return { type, start, value, end: value + length }
}

/** Reads the entry at offset `start`, without its value.
 *  @throws SourceError when it is malformed or its type is not `type`. */
export function requireEntry(path: string, file: FileBytes, type: number, start: number, limit: number): Entry {
  const entry = readEntry(path, file, start, limit)
  if (entry.type === type) return entry
  const problem = `expected an entry of type 0x${type.toString(16)}, got 0x${entry.type.toString(16)}`
  throw new SourceError({ path, offset: start, problem })
}

/** Returns the value of a compressed entry, decompressed. @throws CorruptSnappy, also above `maxBytes` */
export function unpackEntry(file: FileBytes, { value, end }: Entry, maxBytes = MAX_ENTRY_BYTES): Uint8Array {
  if (end - value > maxBytes)
    throw new CorruptSnappy(`expected an entry of at most ${maxBytes} bytes, got ${end - value}`)
  return decompressFrames(file.read(value, end - value), maxBytes)
}

/** Runs `decode`.
 *  @throws SourceError, with the position in the file, for a decoding error. */
export function decodingEntry<T>(place: { path: string; offset: number; ordinal: number }, decode: () => T): T {
  try {
    return decode()
  } catch (error) {
    if (!(error instanceof DecodeError) && !(error instanceof CorruptSnappy)) throw error
    throw new SourceError({ ...place, problem: error.message, cause: error })
  }
}

/** Reads the index entry at offset `start`: its value, as a view that is valid until the next read, which begins with
 *  the number of the first block.
 *  @throws SourceError when it is not of the type, is not the last entry, or the number is too large for `blockCount`
 *  blocks */
export function readBlockIndex(
  path: string,
  file: FileBytes,
  { type, start, blockCount }: { type: number; start: number; blockCount: number },
): { view: DataView; firstNumber: number } {
  const { value, end } = requireEntry(path, file, type, start, file.size)
  if (end !== file.size)
    throw new SourceError({ path, offset: start, problem: 'expected the block index at the end of the file' })
  const view = viewOf(file.read(value, end - value))
  const firstNumber = Number(view.getBigUint64(0, true))
  if (!Number.isSafeInteger(firstNumber + blockCount))
    throw new SourceError({ path, offset: value, problem: `expected a block number, got ${firstNumber}` })
  return { view, firstNumber }
}

/** A header of a file, and its hash, 32 bytes. */
export interface FileHeader {
  readonly rlp: Uint8Array
  readonly header: Header
  readonly hash: Uint8Array
}

/** Reads the header of block `number` from its entry. @throws SourceError when it cannot be decoded, has another
 *  number, or its parent hash is not that of `parent` */
export function readLinkedHeader(
  file: FileBytes,
  entry: Entry,
  { path, ordinal, number, parent }: { path: string; ordinal: number; number: number; parent: FileHeader | undefined },
): FileHeader {
  const place = { path, offset: entry.start, ordinal }
  const rlp = decodingEntry(place, () => unpackEntry(file, entry, MAX_HEADER_BYTES))
  const header = decodingEntry(place, () => decodeHeader(rlp))
  if (header.number !== number)
    throw new SourceError({ ...place, problem: `expected block ${number}, got ${header.number}` })
  if (parent && !equalBytes(parent.hash, header.parentHash)) {
    const [expected, actual] = [parent.hash, header.parentHash].map(formatData)
    throw new SourceError({ ...place, problem: `block ${number}: expected parent hash ${expected}, got ${actual}` })
  }
  return { rlp, header, hash: keccak256(rlp) }
}

/** Compares a stored accumulator with that of the blocks, 32 bytes. @throws SourceError when they differ */
export function requireAccumulator(
  place: { path: string; offset: number },
  stored: Uint8Array,
  computed: Uint8Array,
): void {
  if (equalBytes(stored, computed)) return
  const problem = `accumulator: expected ${formatData(computed)} of the blocks, the file has ${formatData(stored)}`
  throw new SourceError({ ...place, problem })
}

/** Returns a view of the bytes for integers. */
export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
}

/** The e2store formats by their usual file ending. */
export type E2storeFormat = 'era1' | 'ere' | 'era' | 'e2hs' | 'e2ss'

const NAMES: { readonly [format in E2storeFormat]: string } = {
  era1: 'an era1 file',
  ere: 'an ere file (with slim receipts)',
  era: 'an era file of the consensus layer',
  e2hs: 'an e2hs file of the Portal Network (with proofs in its headers)',
  e2ss: 'an e2ss file of the Portal Network (a state)',
}

const READABLE = "import era1 or ere files, or blocks in RLP as 'geth export' writes them"

/** Returns the format of an e2store file that can be read, from its entries: all formats share the first one.
 *  @throws UsageError when it cannot be opened; SourceError that names a format that cannot be read, or for a file that
 *  is none of them */
export function recogniseE2storeFormat(path: string): 'era1' | 'ere' {
  const file = openFileBytes(path)
  try {
    const format = formatOf(path, file)
    if (format === 'era1' || format === 'ere') return format
    const problem = `${NAMES[format]}, without blocks that can be read; ${READABLE}`
    throw new SourceError({ path, offset: ENTRY_HEADER_BYTES, problem })
  } finally {
    file.close()
  }
}

// Version entry, header of the index entry, and three numbers of 8 bytes: the index of era1 has one block.
const MIN_FILE_BYTES = 40

/** Checks that a file begins with an empty version entry, is not too short for an index, and is of the format. @throws
 *  SourceError, which names another format */
export function requireE2storeFormat(path: string, file: FileBytes, wanted: 'era1' | 'ere'): void {
  const version = requireEntry(path, file, VERSION, 0, file.size)
  if (version.end !== version.value)
    throw new SourceError({ path, offset: 0, problem: 'expected an empty version entry' })
  if (file.size < MIN_FILE_BYTES)
    throw new SourceError({ path, offset: ENTRY_HEADER_BYTES, problem: 'expected blocks, the file ends' })
  const format = formatOf(path, file)
  if (format === wanted) return
  const problem = `${NAMES[format]}, not ${wanted}; ${READABLE}`
  throw new SourceError({ path, offset: ENTRY_HEADER_BYTES, problem })
}

// Entry types that only one format has.
const BEACON_BLOCK = 0x01
const BEACON_STATE = 0x02
const ACCOUNT = 0x08
const STORAGE = 0x09
const HEADER_WITH_PROOF = 0x0103
const SLOT_INDEX = 0x3269

// The first entries decide: era1 has the parts of a block together, ere all headers first.
const LOOKED_AT = 4

function formatOf(path: string, file: FileBytes): E2storeFormat {
  requireEntry(path, file, VERSION, 0, file.size)
  const types: number[] = []
  for (let at = ENTRY_HEADER_BYTES; types.length < LOOKED_AT && at < file.size; ) {
    const { type, end } = readEntry(path, file, at, file.size)
    types.push(type)
    at = end
  }
  const has = (...any: number[]) => any.some((type) => types.includes(type))
  if (has(BEACON_BLOCK, BEACON_STATE, SLOT_INDEX)) return 'era'
  if (has(HEADER_WITH_PROOF)) return 'e2hs'
  if (has(ACCOUNT, STORAGE)) return 'e2ss'
  if (has(COMPRESSED_SLIM_RECEIPTS, DYNAMIC_BLOCK_INDEX)) return 'ere'
  if (has(COMPRESSED_RECEIPTS, BLOCK_INDEX)) return 'era1'
  const [first, second, third] = types
  if (first === COMPRESSED_HEADER && second === COMPRESSED_HEADER) return 'ere'
  if (first === COMPRESSED_HEADER && second === COMPRESSED_BODY && third !== undefined) return 'ere' // one block
  throw new SourceError({
    path,
    offset: ENTRY_HEADER_BYTES,
    problem: `expected entries of a known e2store format (era1, ere, era, e2hs, e2ss), got types ${
      types.map((type) => `0x${type.toString(16)}`).join(', ') || 'none'
    }`,
  })
}
