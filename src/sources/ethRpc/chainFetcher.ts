import type { RawBlock } from '../source.js'
import type { BlockFetcher } from '../upstreams/blockFetcher.js'
import { fetchBlocks, fetchHead, fetchHeader } from './fetchBlocks.js'

/** Gets the blocks of an Ethereum chain. */
export function createChainFetcher({ withReceipts }: { withReceipts: boolean }): BlockFetcher<RawBlock> {
  return {
    fetch: (upstream, numbers, signal) => fetchBlocks(upstream, numbers, { withReceipts, signal }),
    hashAt: async (upstream, blockNumber, signal) => (await fetchHeader(upstream, blockNumber, signal))?.hash,
    headNumber: async (upstream, signal) => (await fetchHead(upstream, signal)).header.number,
    linkOf: ({ block: { hash, header } }) => ({ number: header.number, hash, parentHash: header.parentHash }),
    sizeOf,
  }
}

/** Returns the approximate encoded size of a block and its receipts. */
function sizeOf({ block, receipts = [] }: RawBlock): number {
  let bytes = block.sizeBytes
  for (const { logs } of receipts) {
    bytes += 300 // bloom, gas, status and prefixes
    for (const { topics, data } of logs) bytes += 24 + 33 * topics.length + data.length
  }
  return bytes
}
