import { encodeBlock } from '../../chain/eth/block.js'
import { encodeHeader } from '../../chain/eth/header.js'
import { accumulatorRoot, encodeUint256, headerRecordRoot } from '../../chain/eth/history/accumulator.js'
import {
  ACCUMULATOR,
  COMPRESSED_BODY,
  COMPRESSED_HEADER,
  COMPRESSED_SLIM_RECEIPTS,
  DYNAMIC_BLOCK_INDEX,
  encodeEntryHeader,
  TOTAL_DIFFICULTY,
  VERSION,
} from '../../chain/eth/history/entryTypes.js'
import { encodeSlimReceipts } from '../../chain/eth/history/slimReceipt.js'
import { encodeListOf, measureRlp } from '../../chain/eth/rlp.js'
import type { BlockRange } from '../../chain/eth/types.js'
import { EMPTY_BYTES, equalBytes } from '../../lib/bytes.js'
import { yieldToEventLoop } from '../../lib/pause.js'
import { compressFrames } from '../../lib/snappyCompress.js'
import type { StoredBlock } from '../../store/rows/types.js'
import { ChainChanged } from '../errors.js'
import type { ExportControl } from '../exportBlocks.js'
import { createSink } from '../exportedFile.js'
import type { ExportSource } from '../source.js'

/** Result of writing a file. */
export interface WrittenEre {
  readonly lastHash: Uint8Array // 32
  readonly bytes: number
  /** Hex without 0x. */
  readonly sha256: string
}

// Blocks read in one snapshot. A long read transaction would keep the write-ahead log from being truncated.
const BATCH_BLOCKS = 64

/** Writes blocks [from, to], at most 8,192, to an ere file with the profile noproofs: headers, bodies, receipts, and
 *  for blocks up to the merge total difficulties and the accumulator. The database is read once for each section, so
 *  that no more than a batch of blocks is in memory.
 *  @throws ChainChanged if a reorg reaches the range; the reason of the signal */
export async function writeEre(
  source: ExportSource,
  path: string,
  { range, control }: { range: BlockRange; control: ExportControl },
): Promise<WrittenEre> {
  const file = new EreWriter(path)
  try {
    const hashes: Uint8Array[] = []
    const totals: Uint8Array[] = []
    const records: Uint8Array[] = []
    await eachBlock(source, { range, control }, (block) => {
      requireNext(block, hashes)
      hashes.push(block.hash)
      const { difficulty } = block.header
      const total = encodeUint256(block.totalDifficulty)
      totals.push(total)
      if (difficulty > 0n) records.push(headerRecordRoot(block.hash, total))
      file.put(COMPRESSED_HEADER, compressFrames(encodeHeader(block.header)))
    })
    const requireSame = ({ header: { number }, hash }: StoredBlock) => {
      if (!equalBytes(hash, hashes[number - range.from])) throw new ChainChanged()
    }
    await eachBlock(source, { range, control }, (block) => {
      requireSame(block)
      file.put(COMPRESSED_BODY, compressFrames(bodyOf(source, block)))
    })
    await eachBlock(source, { range, control }, (block) => {
      requireSame(block)
      const receipts = source.chain.receipts(block).map(({ receipt }) => receipt)
      file.put(COMPRESSED_SLIM_RECEIPTS, compressFrames(encodeSlimReceipts(receipts)))
      control.onProgress(1, 0)
    })
    if (records.length > 0) {
      for (const total of totals) file.put(TOTAL_DIFFICULTY, total)
      file.put(ACCUMULATOR, accumulatorRoot(records))
    }
    return { lastHash: hashes[hashes.length - 1], ...file.end(range.from) }
  } finally {
    file.close()
  }
}

function requireNext({ header }: StoredBlock, before: readonly Uint8Array[]): void {
  const parent = before.at(-1)
  if (parent && !equalBytes(header.parentHash, parent)) throw new ChainChanged()
}

async function eachBlock(
  { chain, watch }: ExportSource,
  { range, control }: { range: BlockRange; control: ExportControl },
  visit: (block: StoredBlock) => void,
): Promise<void> {
  for (let from = range.from; from <= range.to; from += BATCH_BLOCKS) {
    control.signal.throwIfAborted()
    const to = Math.min(range.to, from + BATCH_BLOCKS - 1)
    watch.withSnapshot(() => {
      watch.beforeRead()
      for (let number = from; number <= to; number++) {
        const block = chain.blockByNumber(number)
        if (block === undefined) throw new ChainChanged()
        visit(block)
      }
    })
    await yieldToEventLoop() // lets signals arrive
  }
}

/** Returns the RLP of a block's body: [transactions, uncles] and, from Shanghai on, withdrawals. */
function bodyOf({ chain }: ExportSource, block: StoredBlock): Uint8Array {
  const { header, withdrawals } = block
  const uncles = chain.uncles(header.number)
  const rlp = encodeBlock({ header, transactions: chain.transactions(block), uncles, withdrawals })
  const start = measureRlp(rlp, 0)!.payload
  return encodeListOf([rlp.subarray(measureRlp(rlp, start)!.end)])
}

const INDEXED = [COMPRESSED_HEADER, COMPRESSED_BODY, COMPRESSED_SLIM_RECEIPTS, TOTAL_DIFFICULTY]

/** Writes entries to a file, and the index of them. */
class EreWriter {
  private readonly sink: ReturnType<typeof createSink>
  private at = 0
  /** By type: offsets of the entries, in the order of the blocks. */
  private readonly offsets = new Map<number, number[]>(INDEXED.map((type) => [type, []]))

  constructor(path: string) {
    this.sink = createSink(path)
    this.put(VERSION, EMPTY_BYTES)
  }

  put(type: number, value: Uint8Array): void {
    this.offsets.get(type)?.push(this.at)
    this.sink.write(encodeEntryHeader(type, value.length))
    this.sink.write(value)
    this.at += 8 + value.length
  }

  /** Writes the index, and closes the file. */
  end(firstNumber: number): { bytes: number; sha256: string } {
    const components = [...this.offsets.values()].filter((offsets) => offsets.length > 0)
    const count = components[0].length
    const index = new DataView(new ArrayBuffer(8 * (3 + count * components.length)))
    index.setBigUint64(0, BigInt(firstNumber), true)
    for (const [component, offsets] of components.entries()) {
      for (const [ordinal, offset] of offsets.entries()) {
        index.setBigInt64(8 * (1 + ordinal * components.length + component), BigInt(offset - this.at), true)
      }
    }
    index.setBigUint64(index.byteLength - 16, BigInt(components.length), true)
    index.setBigUint64(index.byteLength - 8, BigInt(count), true)
    this.put(DYNAMIC_BLOCK_INDEX, new Uint8Array(index.buffer))
    return this.sink.close()
  }

  close(): void {
    this.sink.close()
  }
}
