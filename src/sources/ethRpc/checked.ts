import { InvalidBlock } from '../../chain/eth/invalidBlock.js'
import { DecodeError } from '../../chain/eth/rlp.js'
import { UpstreamInvalidResponse } from '../upstreams/errors.js'
import type { Upstream } from '../upstreams/upstream.js'

/** Returns what `decode` returns. @throws UpstreamInvalidResponse, which names the check and the upstream, when
 *  decoding or verifying fails. */
export function checked<T>(upstream: Upstream, blockNumber: number | undefined, decode: () => T): T {
  try {
    return decode()
  } catch (error) {
    const found = describe(error)
    if (!found) throw error
    throw new UpstreamInvalidResponse(upstream.name, {
      check: found.check,
      problem: upstream.redact(found.problem),
      blockNumber,
    })
  }
}

function describe(error: unknown): { check: string; problem: string } | undefined {
  if (error instanceof DecodeError) return { check: error.path, problem: error.problem }
  if (error instanceof InvalidBlock) {
    return { check: error.check, problem: `expected ${error.expected}, the block has ${error.actual}` }
  }
  // Encoders throw it for values without an encoding, such as a header with a gap among the later fields.
  return error instanceof RangeError ? { check: 'encoding', problem: error.message } : undefined
}
