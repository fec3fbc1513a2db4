/** Code that a fork gives to an account, whatever it had before. */
export interface CodeChange {
  /** Unix seconds: set in the first block from then on. */
  readonly timestamp: bigint
  readonly address: Uint8Array // 20
  readonly code: Uint8Array
}

/** A contract of block rewards, from a block on. */
export interface RewardContract {
  readonly block: number
  readonly address: Uint8Array // 20
}

/** What differs between chains of Gnosis. */
export interface GnosisRules {
  /** The account, 20 bytes, that gets base fees, and from Prague on those of blobs. */
  readonly feeCollector: Uint8Array
  /** In order of their first block. */
  readonly rewardContracts: readonly RewardContract[]
  /** The contract, 20 bytes, that withdrawals are passed to. Absent: they have no effect. */
  readonly withdrawalContract?: Uint8Array
  readonly codeChanges: readonly CodeChange[]
}
