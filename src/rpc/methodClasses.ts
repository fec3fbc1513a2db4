/* Names that limits of API keys accept besides methods. The table has only names, so that the command line loads it
 *  without the methods; a test compares it with them. */

const WORDS = (text: string) => text.trim().split(/\s+/)

/** Classes of methods, each with its methods. Every method is in at least one, and in several if several limits apply
 *  to it: a trace of a simulated call, for example. `sql` and `replication` are separate paths. */
export const METHOD_CLASSES = {
  logs: WORDS(`eth_getLogs eth_getLogsWithCursor eth_newFilter eth_getFilterLogs cairn_getDecodedLogs cairn_explainLogs
    starknet_getEvents`),
  calls: WORDS(`eth_call eth_estimateGas eth_simulateV1 eth_createAccessList eth_fillTransaction debug_traceCall
    debug_traceBlock trace_call trace_callMany trace_rawTransaction`),
  traces: WORDS(`debug_traceTransaction debug_traceBlockByNumber debug_traceBlockByHash debug_traceBlock debug_traceCall
    debug_intermediateRoots debug_storageRangeAt debug_executionWitness trace_block trace_transaction trace_filter trace_get
    trace_call trace_callMany trace_rawTransaction trace_replayTransaction trace_replayBlockTransactions
    ots_getBlockTransactions ots_getContractCreator ots_getTransactionError ots_getInternalOperations ots_traceTransaction
    cairn_getDecodedCalls cairn_getDecodedTransaction eth_getBlockAccessList debug_getRawBlockAccessList`),
  state: WORDS(`eth_getBalance eth_getCode eth_getStorageAt eth_getStorageValues eth_getProof eth_getTransactionCount
    eth_getAccountInfo debug_accountRange debug_dumpBlock debug_storageRangeAt debug_executionWitness
    debug_getModifiedAccountsByNumber debug_getModifiedAccountsByHash debug_preimage ots_hasCode starknet_getStateUpdate`),
  blocks: WORDS(`eth_getBlockByNumber eth_getBlockByHash eth_getHeaderByNumber eth_getHeaderByHash eth_getBlockReceipts
    eth_getBlockTransactionCountByHash eth_getBlockTransactionCountByNumber eth_getUncleByBlockHashAndIndex
    eth_getUncleByBlockNumberAndIndex eth_getUncleCountByBlockHash eth_getUncleCountByBlockNumber eth_getTransactionByHash
    eth_getTransactionByBlockHashAndIndex eth_getTransactionByBlockNumberAndIndex eth_getTransactionBySenderAndNonce
    eth_getRawTransactionByHash eth_getRawTransactionByBlockHashAndIndex eth_getRawTransactionByBlockNumberAndIndex
    eth_getTransactionReceipt debug_getRawBlock debug_getRawHeader debug_getRawReceipts debug_getRawTransaction
    debug_printBlock debug_getBadBlocks ots_getBlockDetails ots_getBlockDetailsByHash ots_searchTransactionsBefore
    ots_searchTransactionsAfter ots_getTransactionBySenderAndNonce erigon_getHeaderByNumber zk_getBlockWithTxHashes
    starknet_getBlockWithTxHashes starknet_getBlockWithTxs starknet_getBlockWithReceipts starknet_getBlockTransactionCount
    starknet_getTransactionByHash starknet_getTransactionByBlockIdAndIndex starknet_getTransactionReceipt
    starknet_getTransactionStatus`),
  stream: WORDS(`eth_subscribe eth_unsubscribe eth_newFilter eth_newBlockFilter eth_newPendingTransactionFilter
    eth_getFilterChanges eth_getFilterLogs eth_uninstallFilter starknet_subscribeNewHeads starknet_unsubscribe`),
  send: WORDS('eth_sendRawTransaction eth_sendRawTransactionSync'),
  node: WORDS(`eth_blockNumber eth_chainId eth_config eth_syncing eth_capabilities eth_accounts eth_coinbase eth_mining
    eth_hashrate eth_protocolVersion eth_gasPrice eth_maxPriorityFeePerGas eth_baseFee eth_blobBaseFee eth_feeHistory
    eth_pendingTransactions net_version net_listening net_peerCount web3_clientVersion web3_sha3 txpool_content
    txpool_contentFrom txpool_inspect txpool_status ots_getApiLevel admin_nodeInfo admin_peers starknet_blockNumber
    starknet_blockHashAndNumber starknet_chainId starknet_specVersion starknet_syncing cairn_getStatus rpc_modules
    rpc_discover`),
  sql: [],
  replication: [],
} as const satisfies { readonly [name: string]: readonly string[] }

export type MethodClass = keyof typeof METHOD_CLASSES

/** Names of all classes. */
export const CLASS_NAMES = Object.keys(METHOD_CLASSES) as MethodClass[]

const NONE: readonly MethodClass[] = []

const CLASSES_OF = new Map<string, MethodClass[]>()
for (const name of CLASS_NAMES) {
  for (const method of METHOD_CLASSES[name]) {
    const classes = CLASSES_OF.get(method)
    if (classes === undefined) CLASSES_OF.set(method, [name])
    else classes.push(name)
  }
}

/** Names of all methods. */
export const METHOD_NAMES: readonly string[] = [...CLASSES_OF.keys()]

/** The classes of a method; empty for an unknown method. */
export function classesOf(method: string): readonly MethodClass[] {
  return CLASSES_OF.get(method) ?? NONE
}

/** A class that a call belongs to by its parameters, besides those of its method: a subscription to logs. */
export function classByParams(method: string, params: unknown): MethodClass | undefined {
  if (method !== 'eth_subscribe' || typeof params !== 'object' || params === null) return undefined
  const topic = Array.isArray(params) ? params[0] : (params as { name?: unknown }).name
  return topic === 'logs' ? 'logs' : undefined
}
