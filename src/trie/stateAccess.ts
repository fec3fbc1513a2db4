/** An account that a block reads or writes, and whether it or its slots are missing after the block. */
export interface StateAccess {
  address: Uint8Array // 20
  isDeleted: boolean
  slots: readonly { slot: Uint8Array; isDeleted: boolean }[] // 32 bytes each
}
