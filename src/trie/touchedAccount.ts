import type { StateAccount } from '../chain/eth/stateAccount.js'

/** An account that may have changed, as it is now. */
export interface TouchedAccount {
  address: Uint8Array
  account: StateAccount | null
  /** Its storage was emptied before the slots were set. */
  cleared: boolean
  slots: { slot: Uint8Array; value: Uint8Array }[]
}
