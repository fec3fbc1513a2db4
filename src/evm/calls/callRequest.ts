import type { AccessListEntry, Authorization } from '../../chain/eth/types.js'
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
  /** Of the chain that the sender means. */
  chainId?: bigint
  accessList?: AccessListEntry[]
  blobVersionedHashes?: Uint8Array[]
  authorizationList?: Authorization[]
  /** State and block that the call finds instead of what is stored. */
  overrides?: CallOverrides
}
