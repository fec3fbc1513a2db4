import type { AccessListEntry, Authorization } from '../chain/eth/types.js'
import type { Deadline } from '../lib/deadline.js'

/** A message call as `eth_call` describes it; absent fields take the defaults of geth. */
export interface CallRequest {
  from?: Uint8Array // 20; the zero address
  to?: Uint8Array // 20; absent: create a contract
  gas?: bigint
  gasPrice?: bigint
  maxFeePerGas?: bigint
  maxPriorityFeePerGas?: bigint
  maxFeePerBlobGas?: bigint
  value?: bigint
  data?: Uint8Array
  nonce?: bigint
  accessList?: AccessListEntry[]
  blobVersionedHashes?: Uint8Array[]
  authorizationList?: Authorization[]
}

/** Execution and state reads at any block whose state is held. Runs in reader threads.
 *  Every method throws `StateUnavailable` when the state of that block is not held. */
export interface EvmService {
  /** What the call returns. @throws CallReverted, CallFailed, and DeadlineExceeded between transactions only: a loop
   *  that never ends is stopped by the thread that waits. */
  call(request: CallRequest, blockNumber: number, gasCapPercent: number): Promise<Uint8Array>
  /** The least gas limit with which the call succeeds, as geth's binary search finds it (within 1.5 %). */
  estimateGas(request: CallRequest, blockNumber: number, gasCapPercent: number, deadline: Deadline): Promise<bigint>
}

/** State reads by block; synchronous. `undefined` account: it does not exist then. */
export interface StateReads {
  /** Balance in wei; zero when the account does not exist. */
  balance(address: Uint8Array, blockNumber: number): bigint
  nonce(address: Uint8Array, blockNumber: number): bigint
  /** Code; no bytes when there is none. */
  code(address: Uint8Array, blockNumber: number): Uint8Array
  /** 32 bytes. `slot` is 32 bytes. */
  storage(address: Uint8Array, slot: Uint8Array, blockNumber: number): Uint8Array
}
