/** Rules of QBFT and IBFT 2.0. */
export interface BftRules {
  /** The base fee is always zero. */
  readonly zeroBaseFee: boolean
  /** Votes count until the next block whose number is a multiple of this. */
  readonly epoch: number
  /** The rules of GoQuorum where they differ from Besu's (`config.isQuorum`): any change of the gas limit, votes in the
   *  blocks that end an epoch, a beneficiary that instructions do not read, validators one block after a transition. */
  readonly isGoQuorum: boolean
  /** In order; the first begins at block 0. */
  readonly periods: readonly BftPeriod[]
}

/** What holds from a block on. */
export interface BftPeriod {
  readonly block: number
  /** The contract that names the validators, 20 bytes. Absent: headers do. */
  readonly validatorContract?: Uint8Array
  /** Wei that each block adds to the beneficiary's balance. */
  readonly blockReward: bigint
  /** The account that gets fees and rewards, 20 bytes. Absent: the proposer. */
  readonly beneficiary?: Uint8Array
  /** Validators that replace those before at its first block, 20 bytes each, in ascending order. */
  readonly validators?: readonly Uint8Array[]
}
