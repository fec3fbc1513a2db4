import { UpstreamRpcError } from './errors.js'

/** Methods that not every node has. `l1_accepted` is a block tag of Starknet. */
export type OptionalMethod =
  | 'debug_getRawBlock'
  | 'debug_getRawReceipts'
  | 'eth_getBlockReceipts'
  | 'eth_subscribe'
  | 'starknet_getBlockWithReceipts'
  | 'starknet_subscribeNewHeads'
  | 'l1_accepted'
  | 'state updates'

/** Optional methods of an upstream, as far as they were tried. */
export interface Features {
  /** False while the method is known to be missing. */
  has(method: OptionalMethod): boolean
  /** The method failed: it is not tried again for an hour. */
  lacks(method: OptionalMethod): void
}

// Nodes are restarted with other options now and then.
const REPROBE_MS = 3_600_000

/** Creates the features of an upstream that was not asked yet: all methods are tried. */
export function createFeatures(nowMs: () => number): Features {
  const missingUntilMs = new Map<OptionalMethod, number>()
  return {
    has: (method) => nowMs() >= (missingUntilMs.get(method) ?? Number.NEGATIVE_INFINITY),
    lacks: (method) => void missingUntilMs.set(method, nowMs() + REPROBE_MS),
  }
}

/** True for an error that reports a missing block or header, as nodes word it in place of `null`. */
export function isNotFound(error: unknown): boolean {
  return (
    error instanceof UpstreamRpcError &&
    error.code !== -32601 &&
    /\b(block|header|receipts?)\b.*\bnot (found|available|held)|not found in blocks|unknown block|missing block|cannot find/i.test(
      error.message,
    )
  )
}
