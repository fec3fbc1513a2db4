import type { CheckedSenders } from '../apply/verifyReplicated.js'
import type { EncodedBlock } from '../codec/types.js'

/** A block to verify; each gets one reply, in order. Null wakes a thread that must stop. */
export type BlockVerifierRequest = { block: EncodedBlock; senders: CheckedSenders } | null

/** The inflated message of a valid block; null for an invalid one. */
export type BlockVerifierReply = Uint8Array | null
