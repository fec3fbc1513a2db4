import type { Header } from '../chain/eth/types.js'
import type { Deadline } from '../lib/deadline.js'
import { CallFailed, CallReverted } from './errors.js'
import type { CallRequest } from './service.js'

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

/** Calls at one block. `Run` is what `run` gives: an outcome, or the promise of one. */
export interface CallSite<Run extends CallOutcome | Promise<CallOutcome> = CallOutcome | Promise<CallOutcome>> {
  readonly header: Header
  /** Wei. */
  balance(address: Uint8Array): bigint
  hasCode(address: Uint8Array): boolean
  /** Runs the call; what it changes is dropped afterwards.
   *  @throws CallFailed when it cannot begin; DeadlineExceeded, where the interpreter looks at the deadline. */
  run(request: CallRequest, gasLimit: bigint, deadline: Deadline): Run
}

/** The gas limit for a call: what was asked, clamped to the percentage of the block's. */
export function clampGas(header: Header, gas: bigint | undefined, gasCapPercent: number): bigint {
  const cap = (header.gasLimit * BigInt(gasCapPercent)) / 100n
  return gas === undefined || gas > cap ? cap : gas
}

/** The output of a success. @throws CallReverted, CallFailed. */
export function requireOutput({ status, failure, output }: CallOutcome): Uint8Array {
  if (status === 'success') return output
  if (status === 'revert') throw new CallReverted(output)
  throw new CallFailed(failure!)
}
