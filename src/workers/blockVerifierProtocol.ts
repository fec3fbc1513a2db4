import type { EncodedBlock } from '../ingest/replication/types.js'
import type { ChainSource } from '../store/chain/chainSource.js'

/** Start data of the thread: the chain whose rules hold. */
export type BlockVerifierData = ChainSource

/** A block to verify; one reply to each, in order. */
export type BlockVerifierRequest = EncodedBlock

/** The inflated message of a block that is right; null for one that is not. */
export type BlockVerifierReply = Uint8Array | null
