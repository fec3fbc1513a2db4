import type { CallTrace } from '../../store/rows/callTraces.js'
import type { StoredBlockLink } from '../../store/rows/exportRows.js'
import { callsOf } from '../calls.js'
import { columns, type Row } from '../columns.js'
import type { Dataset } from '../dataset.js'
import { LAYER_1 } from '../layers.js'
import type { ExportSource } from '../source.js'

const SELECTOR_BYTES = 4

export const fourByteCounts: Dataset<StoredBlockLink> = {
  name: 'four-byte-counts',
  fileName: 'four_byte_counts',
  summary:
    "How often the calls of each transaction have a selector and length of the remaining calldata, as geth's 4byteTracer counts; from the trace index, or by executing the blocks again.",
  layer: LAYER_1,
  needsState: true,
  columns: [
    ...columns('u32', 'block_number', 'transaction_index'),
    ...columns('binary', 'transaction_hash', 'signature'),
    ...columns('u64', 'size', 'count', 'chain_id'),
  ],
  batchBlocks: () => 1,
  *rows(source, links) {
    for (const link of links) yield* rowsOf(source, link)
  },
}

function* rowsOf(source: ExportSource, { number, txCount }: StoredBlockLink): Generator<Row> {
  if (txCount === 0) return
  const { chain } = source
  const block = chain.blockByNumber(number)!
  const hashes = chain.transactionHashes(block)
  for (const [index, calls] of callsOf(source, block).entries()) {
    for (const { signature, size, count } of countSelectors(calls)) {
      yield [number, index, hashes[index], signature, size, count, chain.chainId()]
    }
  }
}

/** Counts selectors with the length of the remaining calldata, ordered by both. */
function countSelectors(calls: readonly CallTrace[]): { signature: Uint8Array; size: number; count: number }[] {
  const counts = new Map<string, { selector: number; size: number; count: number }>()
  for (const { selector, inputLength } of calls) {
    if (selector === undefined) continue
    const size = inputLength - SELECTOR_BYTES
    const key = `${selector} ${size}`
    const counted = counts.get(key) ?? { selector, size, count: 0 }
    counted.count++
    counts.set(key, counted)
  }
  return Array.from(counts.values())
    .sort((a, b) => a.selector - b.selector || a.size - b.size)
    .map(({ selector, ...rest }) => {
      const signature = Buffer.alloc(SELECTOR_BYTES)
      signature.writeUInt32BE(selector)
      return { signature, ...rest }
    })
}
