import type { TracedCall } from '../evm/tracing/callTree.js'
import { equalBytes } from '../lib/bytes.js'
import type { DecodedError, Decoder } from './decoder.js'

/** Returns the revert data of a call; empty for failures other than REVERT. */
export function revertData({ failure, output }: TracedCall): Uint8Array {
  return failure === 'execution reverted' ? output : new Uint8Array()
}

/** Decodes the error of a reverted call; null for any other call. */
export function decodeFailure(call: TracedCall, decoder: Decoder): DecodedError | null {
  const data = revertData(call)
  return data.length < 4 ? null : decoder.decodeError(data, originsOf(call))
}

/** Deeper calls that passed on the same revert data are ignored. */
const MAX_ORIGINS = 64

/** Returns the contracts that passed on the revert data, from its origin upwards. */
function originsOf(call: TracedCall): Uint8Array[] {
  const origins = [call.to]
  for (let next: TracedCall | undefined = call; next !== undefined && origins.length < MAX_ORIGINS; ) {
    next = next.calls.findLast((each) => each.failure === 'execution reverted' && equalBytes(each.output, call.output))
    if (next !== undefined) origins.unshift(next.to)
  }
  return origins
}
