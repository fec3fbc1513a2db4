import type { L2NetworkName } from '../../chain/starknet/networks.js'
import type { L2Block } from '../../chain/starknet/types.js'
import type { L2Verdict } from '../../chain/starknet/verify.js'

/** A request to the thread: plain data, one block at a time. */
export interface L2VerifierRequest {
  block: L2Block
  network?: L2NetworkName
}

/** Its reply. */
export type L2VerifierReply = { verdict: L2Verdict } | { failure: string }
