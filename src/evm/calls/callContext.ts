import type { Rules } from '../../chain/eth/forks/rules.js'
import type { AccessListEntry, Header } from '../../chain/eth/types.js'
import type { Deadline } from '../../lib/deadline.js'
import { CallFailed, CallReverted, ReturnDataTooLong } from '../errors.js'
import type { CallRequest } from './callRequest.js'

/** Limits of every call. Imported blocks have none. */
export interface CallLimits {
  /** Gas, in percent of the block's gas limit. */
  gasCapPercent: number
  /** Gas, regardless of the block's limit; the smaller of the two applies. */
  maxCallGas: number
  /** Bytes of memory: frames, return data, output, and the state that it reads and changes. */
  callMemoryBytes: number
  /** Bytes that it may return or revert with. */
  maxReturnBytes: number
}

/** How a call ended. */
export interface CallOutcome {
  status: 'success' | 'revert' | 'halt'
  /** Set if the status is not success, in geth's words. */
  failure?: string
  output: Uint8Array
  gasUsed: bigint
  /** Gas refunded at the end; the call needs this much more while it runs. */
  gasRefunded: bigint
  /** Accounts and slots that instructions accessed, if recorded. Includes those of failed frames and those that the gas
   *  did not suffice for. */
  accesses?: AccessListEntry[]
  /** Addresses that were already warm when the first frame began, 20 bytes each, if accesses are recorded. */
  warm?: Uint8Array[]
}

/** Parameters of a run in addition to the request. */
export interface RunTerms {
  gasLimit: bigint
  memoryBytes: number
  deadline: Deadline
  /** Applies the gas limits of transactions (EIP-7825). Default false. */
  isTransaction?: boolean
  /** Records what the call accesses. Default false. */
  recordsAccesses?: boolean
}

/** What calls at one block depend on. */
export interface CallContext {
  readonly header: Header
  /** Gas limit of the stored block, regardless of overrides. */
  readonly blockGasLimit: bigint
  readonly rules: Rules
  readonly chainId: bigint
  /** Wei. */
  balance(address: Uint8Array): bigint
  hasCode(address: Uint8Array): boolean
}

/** Calls with Cairn's interpreter. */
export interface DetailedCallContext extends CallContext {
  /** Runs the call and drops its changes. @throws CallFailed, CallRefused if it cannot start; CallMemoryExceeded;
   *  DeadlineExceeded */
  run(request: CallRequest, terms: RunTerms): CallOutcome
  isPrecompile(address: Uint8Array): boolean
  /** Addresses that are warm when the first frame of the call begins, judged by the state before it: 20 bytes each. */
  warmAtStart(request: CallRequest): Uint8Array[]
}

/** The gas limit of a call: the requested one, clamped to the caps. `blockGasLimit` is that of the stored block. */
export function clampGas(
  blockGasLimit: bigint,
  gas: bigint | undefined,
  { gasCapPercent, maxCallGas }: Pick<CallLimits, 'gasCapPercent' | 'maxCallGas'>,
): bigint {
  const ofBlock = (blockGasLimit * BigInt(gasCapPercent)) / 100n
  const cap = ofBlock < maxCallGas ? ofBlock : BigInt(maxCallGas)
  return gas === undefined || gas > cap ? cap : gas
}

/** The output of a successful call. @throws CallReverted, CallFailed, ReturnDataTooLong. */
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
