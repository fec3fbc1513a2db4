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

/** Forks of Base alone, in order. It has none of the OP stack after Jovian. */
export const BASE_FORKS = ['azul', 'beryl'] as const
export type BaseFork = (typeof BASE_FORKS)[number]

/** Rules of a chain of the OP stack beside those of Ethereum's forks. */
export interface OpRules {
  /** The first block of Bedrock. Blocks before it have another form. */
  readonly bedrockBlock: number
  /** Times of forks, Unix seconds; absent for one that is not scheduled. */
  readonly times: { readonly [fork in OpFork]?: bigint }
  /** Times of the forks of Base, Unix seconds; absent on other chains. */
  readonly baseTimes?: { readonly [fork in BaseFork]?: bigint }
  /** Parameters of EIP-1559, until Holocene puts them into the header. */
  readonly elasticity: bigint
  readonly denominator: bigint
  readonly denominatorCanyon: bigint
}
