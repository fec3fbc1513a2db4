import type { CheckedSenders } from '../apply/verifyReplicated.js'
import type { EncodedBlock } from '../codec/types.js'

/** A block to verify; one reply to each, in order. Null wakes a thread that is to stop. */
export type BlockVerifierRequest = { block: EncodedBlock; senders: CheckedSenders } | null

/** The inflated message of a block that is right; null for one that is not. */
export type BlockVerifierReply = Uint8Array | null
