import { equalBytes } from '../../lib/bytes.js'
import type { EthRpc, UpstreamHeader } from '../../sources/ethRpc/types.js'
import type { WritableChain } from '../chainState.js'

/** Follows the safe and finalized blocks of the upstreams. */
export interface FinalityFeed {
  /** Asks the upstream in the background, so that no block has to wait for it. */
  ask(): void
  /** Stores the received blocks that are on the stored chain. @returns false when there was nothing */
  store(): boolean
}

interface FinalityOptions {
  signal: AbortSignal
  /** True when there is something to store. */
  onNews(): void
  onError(error: unknown): void
}

/** Creates a feed over the upstreams of a chain. */
export function createFinalityFeed(
  { head, reader }: WritableChain,
  rpc: EthRpc,
  { signal, onNews, onError }: FinalityOptions,
): FinalityFeed {
  let news: { safe?: UpstreamHeader; finalized?: UpstreamHeader } | undefined
  let asking = false
  let askAgain = false

  const ask = async () => {
    asking = true
    try {
      do {
        askAgain = false
        const [safe, finalized] = await Promise.all([
          rpc.taggedHeader('safe', signal),
          rpc.taggedHeader('finalized', signal),
        ])
        news = { safe, finalized }
        onNews()
      } while (askAgain)
    } catch (error) {
      if (!signal.aborted) onError(error)
    } finally {
      asking = false
    }
  }
  /** Returns the header's number if the block is on the stored chain. */
  const numberOf = (header: UpstreamHeader | undefined): number => {
    const held = header && reader.blockHash(header.header.number)
    return held && equalBytes(held, header.hash) ? header.header.number : -1
  }
  return {
    ask: () => {
      if (asking) askAgain = true
      else void ask()
    },
    store: () => {
      if (!news) return false
      const [safe, finalized] = [numberOf(news.safe), numberOf(news.finalized)]
      news = undefined
      if (safe >= 0 || finalized >= 0) head.finalize({ safe, finalized })
      return true
    },
  }
}
