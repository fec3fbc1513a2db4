import { decodeBody, type KnownSenders, transactionsRlp } from '../../chain/eth/block.js'
import { decodeHeader } from '../../chain/eth/header.js'
import { decodeSlimReceipts } from '../../chain/eth/history/slimReceipt.js'
import { equalBytes } from '../../lib/bytes.js'
import { decodeItems } from '../senders/sendersAhead.js'
import type { BlockSource, RawBlock, SourceRange } from '../source.js'
import { decodingEntry, type Entry, unpackEntry } from './e2store.js'
import { type EreFile, openEreFile } from './ereFile.js'
import { type EreHeader, type EreHeaders, readEreHeaders } from './ereHeaders.js'
import { type FileBytes, openFileBytes } from './fileBytes.js'

/** `--kind` of ere files. */
export const ERE = 'ere'

/** The chain of an ere file, from its headers, whose links, accumulator and proofs were checked. */
export interface EreChain {
  readonly path: string
  readonly firstNumber: number
  readonly lastNumber: number
  /** Hash of the block before the first one, 32 bytes. */
  readonly parentHash: Uint8Array
  /** 32 bytes. */
  readonly lastHash: Uint8Array
  /** Number of the block with the wanted hash; undefined where the file does not have it. */
  readonly foundNumber?: number
  /** True where its last block is under proof of stake. */
  readonly isStaked: boolean
  readonly proofs: EreHeaders['proofs']
}

/** Reads all headers of an ere file, and finds a block by its hash, 32 bytes. @throws UsageError when it cannot be
 *  opened; SourceError as `openEre`, and when headers, accumulator or proofs do not fit together */
export function readEreChain(path: string, wanted?: Uint8Array): EreChain {
  const file = openEreFile(path)
  try {
    const { headers, proofs } = readEreHeaders(file)
    const last = headers[headers.length - 1]
    const found = wanted ? headers.findIndex(({ hash }) => equalBytes(hash, wanted)) : -1
    return {
      path,
      firstNumber: file.firstNumber,
      lastNumber: file.firstNumber + file.blockCount - 1,
      parentHash: decodeHeader(headers[0].rlp).parentHash,
      lastHash: last.hash,
      foundNumber: found < 0 ? undefined : file.firstNumber + found,
      isStaked: decodeHeader(last.rlp).difficulty === 0n,
      proofs,
    }
  } finally {
    file.close()
  }
}

/** Opens an ere file: up to 8,192 blocks of any fork, with receipts unless its profile leaves them out, and with total
 *  difficulties up to the merge. Reads the index on open. Before the first block, `blocks` reads all headers and
 *  verifies their links, the accumulator and the proofs, so that a file with wrong headers yields no block. The blocks
 *  above `until` are left out.
 *  @throws UsageError when it cannot be opened; SourceError when it is not ere or its index is wrong. */
export function openEre(path: string, { until = Number.MAX_SAFE_INTEGER }: { until?: number } = {}): BlockSource {
  const file = openEreFile(path)
  if (!file.bytes.isInMemory) file.close()
  const open = () => (file.bytes.isInMemory ? file : openEreFile(path))
  return {
    kind: ERE,
    path,
    totalBlocks: Math.max(0, Math.min(file.blockCount, until - file.firstNumber + 1)),
    blocks: (range = {}) => decodeItems(readPacked(open, range, until), READER, range.senderRecovery),
  }
}

/** A block that is decompressed and not decoded. */
interface PackedBlock {
  readonly path: string
  readonly ordinal: number
  readonly header: EreHeader
  readonly bodyEntry: Entry
  readonly body: Uint8Array
  readonly receiptsEntry?: Entry
  readonly receipts?: Uint8Array
}

const READER = {
  sizeOf: ({ body, receipts }: PackedBlock) => body.length + (receipts?.length ?? 0),
  transactionsOf: ({ body }: PackedBlock) => transactionsRlp(body, { isBody: true }),
  decode: decodePacked,
}

/** Decodes a block. @throws SourceError for one that cannot be decoded */
function decodePacked(packed: PackedBlock, senders?: KnownSenders): RawBlock {
  const { path, ordinal, header, bodyEntry, body, receiptsEntry, receipts } = packed
  const block = decodingEntry({ path, offset: bodyEntry.start, ordinal }, () => decodeBody(header, body, senders))
  const { totalDifficulty } = header
  if (!receiptsEntry) return { block, totalDifficulty }
  const place = { path, offset: receiptsEntry.start, ordinal }
  return { block, receipts: decodingEntry(place, () => decodeSlimReceipts(receipts!)), totalDifficulty }
}

/** Sections are far apart in the file: each is read through a window of its own. */
function* readPacked(
  open: () => EreFile,
  { from = 0, passedOver }: SourceRange,
  until: number,
): Generator<PackedBlock> {
  const file = open()
  let bodies: FileBytes | undefined
  try {
    const { firstNumber, blockCount } = file
    if (from >= firstNumber + blockCount && !passedOver) return
    const { headers } = readEreHeaders(file)
    const first = Math.max(0, from - firstNumber)
    const end = Math.min(blockCount, until - firstNumber + 1)
    for (let ordinal = 0; ordinal < Math.min(first, end); ordinal++) {
      passedOver?.(firstNumber + ordinal, headers[ordinal].hash)
    }
    bodies = file.bytes.isInMemory ? file.bytes : openFileBytes(file.path)
    for (let ordinal = first; ordinal < end; ordinal++) yield readBlock(file, bodies, headers[ordinal], ordinal)
  } finally {
    bodies?.close()
    file.close()
  }
}

function readBlock(file: EreFile, bodies: FileBytes, header: EreHeader, ordinal: number): PackedBlock {
  const { path } = file
  const unpack = (bytes: FileBytes, entry: Entry) =>
    decodingEntry({ path, offset: entry.start, ordinal }, () => unpackEntry(bytes, entry))
  const bodyEntry = file.entry('body', ordinal, bodies)
  const receiptsEntry = file.has('receipts') ? file.entry('receipts', ordinal) : undefined
  return {
    ...{ path, ordinal, header, bodyEntry, receiptsEntry },
    body: unpack(bodies, bodyEntry),
    receipts: receiptsEntry && unpack(file.bytes, receiptsEntry),
  }
}
