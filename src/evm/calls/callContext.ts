import type { Rules } from '../../chain/eth/forks.js'
import type { Header } from '../../chain/eth/types.js'
import type { Deadline } from '../../lib/deadline.js'
import { CallFailed, CallReverted, ReturnDataTooLong } from '../errors.js'
import type { CallRequest } from './callRequest.js'

/** What every call is held to. Blocks that are imported are not. */
export interface CallLimits {
  /** Its gas, in percent of the block's gas limit. */
  gasCapPercent: number
  /** Its gas, whatever the block's limit; the smaller of the two holds. */
  maxCallGas: number
  /** Bytes that it may take: memory of its frames, return data, output, and what it reads and changes of the state. */
  callMemoryBytes: number
  /** Bytes that it may return or revert with. */
  maxReturnBytes: number
}

/** How a call ended. */
export interface CallOutcome {
  status: 'success' | 'revert' | 'halt'
  /** In geth's words, when the status is not success. */
  failure?: string
  output: Uint8Array
  gasUsed: bigint
  /** Gas that was given back at the end: what the call needs at its height is more by this. */
  gasRefunded: bigint
}

/** What a call runs with beside its request. */
export interface RunTerms {
  gasLimit: bigint
  memoryBytes: number
  deadline: Deadline
}

/** Calls at one block. `Run` is what `run` gives: an outcome, or the promise of one. */
export interface CallContext<Run extends CallOutcome | Promise<CallOutcome> = CallOutcome | Promise<CallOutcome>> {
  readonly header: Header
  readonly rules: Rules
  /** Wei. */
  balance(address: Uint8Array): bigint
  hasCode(address: Uint8Array): boolean
  /** Runs the call; what it changes is dropped afterwards.
   *  @throws CallFailed, CallRefused when it cannot begin; CallMemoryExceeded; DeadlineExceeded, where the interpreter looks
   *  at the deadline. */
  run(request: CallRequest, terms: RunTerms): Run
}

/** The gas limit for a call: what was asked, clamped to the caps. */
export function clampGas(
  header: Header,
  gas: bigint | undefined,
  { gasCapPercent, maxCallGas }: Pick<CallLimits, 'gasCapPercent' | 'maxCallGas'>,
): bigint {
  const ofBlock = (header.gasLimit * BigInt(gasCapPercent)) / 100n
  const cap = ofBlock < maxCallGas ? ofBlock : BigInt(maxCallGas)
  return gas === undefined || gas > cap ? cap : gas
}

/** The output of a success. @throws CallReverted, CallFailed, ReturnDataTooLong. */
export function requireOutput(
  { status, failure, output }: CallOutcome,
  { maxReturnBytes }: Pick<CallLimits, 'maxReturnBytes'>,
): Uint8Array {
  if (status === 'halt') throw new CallFailed(failure!)
  if (output.length > maxReturnBytes) {
    throw new ReturnDataTooLong({ reverted: status === 'revert', length: output.length, limit: maxReturnBytes })
  }
  if (status === 'revert') throw new CallReverted(output)
  return output
}
