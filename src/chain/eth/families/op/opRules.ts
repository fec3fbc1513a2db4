/** Forks of the OP stack by time, in order: Regolith and later. Bedrock begins at a block. */
export const OP_FORKS = [
  'regolith',
  'canyon',
  'ecotone',
  'fjord',
  'granite',
  'holocene',
  'isthmus',
  'jovian',
  'karst',
] as const
export type OpFork = (typeof OP_FORKS)[number]

/** Rules of a chain of the OP stack beside those of Ethereum's forks. */
export interface OpRules {
  /** The first block of Bedrock. Blocks before it have another form. */
  readonly bedrockBlock: number
  /** Times of forks, Unix seconds; absent for one that is not scheduled. */
  readonly times: { readonly [fork in OpFork]?: bigint }
  /** Parameters of EIP-1559, until Holocene puts them into the header. */
  readonly elasticity: bigint
  readonly denominator: bigint
  readonly denominatorCanyon: bigint
}
