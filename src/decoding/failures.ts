import type { TracedCall } from '../evm/tracing/callTree.js'
import { EMPTY_BYTES, equalBytes } from '../lib/bytes.js'
import type { AbiError } from './abiItems.js'
import type { DecodedError, Decoder } from './decoder.js'
import { describeDecodedError, describeGuessedError } from './formatDecoded.js'
import { decodeRevertReason } from './revertReason.js'
import type { Guess } from './signatures/guesser.js'

/** Why a call failed. */
export interface CallFailure {
  /** Outcome reported by the EVM, in geth's words. */
  readonly error: string
  /** Revert data; empty for failures other than REVERT. */
  readonly data: Uint8Array
  /** The error in the revert data; null if no ABI has it. */
  readonly decoded: DecodedError | null
  /** The error by signature files; null if `decoded` is not, or nothing is known. */
  readonly guess: Guess<AbiError> | null
  /** One line: the decoded error, else the guess, else the text of an `Error(string)` or the meaning of a
   *  `Panic(uint256)` that only geth's lenient decoder reads, else `error`. */
  readonly reason: string
}

/** Returns why a call failed, null if it succeeded. With `lowerCase`, addresses in `reason` have no checksum.
 *  `blockNumber` is that of the transaction. */
export function describeCallFailure(
  call: TracedCall,
  decoder: Decoder,
  options: { readonly lowerCase?: boolean; readonly blockNumber?: number } = {},
): CallFailure | null {
  const { failure: error, output } = call
  if (error === undefined) return null
  const data = error === 'execution reverted' ? output : EMPTY_BYTES
  const hasSelector = data.length >= 4
  const decoded = hasSelector ? decoder.decodeError(data, originsOf(call), options.blockNumber) : null
  const guess = hasSelector && decoded === null ? decoder.guessError(data) : null
  const known = decoded ? describeDecodedError(decoded, options) : guess && describeGuessedError(guess, options)
  return { error, data, decoded, guess, reason: known ?? (decodeRevertReason(data) || error) }
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
