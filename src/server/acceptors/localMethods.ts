import type { Method, MethodTable } from '../../rpc/core/method.js'

/** Methods that an acceptor thread runs itself. They read the database only; what they ask of the main thread, the
 *  upstream's pending block, makes the thread pass the request. */
const LOCAL_METHODS = [
  'eth_blockNumber',
  'eth_call',
  'eth_chainId',
  'eth_estimateGas',
  'eth_gasPrice',
  'eth_getBalance',
  'eth_getBlockByHash',
  'eth_getBlockByNumber',
  'eth_getBlockReceipts',
  'eth_getCode',
  'eth_getStorageAt',
  'eth_getTransactionByHash',
  'eth_getTransactionCount',
  'eth_getTransactionReceipt',
  'net_version',
  'web3_clientVersion',
]

/** The methods of the table that an acceptor thread runs; `evm` methods only if it runs calls. */
export function localMethods(methods: MethodTable, runsCalls: boolean): MethodTable {
  const isLocal = (method: Method | undefined): method is Method =>
    method !== undefined && !method.usesSession && (method.cost === 'point' || (runsCalls && isSmall(method)))
  return new Map(
    LOCAL_METHODS.flatMap((name) => {
      const method = methods.get(name)
      return isLocal(method) ? [[name, method]] : []
    }),
  )
}

/** True for calls that may run inline. */
function isSmall({ cost, costKey }: Method): boolean {
  return cost === 'evm' && costKey !== undefined
}
