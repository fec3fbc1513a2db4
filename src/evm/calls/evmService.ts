import type { Deadline } from '../../lib/deadline.js'
import type { CallLimits } from './callContext.js'
import type { CallRequest } from './callRequest.js'

/** Execution of calls at any block whose state is held. Our interpreter gives outcomes at once, the reference promises them. */
export interface EvmService {
  /** What the call returns.
   *  @throws StateUnavailable, CallReverted, CallFailed, CallRefused, CallMemoryExceeded, ReturnDataTooLong;
   *  DeadlineExceeded, which the reference interpreter never does. */
  call(
    request: CallRequest,
    blockNumber: number,
    limits: CallLimits,
    deadline: Deadline,
  ): Uint8Array | Promise<Uint8Array>
  /** A gas limit with which the call succeeds, at most 1.5 % above the least, as geth's search finds it.
   *  @throws what `call` throws; DeadlineExceeded by the reference interpreter only between tries. */
  estimateGas(
    request: CallRequest,
    blockNumber: number,
    limits: CallLimits,
    deadline: Deadline,
  ): bigint | Promise<bigint>
  /** Runs a small call, so that the first real one finds the code compiled. */
  warm(): void | Promise<void>
}
