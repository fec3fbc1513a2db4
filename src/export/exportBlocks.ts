import type { BlockRange } from '../chain/eth/types.js'
import { equalBytes } from '../lib/bytes.js'
import { yieldToEventLoop } from '../lib/pause.js'
import type { Dataset, ExportedBlock } from './dataset.js'
import type { RowEncoder } from './encoders/rowEncoder.js'
import { ChainChanged } from './errors.js'
import type { ExportSource } from './source.js'

/** Destination of rows. */
interface RowTarget {
  readonly encoder: RowEncoder
  /** Writes bytes of the file, in order. */
  write(bytes: Uint8Array): void | Promise<void>
}

/** Result of exporting a range. */
export interface ExportedRange {
  rows: number
  /** Undefined if the range has no block, as in a gap of layer 2. */
  first?: ExportedBlock
  last?: ExportedBlock
}

/** Control of a long export. */
export interface ExportControl {
  readonly signal: AbortSignal
  /** Called with blocks and rows since the last call. */
  onProgress(blocks: number, rows: number): void
}

/** Encodes the rows of blocks [from, to], one snapshot per batch: a long read transaction would keep the write-ahead
 *  log from being truncated. Checks that batches link. @throws ChainChanged if a reorg reaches the range; the reason of
 *  the signal */
export async function exportBlocks(
  source: ExportSource,
  dataset: Dataset,
  { range, target, control }: { range: BlockRange; target: RowTarget; control: ExportControl },
): Promise<ExportedRange> {
  const { encoder, write } = target
  const found: ExportedRange = { rows: 0 }
  const size = dataset.batchBlocks(source)
  for (let from = range.from; from <= range.to; from += size) {
    control.signal.throwIfAborted()
    const to = Math.min(range.to, from + size - 1)
    const { blocks, rows, parts } = encodeBatch(source, dataset, { encoder, from, to, last: found.last })
    found.first ??= blocks[0]
    found.last = blocks.at(-1) ?? found.last
    for (const bytes of parts) await write(bytes)
    found.rows += rows
    control.onProgress(to - from + 1, rows)
    await yieldToEventLoop() // lets signals arrive
  }
  const hash = dataset.layer.hashAt(source, range.to)
  if (found.last && !(hash && equalBytes(hash, found.last.hash))) throw new ChainChanged()
  await write(encoder.end())
  return found
}

/** Encodes the rows of a batch one by one: those of a block may not fit in memory together. */
function encodeBatch(
  source: ExportSource,
  dataset: Dataset,
  { encoder, last, from, to }: { encoder: RowEncoder; last: ExportedBlock | undefined } & BlockRange,
): { blocks: ExportedBlock[]; rows: number; parts: Uint8Array[] } {
  return source.watch.withSnapshot(() => {
    source.watch.beforeRead() // may repeat the work, so before the first row
    const blocks = dataset.layer.blocks(source, from, to)
    requireLinks(dataset, last, blocks, { from, to })
    const parts: Uint8Array[] = []
    let rows = 0
    for (const row of blocks.length === 0 ? [] : dataset.rows(source, blocks)) {
      const bytes = encoder.add(row)
      if (bytes !== undefined) parts.push(bytes)
      rows++
    }
    return { blocks, rows, parts }
  })
}

function requireLinks(
  { layer }: Dataset,
  last: ExportedBlock | undefined,
  blocks: readonly ExportedBlock[],
  { from, to }: BlockRange,
): void {
  if (layer.name === 'Ethereum' && blocks.length !== to - from + 1) throw new ChainChanged()
  let parent = last
  for (const block of blocks) {
    const follows = parent !== undefined && parent.number === block.number - 1
    if (follows && !equalBytes(block.parentHash, parent!.hash)) throw new ChainChanged()
    parent = block
  }
}
