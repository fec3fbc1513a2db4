import { keccak256 } from '../../chain/crypto.js'
import { decodeBody, type KnownSenders, transactionsRlp } from '../../chain/eth/block.js'
import { decodeHeader } from '../../chain/eth/header.js'
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
  VERSION,
} from '../../chain/eth/history/entryTypes.js'
import { decodeReceipts } from '../../chain/eth/receipt.js'
import { bytesToBigInt, equalBytes } from '../../lib/bytes.js'
import { formatData } from '../../lib/hex.js'
import { recoverAhead, SendersAhead } from '../senders/sendersAhead.js'
import { type BlockSource, type RawBlock, SourceError, type SourceRange } from '../source.js'
import {
  decodingEntry,
  type Entry,
  MAX_HEADER_BYTES,
  readEntry,
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

/** Reads the index at the end of the file: first block number, offsets relative to the index entry, count. */
function readIndex(path: string, file: FileBytes): BlockIndex {
  const { size } = file
  const version = requireEntry(path, file, VERSION, 0, size)
  if (version.end !== version.value)
    throw new SourceError({ path, offset: 0, problem: 'expected an empty version entry' })
  if (size < 40) throw new SourceError({ path, offset: 8, problem: 'expected blocks, the file ends' })
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
    const headerRlp = decodingEntry({ path, offset: at, ordinal }, () => unpackEntry(file, entry, MAX_HEADER_BYTES))
    const header = decodingEntry({ path, offset: at, ordinal }, () => decodeHeader(headerRlp))
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
    records.push(headerRecordRoot(blockHash, littleEndian))
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
