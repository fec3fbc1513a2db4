/** Names of the families in `ChainSpec.family`. */
export type FamilyName = 'ethereum' | 'op'
