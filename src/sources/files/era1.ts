import { hash } from 'node:crypto'
import { keccak256 } from '../../chain/crypto.js'
import { decodeBody, type KnownSenders, transactionsRlp } from '../../chain/eth/block.js'
import { decodeHeader } from '../../chain/eth/header.js'
import { decodeReceipts } from '../../chain/eth/receipt.js'
import { DecodeError } from '../../chain/eth/rlp.js'
import { bytesToBigInt, equalBytes } from '../../lib/bytes.js'
import { formatData } from '../../lib/hex.js'
import { CorruptSnappy, decompressFrames } from '../../lib/snappy.js'
import { recoverAhead, SendersAhead } from '../senders/sendersAhead.js'
import { type BlockSource, type RawBlock, SourceError, type SourceRange } from '../source.js'
import { type FileBytes, openFileBytes } from './fileBytes.js'

/** `--kind` of era1 files. */
export const ERA1 = 'era1'

// Entry types of e2store and era1.
const VERSION = 0x3265
const COMPRESSED_HEADER = 0x03
const COMPRESSED_BODY = 0x04
const COMPRESSED_RECEIPTS = 0x05
const TOTAL_DIFFICULTY = 0x06
const ACCUMULATOR = 0x07
const BLOCK_INDEX = 0x3266

const ENTRY_HEADER_BYTES = 8 // type u16, length u32, reserved u16, little-endian
const MAX_BLOCKS = 8192 // per file
// Limit of an entry, both compressed and decompressed; blocks of all networks are far smaller.
const MAX_ENTRY_BYTES = 256 * 1024 * 1024
// A header has about 600 bytes plus its extra data. The limit is low because all headers of a file are in memory at
// once.
const MAX_HEADER_BYTES = 16 * 1024

/** True when the bytes start like an e2store file: with an empty version entry. */
export function recogniseEra1(head: Uint8Array): boolean {
  return head.length >= 8 && [0x65, 0x32, 0, 0, 0, 0, 0, 0].every((byte, at) => head[at] === byte)
}

/** Opens an era1 file, gzip or not: up to 8,192 pre-merge blocks with receipts and total difficulties. Reads the index
 *  on open. Before the first block, `blocks` reads all headers and verifies their links and the accumulator, so a file
 *  with wrong headers yields no block.
 *  @throws UsageError when it cannot be opened; SourceError when it is not era1 or its index is wrong. */
export function openEra1(path: string): BlockSource {
  const file = openFileBytes(path)
  try {
    const { offsets, firstNumber } = readIndex(path, file)
    return {
      kind: ERA1,
      path,
      totalBlocks: offsets.length,
      blocks: (range = {}) =>
        range.senderRecovery?.isActive
          ? readBlocksAhead(path, firstNumber, range)
          : readBlocks(path, firstNumber, range),
    }
  } finally {
    file.close()
  }
}

interface BlockIndex {
  firstNumber: number
  /** Offset of the first entry of each block. */
  offsets: number[]
  /** Offset of the index entry. */
  start: number
}

interface Entry {
  type: number
  start: number
  value: number
  end: number
}

/** Reads the entry at offset `start`.
 *  @throws SourceError when it is malformed or ends after `limit`. */
