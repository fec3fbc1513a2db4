/** Which interpreter executes blocks and calls: our own, or that of @ethereumjs, which ours is compared with. */
export const EVM_KINDS = ['cairn', 'reference'] as const
export type EvmKind = (typeof EVM_KINDS)[number]
