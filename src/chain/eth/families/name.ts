/** Names of the families in `ChainSpec.family`. */
export type FamilyName = 'ethereum' | 'op' | 'qbft' | 'ibft2' | 'clique' | 'gnosis'
