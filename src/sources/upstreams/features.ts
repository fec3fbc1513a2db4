import { UpstreamRpcError } from './errors.js'
import type { RpcErrorObject } from './jsonRpc.js'

/** Methods that not every node has. `l1_accepted` is a block tag of Starknet; `block by hash` and `witness by hash` are
 *  parameters that name a block by its hash (EIP-1898). */
export type OptionalMethod =
  | 'debug_executionWitness'
  | 'debug_executionWitnessByBlockHash'
  | 'debug_getRawBlock'
  | 'debug_getRawBlockAccessList'
  | 'debug_getRawReceipts'
  | 'eth_createAccessList'
  | 'eth_getBlockAccessList'
  | 'eth_getBlockReceipts'
  | 'eth_getCode'
  | 'eth_getProof'
  | 'block by hash'
  | 'witness by hash'
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

/** True for an error that reports a method which the node does not have, or does not offer to this client. */
export function isMissingMethod({ code, message }: RpcErrorObject): boolean {
  return (
    code === -32601 ||
    code === -32004 || // EIP-1474: method not supported
    /\bmethod\b.*\b(not (found|exist|supported|available|allowed|enabled|whitelisted|implemented)|disabled|unsupported)/i.test(
      message,
    ) ||
    /\b(unsupported|unknown) method\b|does not exist\/is not available/i.test(message)
  )
}

/** True for an error that reports parameters of a form which the node does not accept. */
export function isRefusedParameter({ code, message }: RpcErrorObject): boolean {
  return (
    code === -32602 || /invalid (argument|param|block|type)|cannot unmarshal|failed to (parse|decode)/i.test(message)
  )
}

// How nodes report that they no longer have, or never kept, the state of a block.
const STATE_UNAVAILABLE = [
  /missing trie node/i, // geth
  /\bstates?\b.*\b(unavailable|not (yet )?available|not found|pruned|missing)\b/i, // geth, besu, reth, anvil
  /\bno (historical )?state\b|\bno state (available|found)/i, // nethermind, reth
  /proof window/i, // reth: distance to target block exceeds maximum proof window
  /\b(too old|too far|too deep|pruned|prune[dr]? history|out of range|earliest available)\b/i, // erigon, nethermind, anvil
  /historical (state|proofs?|data|commitment)/i, // erigon, geth's path scheme
  /commitment history/i, // erigon
  /\barchive\b/i, // providers
  /\blayer (stale|missing)|layer\b.*\bmissing/i, // geth's path scheme
]

/** True for an error that reports a state which the node does not have (any more). */
export function isStateMissing({ code, message }: RpcErrorObject): boolean {
  // Codes of EIP-4444 and of Nethermind's pruned state, and EIP-1474's "resource not found" and "unavailable".
  return code === 4444 || code === -32001 || code === -32002 || STATE_UNAVAILABLE.some((form) => form.test(message))
}
