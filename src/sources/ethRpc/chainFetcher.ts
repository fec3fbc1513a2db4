import type { SendersAhead } from '../senders/sendersAhead.js'
import type { RawBlock } from '../source.js'
import type { BlockFetcher } from '../upstreams/blockFetcher.js'
import type { Upstream } from '../upstreams/upstream.js'
import { fetchAccessLists } from './fetchAccessLists.js'
import { fetchBlocks, fetchHead, fetchHeader } from './fetchBlocks.js'

/** What blocks come with. */
interface BlockContents {
  readonly withReceipts: boolean
  /** Their access lists, where the upstream has them. */
  readonly withAccessLists?: boolean
  /** Recovers their senders in another thread. */
  readonly ahead?: SendersAhead
}

/** Gets the blocks of an Ethereum chain. */
export function createChainFetcher({
  withReceipts,
  withAccessLists = false,
  ahead,
}: BlockContents): BlockFetcher<RawBlock> {
  return {
    fetch: async (upstream, numbers, signal) => {
      const raws = await fetchBlocks(upstream, numbers, { withReceipts, ahead, signal })
      if (withAccessLists) await addAccessLists(upstream, raws, signal)
      return raws
    },
    hashAt: async (upstream, blockNumber, signal) => (await fetchHeader(upstream, blockNumber, signal))?.hash,
    headNumber: async (upstream, signal) => (await fetchHead(upstream, signal)).header.number,
    linkOf: ({ block: { hash, header } }) => ({ number: header.number, hash, parentHash: header.parentHash }),
    sizeOf,
  }
}

async function addAccessLists(
  upstream: Upstream,
  raws: readonly (RawBlock | undefined)[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const present = raws.filter((raw) => raw !== undefined)
  const lists = await fetchAccessLists(
    upstream,
    present.map(({ block }) => block),
    signal,
  )
  for (const [i, raw] of present.entries()) raw.blockAccessList = lists[i]
}

/** Returns the approximate encoded size of a block and its receipts. */
function sizeOf({ block, receipts = [], blockAccessList }: RawBlock): number {
  let bytes = block.sizeBytes + (blockAccessList?.length ?? 0)
  for (const { logs } of receipts) {
    bytes += 300 // bloom, gas, status and prefixes
    for (const { topics, data } of logs) bytes += 24 + 33 * topics.length + data.length
  }
  return bytes
}
