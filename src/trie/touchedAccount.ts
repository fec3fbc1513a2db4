import type { StateAccount } from '../chain/eth/stateAccount.js'

/** The current version of an account that may have changed. */
export interface TouchedAccount {
  address: Uint8Array
  account: StateAccount | null
  /** Its storage was cleared before the slots were set. */
  cleared: boolean
  slots: { slot: Uint8Array; value: Uint8Array }[]
}
