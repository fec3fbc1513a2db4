import type { TracedCall } from '../evm/tracing/callTree.js'
import { equalBytes } from '../lib/bytes.js'
import type { DecodedError, Decoder } from './decoder.js'

/** The revert data of a call; empty for other failures than REVERT. */
export function revertData({ failure, output }: TracedCall): Uint8Array {
  return failure === 'execution reverted' ? output : new Uint8Array()
}

/** The decoded error of a call that reverted; null for any other. */
export function decodeFailure(call: TracedCall, decoder: Decoder): DecodedError | null {
  const data = revertData(call)
  return data.length < 4 ? null : decoder.decodeError(data, originsOf(call))
}

/** Deeper calls that passed on the same revert data are not looked at. */
const MAX_ORIGINS = 64

/** The contracts on the way down to the one whose revert data the calls passed on, that one first. */
function originsOf(call: TracedCall): Uint8Array[] {
  const origins = [call.to]
  for (let next: TracedCall | undefined = call; next !== undefined && origins.length < MAX_ORIGINS; ) {
    next = next.calls.findLast((each) => each.failure === 'execution reverted' && equalBytes(each.output, call.output))
    if (next !== undefined) origins.unshift(next.to)
  }
  return origins
}
