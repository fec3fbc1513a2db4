/* State changes of a block. */

/** An account after a block. */
export interface AccountChange {
  address: Uint8Array // 20
  incarnation: number
  /** Undefined when the account no longer exists; `incarnation` is then the one for a later account at this address. */
  account?: { nonce: bigint; balance: bigint; codeHash?: Uint8Array }
}

/** A storage slot after a block. */
export interface StorageChange {
  address: Uint8Array // 20
  incarnation: number
  slot: Uint8Array // 32
  value: Uint8Array // empty for zero
}

/** State changes of a block: the final value of everything that differs from before. */
export interface StateChanges {
  accounts: AccountChange[]
  storage: StorageChange[]
  /** New code with its hash. */
  codes: { hash: Uint8Array; bytes: Uint8Array }[]
}
