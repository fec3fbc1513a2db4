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
  /** Sparse state: the values before any change that became known with this block. */
  base?: BaseState
}

/** Values at the first block with state, proved by that block or a later one before which nothing changed them. Code
 *  hashes of accounts are those of `codes` or of stored code. */
export interface BaseState {
  readonly accounts: readonly {
    readonly address: Uint8Array // 20
    /** Undefined when it does not exist. */
    readonly account?: { nonce: bigint; balance: bigint; codeHash?: Uint8Array }
    /** False: its storage is empty. */
    readonly hasStorage: boolean
  }[]
  /** Slots of accounts with storage; keys and values without leading zeros. */
  readonly slots: readonly { readonly address: Uint8Array; readonly slot: Uint8Array; readonly value: Uint8Array }[]
  readonly codes: readonly { readonly hash: Uint8Array; readonly bytes: Uint8Array }[]
  /** What the trie needed, for replicas. */
  readonly used?: UsedNodes
}

/** Nodes that a partial trie did not have. */
export interface UsedNodes {
  /** Accounts, and slots of 32 bytes, on whose paths they are. */
  readonly keys: readonly { readonly address: Uint8Array; readonly slots: readonly Uint8Array[] }[]
  /** RLP. */
  readonly nodes: readonly Uint8Array[]
  /** Hashes of nodes that are known to be branches. */
  readonly branches: readonly Uint8Array[]
}
