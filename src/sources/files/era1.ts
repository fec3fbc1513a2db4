import { decodeBody, type KnownSenders, transactionsRlp } from '../../chain/eth/block.js'
import { accumulatorRoot, headerRecordRoot } from '../../chain/eth/history/accumulator.js'
import {
  ACCUMULATOR,
  BLOCK_INDEX,
  COMPRESSED_BODY,
  COMPRESSED_HEADER,
  COMPRESSED_RECEIPTS,
  ENTRY_HEADER_BYTES,
  MAX_FILE_BLOCKS,
  TOTAL_DIFFICULTY,
} from '../../chain/eth/history/entryTypes.js'
import { decodeReceipts } from '../../chain/eth/receipt.js'
import { bytesToBigInt } from '../../lib/bytes.js'
import { decodeItems } from '../senders/sendersAhead.js'
import { type BlockSource, type RawBlock, SourceError, type SourceRange } from '../source.js'
import {
  decodingEntry,
  type Entry,
  type FileHeader,
  readBlockIndex,
  readEntry,
  readLinkedHeader,
  requireAccumulator,
  requireE2storeFormat,
  requireEntry,
  unpackEntry,
  viewOf,
} from './e2store.js'
import { type FileBytes, openFileBytes } from './fileBytes.js'

/** `--kind` of era1 files. */
export const ERA1 = 'era1'

/** Opens an era1 file, gzip or not: up to 8,192 pre-merge blocks with receipts and total difficulties. Reads the index
 *  on open. Before the first block, `blocks` reads all headers and verifies their links and the accumulator, so a file
 *  with wrong headers yields no block.
 *  @throws UsageError when it cannot be opened; SourceError when it is not era1 or its index is wrong. */
export function openEra1(path: string): BlockSource {
  const file = openFileBytes(path)
  try {
    const { offsets, firstNumber } = readIndex(path, file)
    const open = () => (file.isInMemory ? file : openFileBytes(path))
    return {
      kind: ERA1,
      path,
      totalBlocks: offsets.length,
      blocks: (range = {}) =>
        decodeItems(readPacked(path, open, { ...range, firstNumber }), READER, range.senderRecovery),
    }
  } finally {
    file.close() // one in memory can be read still
  }
}

interface BlockIndex {
  firstNumber: number
  /** Offset of the first entry of each block. */
  offsets: number[]
  /** Offset of the index entry. */
  start: number
}

/** Reads the index at the end of the file: first block number, offsets relative to the index entry, count. */
function readIndex(path: string, file: FileBytes): BlockIndex {
  const { size } = file
  requireE2storeFormat(path, file, ERA1)
  const count = Number(viewOf(file.read(size - 8, 8)).getBigUint64(0, true))
  if (count < 1 || count > MAX_FILE_BLOCKS || 24 + 8 * count > size) {
    throw new SourceError({
      path,
      offset: size - 8,
      problem: `expected a block count of 1 to ${MAX_FILE_BLOCKS}, got ${count}; the file may be cut off`,
    })
  }
  const start = size - (ENTRY_HEADER_BYTES + 16 + 8 * count)
  const { view, firstNumber } = readBlockIndex(path, file, { type: BLOCK_INDEX, start, blockCount: count })
  const offsets = Array.from({ length: count }, (_, i) => start + Number(view.getBigInt64(8 + 8 * i, true)))
  return { firstNumber, offsets, start }
}

/** The entries of a block, with the header decompressed. */
interface BlockEntries {
  headerRlp: Uint8Array
  hash: Uint8Array
  body: Entry
  receipts: Entry
  totalDifficulty: bigint
}

/** A block that is decompressed and not decoded. */
interface PackedBlock {
  readonly path: string
  readonly ordinal: number
  readonly entries: BlockEntries
  readonly body: Unpacked
  readonly receipts: Unpacked
}

/** Decompressed bytes, or the error of decompressing. */
type Unpacked =
  | { readonly bytes: Uint8Array; readonly error?: undefined }
  | { readonly bytes?: undefined; readonly error: unknown }

const READER = {
  sizeOf: ({ body, receipts }: PackedBlock) => (body.bytes?.length ?? 0) + (receipts.bytes?.length ?? 0),
  transactionsOf: ({ body }: PackedBlock) => body.bytes && transactionsRlp(body.bytes, { isBody: true }),
  decode: decodePacked,
}

/** Decodes a block. @throws SourceError for one that cannot be decompressed or decoded */
function decodePacked({ path, ordinal, entries, body, receipts }: PackedBlock, senders?: KnownSenders): RawBlock {
  const { headerRlp, hash, totalDifficulty } = entries
  return decodingEntry({ path, offset: entries.body.start, ordinal }, () => ({
    block: decodeBody({ rlp: headerRlp, hash }, bytesOf(body), senders),
    receipts: decodeReceipts(bytesOf(receipts)),
    totalDifficulty,
  }))
}

function tryUnpack(file: FileBytes, entry: Entry): Unpacked {
  try {
    return { bytes: unpackEntry(file, entry) }
  } catch (error) {
    return { error }
  }
}

function bytesOf({ bytes, error }: Unpacked): Uint8Array {
  if (bytes === undefined) throw error
  return bytes
}

function* readPacked(
  path: string,
  open: () => FileBytes,
  { firstNumber, from = 0, passedOver }: SourceRange & { firstNumber: number },
): Generator<PackedBlock> {
  const file = open()
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
      yield { path, ordinal, entries, body, receipts }
    }
  } finally {
    file.close()
  }
}

/** Reads the entries of all blocks.
 *  @throws SourceError when headers are not consecutive or do not match the index or the accumulator. */
function readAllHeaders(path: string, file: FileBytes, index: BlockIndex): BlockEntries[] {
  const { offsets, firstNumber, start: limit } = index
  const blocks: BlockEntries[] = []
  const records: Uint8Array[] = []
  let at = ENTRY_HEADER_BYTES // after the version entry
  let parent: FileHeader | undefined
  for (let ordinal = 0; ordinal < offsets.length; ordinal++) {
    const fail = (problem: string) => new SourceError({ path, offset: at, ordinal, problem })
    if (offsets[ordinal] !== at) throw fail(`expected the block at byte ${at}, the index says ${offsets[ordinal]}`)
    const entry = requireEntry(path, file, COMPRESSED_HEADER, at, limit)
    const read: FileHeader = readLinkedHeader(file, entry, { path, ordinal, number: firstNumber + ordinal, parent })
    const { rlp: headerRlp, hash } = read
    parent = read
    const body = requireEntry(path, file, COMPRESSED_BODY, entry.end, limit)
    const receipts = requireEntry(path, file, COMPRESSED_RECEIPTS, body.end, limit)
    const total = requireEntry(path, file, TOTAL_DIFFICULTY, receipts.end, limit)
    if (total.end - total.value !== 32)
      throw fail(`expected a total difficulty of 32 bytes, got ${total.end - total.value}`)
    const littleEndian = file.read(total.value, 32).slice()
    records.push(headerRecordRoot(hash, littleEndian))
    blocks.push({ headerRlp, hash, body, receipts, totalDifficulty: bytesToBigInt(littleEndian.reverse()) })
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
  requireAccumulator({ path, offset: entry.start }, file.read(entry.value, 32), computed)
}
