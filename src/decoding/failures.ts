import type { TracedCall } from '../evm/tracing/callTree.js'
import { EMPTY_BYTES, equalBytes } from '../lib/bytes.js'
import { type DecodedError, type Decoder, describeDecodedError } from './decoder.js'
import { decodeRevertReason } from './revertReason.js'

/** Why a call failed. */
export interface CallFailure {
  /** Outcome reported by the EVM, in geth's words. */
  readonly error: string
  /** Revert data; empty for failures other than REVERT. */
  readonly data: Uint8Array
  /** The error in the revert data; null if it is not known. */
  readonly decoded: DecodedError | null
  /** One line: the decoded error; else the text of an `Error(string)` or the meaning of a `Panic(uint256)` that only
   *  geth's lenient decoder reads; else `error`. */
  readonly reason: string
}

/** Returns why a call failed, null if it succeeded. `convert` changes the decoded values first. */
export function explainFailure(
  call: TracedCall,
  decoder: Decoder,
  convert: (decoded: DecodedError) => DecodedError = (decoded) => decoded,
): CallFailure | null {
  const { failure: error, output } = call
  if (error === undefined) return null
  const data = error === 'execution reverted' ? output : EMPTY_BYTES
  const found = data.length < 4 ? null : decoder.decodeError(data, originsOf(call))
  const decoded = found && convert(found)
  return { error, data, decoded, reason: decoded ? describeDecodedError(decoded) : decodeRevertReason(data) || error }
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
