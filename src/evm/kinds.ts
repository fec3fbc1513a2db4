/** Which interpreter executes blocks and calls: Cairn's, or that of @ethereumjs, which serves as its reference. */
export const EVM_KINDS = ['cairn', 'reference'] as const
export type EvmKind = (typeof EVM_KINDS)[number]