function readEntry(path: string, file: FileBytes, start: number, limit: number): Entry {
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

/** Reads the entry at offset `start`.
 *  @throws SourceError when it is malformed or its type is not `type`. */
function requireEntry(path: string, file: FileBytes, type: number, start: number, limit: number): Entry {
  const entry = readEntry(path, file, start, limit)
  if (entry.type === type) return entry
  const problem = `expected an entry of type 0x${type.toString(16)}, got 0x${entry.type.toString(16)}`
  throw new SourceError({ path, offset: start, problem })
}

// Entry types of the formats that begin as era1 does: era has beacon blocks and states, ere slim receipts and proofs.
const BEACON_ENTRIES = [0x01, 0x02]
const ERE_ENTRIES = [0x0a, 0x0b]

/** Names the formats that share e2store's version entry, since their entries and index differ. In ere all headers come
 *  first.
 *  @throws SourceError for era and ere */
function refuseOtherFormats(path: string, file: FileBytes): void {
  const types: number[] = []
  for (let at = ENTRY_HEADER_BYTES; types.length < 4 && at < file.size; ) {
    const { type, end } = readEntry(path, file, at, file.size)
    types.push(type)
    at = end
  }
  const refuse = (format: string) => {
    const problem = `an ${format}, not era1; import era1 files, or blocks in RLP as 'geth export' writes them`
    throw new SourceError({ path, offset: ENTRY_HEADER_BYTES, problem })
  }
  if (BEACON_ENTRIES.includes(types[0])) refuse('era file of the consensus layer')
  const hasHeadersInRow = types[0] === COMPRESSED_HEADER && types[1] === COMPRESSED_HEADER
  if (hasHeadersInRow || types.some((type) => ERE_ENTRIES.includes(type))) refuse('ere file (with slim receipts)')
}

/** Reads the index at the end of the file: first block number, offsets relative to the index entry, count. */
function readIndex(path: string, file: FileBytes): BlockIndex {
  const { size } = file
  const version = requireEntry(path, file, VERSION, 0, size)
  if (version.end !== version.value)
    throw new SourceError({ path, offset: 0, problem: 'expected an empty version entry' })
  if (size < 40) throw new SourceError({ path, offset: 8, problem: 'expected blocks, the file ends' })
  refuseOtherFormats(path, file)
  const count = Number(viewOf(file.read(size - 8, 8)).getBigUint64(0, true))
  if (count < 1 || count > MAX_BLOCKS || 24 + 8 * count > size) {
    throw new SourceError({
      path,
      offset: size - 8,
      problem: `expected a block count of 1 to ${MAX_BLOCKS}, got ${count}; the file may be cut off`,
    })
  }
  const start = size - (ENTRY_HEADER_BYTES + 16 + 8 * count)
  const entry = requireEntry(path, file, BLOCK_INDEX, start, size)
  if (entry.end !== size)
    throw new SourceError({ path, offset: start, problem: 'expected the block index at the end of the file' })
  const view = viewOf(file.read(entry.value, entry.end - entry.value))
  const firstNumber = Number(view.getBigUint64(0, true))
  if (!Number.isSafeInteger(firstNumber + count))
    throw new SourceError({ path, offset: entry.value, problem: `expected a block number, got ${firstNumber}` })
  const offsets = Array.from({ length: count }, (_, i) => start + Number(view.getBigInt64(8 + 8 * i, true)))
  return { firstNumber, offsets, start }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
}

/** The entries of a block, with the header decompressed. */
interface BlockEntries {
  headerRlp: Uint8Array
  hash: Uint8Array
  body: Entry
  receipts: Entry
  totalDifficulty: bigint
}

function* readBlocks(path: string, firstNumber: number, range: SourceRange): Generator<RawBlock> {
  for (const packed of readPacked(path, firstNumber, range)) yield decodePacked(path, packed)
}

async function* readBlocksAhead(path: string, firstNumber: number, range: SourceRange): AsyncGenerator<RawBlock> {
  const items = readPacked(path, firstNumber, range)
  const reader = {
    sizeOf: ({ body, receipts }: PackedBlock) => (body.bytes?.length ?? 0) + (receipts.bytes?.length ?? 0),
    transactionsOf: ({ body }: PackedBlock) => body.bytes && transactionsRlp(body.bytes, { isBody: true }),
  }
  for await (const { item, senders } of recoverAhead(items, reader, new SendersAhead(range.senderRecovery))) {
    yield decodePacked(path, item, senders)
  }
}

/** A block that is decompressed and not decoded. */
interface PackedBlock {
  readonly ordinal: number
  readonly entries: BlockEntries
  readonly body: Unpacked
  readonly receipts: Unpacked
}

/** Decompressed bytes, or the error of decompressing. */
type Unpacked =
  | { readonly bytes: Uint8Array; readonly error?: undefined }
  | { readonly bytes?: undefined; readonly error: unknown }

/** Decodes a block. @throws SourceError for one that cannot be decompressed or decoded */
function decodePacked(
  path: string,
  { ordinal, entries, body, receipts }: PackedBlock,
  senders?: KnownSenders,
): RawBlock {
  const { headerRlp, hash, totalDifficulty } = entries
  return decoding(path, entries.body.start, ordinal, () => ({
    block: decodeBody({ rlp: headerRlp, hash }, bytesOf(body), senders),
    receipts: decodeReceipts(bytesOf(receipts)),
    totalDifficulty,
  }))
}

function tryUnpack(file: FileBytes, entry: Entry): Unpacked {
  try {
    return { bytes: unpack(file, entry) }
  } catch (error) {
    return { error }
  }
}

function bytesOf({ bytes, error }: Unpacked): Uint8Array {
  if (bytes === undefined) throw error
  return bytes
}

function* readPacked(path: string, firstNumber: number, { from = 0, passedOver }: SourceRange): Generator<PackedBlock> {
  const file = openFileBytes(path)
  try {
    const index = readIndex(path, file)
    const { offsets } = index
    if (from >= firstNumber + offsets.length && !passedOver) return
    const blocks = readAllHeaders(path, file, index)
    const first = Math.max(0, from - firstNumber)
    for (const [ordinal, { hash }] of blocks.slice(0, first).entries()) {
      passedOver?.(firstNumber + ordinal, hash)
    }
    for (let ordinal = first; ordinal < blocks.length; ordinal++) {
      const entries = blocks[ordinal]
      const [body, receipts] = [entries.body, entries.receipts].map((entry) => tryUnpack(file, entry))
      yield { ordinal, entries, body, receipts }
    }
  } finally {
    file.close()
  }
}

function unpack(file: FileBytes, { value, end }: Entry, maxBytes = MAX_ENTRY_BYTES): Uint8Array {
  if (end - value > maxBytes)
    throw new CorruptSnappy(`expected an entry of at most ${maxBytes} bytes, got ${end - value}`)
  return decompressFrames(file.read(value, end - value), maxBytes)
}

/** Runs `decode`.
 *  @throws SourceError, with the position in the file, for a decoding error. */
function decoding<T>(path: string, offset: number, ordinal: number, decode: () => T): T {
  try {
    return decode()
  } catch (error) {
    if (!(error instanceof DecodeError) && !(error instanceof CorruptSnappy)) throw error
    throw new SourceError({ path, offset, ordinal, problem: error.message, cause: error })
  }
}

/** Reads the entries of all blocks.
 *  @throws SourceError when headers are not consecutive or do not match the index or the accumulator. */
function readAllHeaders(path: string, file: FileBytes, index: BlockIndex): BlockEntries[] {
  const { offsets, firstNumber, start: limit } = index
  const blocks: BlockEntries[] = []
  const records: Uint8Array[] = []
  let at = ENTRY_HEADER_BYTES // after the version entry
  let parentHash: Uint8Array | undefined
  for (let ordinal = 0; ordinal < offsets.length; ordinal++) {
    const fail = (problem: string) => new SourceError({ path, offset: at, ordinal, problem })
    if (offsets[ordinal] !== at) throw fail(`expected the block at byte ${at}, the index says ${offsets[ordinal]}`)
    const entry = requireEntry(path, file, COMPRESSED_HEADER, at, limit)
    const headerRlp = decoding(path, at, ordinal, () => unpack(file, entry, MAX_HEADER_BYTES))
    const header = decoding(path, at, ordinal, () => decodeHeader(headerRlp))
    const blockHash = keccak256(headerRlp)
    if (header.number !== firstNumber + ordinal)
      throw fail(`expected block ${firstNumber + ordinal}, got ${header.number}`)
    if (parentHash && !equalBytes(parentHash, header.parentHash)) {
      throw fail(
        `block ${header.number}: expected parent hash ${formatData(parentHash)}, got ${formatData(header.parentHash)}`,
      )
    }
    parentHash = blockHash
    const body = requireEntry(path, file, COMPRESSED_BODY, entry.end, limit)
    const receipts = requireEntry(path, file, COMPRESSED_RECEIPTS, body.end, limit)
    const total = requireEntry(path, file, TOTAL_DIFFICULTY, receipts.end, limit)
    if (total.end - total.value !== 32)
      throw fail(`expected a total difficulty of 32 bytes, got ${total.end - total.value}`)
    const littleEndian = file.read(total.value, 32).slice()
    records.push(sha256(blockHash, littleEndian))
    blocks.push({ headerRlp, hash: blockHash, body, receipts, totalDifficulty: bytesToBigInt(littleEndian.reverse()) })
    at = total.end
  }
  verifyAccumulator(path, file, at, limit, accumulatorRoot(records))
  return blocks
}

/** Compares the stored accumulator, which follows the blocks and entries of other types, with `computed`.
 *  @throws SourceError when they differ or it is missing. */
function verifyAccumulator(path: string, file: FileBytes, start: number, limit: number, computed: Uint8Array): void {
  let entry = readEntry(path, file, start, limit)
  while (entry.type !== ACCUMULATOR) entry = readEntry(path, file, entry.end, limit)
  if (entry.end - entry.value !== 32) {
    const problem = `expected an accumulator of 32 bytes, got ${entry.end - entry.value}`
    throw new SourceError({ path, offset: entry.start, problem })
  }
  const stored = file.read(entry.value, 32)
  if (equalBytes(stored, computed)) return
  const problem = `accumulator: expected ${formatData(computed)} of the blocks, the file has ${formatData(stored)}`
  throw new SourceError({ path, offset: entry.start, problem })
}

const TREE_DEPTH = 13 // 2^13 = 8192 leaves

/** hash_tree_root of List[HeaderRecord, 8192] from the roots of its records (consensus specification, SSZ,
 *  merkleization): root of a zero-padded tree, with the length mixed in. */
function accumulatorRoot(records: readonly Uint8Array[]): Uint8Array {
  let level = records
  let zero: Uint8Array = new Uint8Array(32)
  for (let depth = 0; depth < TREE_DEPTH; depth++) {
    const next: Uint8Array[] = []
    for (let i = 0; i < level.length; i += 2) next.push(sha256(level[i], level[i + 1] ?? zero))
    zero = sha256(zero, zero)
    level = next
  }
  const length = new Uint8Array(32)
  viewOf(length).setUint32(0, records.length, true)
  return sha256(level[0], length)
}

function sha256(left: Uint8Array, right: Uint8Array): Uint8Array {
  const both = new Uint8Array(64)
  both.set(left)
  both.set(right, 32)
  return hash('sha256', both, 'buffer')
}
