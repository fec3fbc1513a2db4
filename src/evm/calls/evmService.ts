import type { BlockAccessList } from '../../chain/eth/blockAccessList.js'
import type { Deadline } from '../../lib/deadline.js'
import type { CallLimits } from './callContext.js'
import type { CallRequest } from './callRequest.js'

/** Executes calls at any block whose state is stored. Cairn's interpreter returns outcomes synchronously, the reference
 *  returns promises. */
export interface EvmService {
  /** The return data of the call. @throws StateUnavailable, CallReverted, CallFailed, CallRefused, CallMemoryExceeded,
   *  ReturnDataTooLong; DeadlineExceeded, except with the reference interpreter. */
  call(
    request: CallRequest,
    blockNumber: number,
    limits: CallLimits,
    deadline: Deadline,
  ): Uint8Array | Promise<Uint8Array>
  /** A gas limit with which the call succeeds, at most 1.5 % above the minimum, as geth estimates it. @throws what `call`
   *  throws; with the reference interpreter DeadlineExceeded only between runs. */
  estimateGas(
    request: CallRequest,
    blockNumber: number,
    limits: CallLimits,
    deadline: Deadline,
  ): bigint | Promise<bigint>
  /** The access list of a block, found by executing it again (EIP-7928); undefined for a block before Amsterdam. @throws
   *  StateUnavailable, DeadlineExceeded */
  blockAccessList(
    blockNumber: number,
    deadline: Deadline,
  ): BlockAccessList | undefined | Promise<BlockAccessList | undefined>
  /** Runs a small call, so that the code is compiled before the first request. */
  warm(): void | Promise<void>
}
