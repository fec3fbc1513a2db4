import type { PendingBlock } from '../../chain/eth/types.js'
import type { EthRpc } from '../../sources/ethRpc/types.js'
import type { Clock } from '../../sources/upstreams/clock.js'
import { linkAbort } from '../../sources/upstreams/linkedAbort.js'
import type { WritableChain } from '../chainState.js'

interface WatchOptions {
  /** Called with the upstream's pending block: after each new head, and every second. */
  onPending(pending: PendingBlock | undefined): void
  onError(error: unknown): void
  clock: Clock
  signal: AbortSignal
}

const POLL_MS = 1000

/** Watches the pending block of the upstreams. @returns a function that stops it */
export function watchPending(
  { head }: WritableChain,
  rpc: EthRpc,
  { onPending, onError, clock, signal }: WatchOptions,
): () => void {
  const ended = linkAbort(signal)
  let wake = linkAbort(ended.signal)
  const unlisten = head.listen({ changed: () => wake.abort(new Error('a new head')) })
  const watch = async () => {
    while (!ended.signal.aborted) {
      wake.release()
      wake = linkAbort(ended.signal)
      onPending(await rpc.pendingBlock(ended.signal))
      await clock.sleep(POLL_MS, wake.signal).catch(() => {})
    }
  }
  watch().catch((error: unknown) => {
    if (!ended.signal.aborted) onError(error)
  })
  return () => {
    unlisten()
    wake.release()
    ended.abort(new Error('the pending block is not watched any more'))
    ended.release()
  }
}
