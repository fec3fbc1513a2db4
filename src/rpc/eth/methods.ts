import type { Method } from '../core/method.js'
import { getRawBlock } from '../debug/getRawBlock.js'
import { getRawHeader } from '../debug/getRawHeader.js'
import { getRawReceipts } from '../debug/getRawReceipts.js'
import { getRawTransaction } from '../debug/getRawTransaction.js'
import { listening } from '../net/listening.js'
import { version } from '../net/version.js'
import { clientVersion } from '../web3/clientVersion.js'
import { sha3 } from '../web3/sha3.js'
import { accounts } from './accounts.js'
import { blobBaseFee } from './blobBaseFee.js'
import { blockNumber } from './blockNumber.js'
import { call } from './call.js'
import { chainId } from './chainId.js'
import { estimateGas } from './estimateGas.js'
import { feeHistory } from './feeHistory.js'
import { gasPrice } from './gasPrice.js'
import { getBalance } from './getBalance.js'
import { getBlockByHash } from './getBlockByHash.js'
import { getBlockByNumber } from './getBlockByNumber.js'
import { getBlockReceipts } from './getBlockReceipts.js'
import { getBlockTransactionCountByHash } from './getBlockTransactionCountByHash.js'
import { getBlockTransactionCountByNumber } from './getBlockTransactionCountByNumber.js'
import { getCode } from './getCode.js'
import { getLogs } from './getLogs.js'
import { getLogsWithCursor } from './getLogsWithCursor.js'
import { getStorageAt } from './getStorageAt.js'
import { getTransactionByBlockHashAndIndex } from './getTransactionByBlockHashAndIndex.js'
import { getTransactionByBlockNumberAndIndex } from './getTransactionByBlockNumberAndIndex.js'
import { getTransactionByHash } from './getTransactionByHash.js'
import { getTransactionCount } from './getTransactionCount.js'
import { getTransactionReceipt } from './getTransactionReceipt.js'
import { getUncleByBlockHashAndIndex } from './getUncleByBlockHashAndIndex.js'
import { getUncleByBlockNumberAndIndex } from './getUncleByBlockNumberAndIndex.js'
import { getUncleCountByBlockHash } from './getUncleCountByBlockHash.js'
import { getUncleCountByBlockNumber } from './getUncleCountByBlockNumber.js'
import { maxPriorityFeePerGas } from './maxPriorityFeePerGas.js'
import { requiringChain } from './requireChain.js'
import { syncing } from './syncing.js'

/** Methods that say nothing about the chain. */
const CHAINLESS: readonly Method[] = [syncing, accounts, listening, clientVersion, sha3]

/** All methods of the Ethereum column, in the order of the reference page. */
export const ETH_METHODS: Method[] = [
  blockNumber,
  chainId,
  syncing,
  accounts,
  getBlockByNumber,
  getBlockByHash,
  getBlockReceipts,
  getBlockTransactionCountByHash,
  getBlockTransactionCountByNumber,
  getUncleByBlockHashAndIndex,
  getUncleByBlockNumberAndIndex,
  getUncleCountByBlockHash,
  getUncleCountByBlockNumber,
  getTransactionByHash,
  getTransactionByBlockHashAndIndex,
  getTransactionByBlockNumberAndIndex,
  getTransactionReceipt,
  getLogs,
  getLogsWithCursor,
  call,
  estimateGas,
  getBalance,
  getCode,
  getStorageAt,
  getTransactionCount,
  gasPrice,
  maxPriorityFeePerGas,
  blobBaseFee,
  feeHistory,
  version,
  listening,
  clientVersion,
  sha3,
  getRawBlock,
  getRawHeader,
  getRawReceipts,
  getRawTransaction,
].map((method) => (CHAINLESS.includes(method) ? method : requiringChain(method)))
