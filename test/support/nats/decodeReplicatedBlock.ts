import { decodeInflated, inflateMessage } from '../../../src/replication/codec/message.js'
import type { DecodedBlock, EncodedBlock } from '../../../src/replication/codec/types.js'

/** Decodes the block of a message, as a replica does. @throws InvalidMessage */
export function decodeReplicatedBlock(encoded: EncodedBlock): DecodedBlock {
  return decodeInflated(encoded, inflateMessage(encoded.payload))
}
