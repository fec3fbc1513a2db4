import type { AccessListEntry, Authorization } from '../../chain/eth/types.js'
import { CallFailed } from '../errors.js'
import type { CallOverrides } from './overrides.js'

/** A message call as in `eth_call`. Absent fields have geth's defaults. */
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
  /** The chain id that the sender expects. */
  chainId?: bigint
  accessList?: AccessListEntry[]
  blobVersionedHashes?: Uint8Array[]
  authorizationList?: Authorization[]
  /** State and block fields that replace the stored ones. */
  overrides?: CallOverrides
}

/** Checks which members may be combined, before the chain id is checked. @throws CallFailed in geth's words */
export function requireMembersTogether(request: CallRequest): void {
  const { gasPrice, maxFeePerGas, maxPriorityFeePerGas, to, blobVersionedHashes, authorizationList } = request
  if (gasPrice !== undefined && (maxFeePerGas !== undefined || maxPriorityFeePerGas !== undefined)) {
    throw new CallFailed('both gasPrice and (maxFeePerGas or maxPriorityFeePerGas) specified')
  }
  if (to === undefined && blobVersionedHashes !== undefined) throw new CallFailed('blob transaction of type create')
  if (to === undefined && authorizationList !== undefined) {
    throw new CallFailed('EIP-7702 transaction cannot be used to create contract')
  }
}
