const CAIRO = 'it needs Cairo execution, which Cairn does not have'
const STATE = 'layer-2 state is not kept, only blocks with their transactions, receipts and state updates'
const WRITES = 'layer-2 transactions are not forwarded'

/** Methods of known interfaces that Cairn omits, and why. */
const REASONS: ReadonlyMap<string, string> = new Map([
  ...[
    'starknet_call',
    'starknet_estimateFee',
    'starknet_estimateMessageFee',
    'starknet_simulateTransactions',
    'starknet_traceTransaction',
    'starknet_traceBlockTransactions',
  ].map((name) => [name, CAIRO] as const),
  ...[
    'starknet_getStorageProof',
    'starknet_getStorageAt',
    'starknet_getNonce',
    'starknet_getClass',
    'starknet_getClassAt',
    'starknet_getClassHashAt',
    'starknet_getCompiledCasm',
  ].map((name) => [name, STATE] as const),
  ...['starknet_addInvokeTransaction', 'starknet_addDeclareTransaction', 'starknet_addDeployAccountTransaction'].map(
    (name) => [name, WRITES] as const,
  ),
])

/** Why Cairn does not have a method that clients know from other nodes. */
export function reasonOfAbsence(method: string): string | undefined {
  return REASONS.get(method)
}
