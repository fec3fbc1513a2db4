import type { Method } from '../core/method.js'
import { requiringChain } from '../core/requireChain.js'
import { accounts } from './accounts.js'
import { baseFee } from './baseFee.js'
import { blobBaseFee } from './blobBaseFee.js'
import { blockNumber } from './blockNumber.js'
import { call } from './call.js'
import { capabilities } from './capabilities.js'
import { chainId } from './chainId.js'
import { coinbase } from './coinbase.js'
import { config } from './config.js'
import { createAccessList } from './createAccessList.js'
import { estimateGas } from './estimateGas.js'
import { feeHistory } from './feeHistory.js'
import { fillTransaction } from './fillTransaction.js'
import { gasPrice } from './gasPrice.js'
import { getAccountInfo } from './getAccountInfo.js'
import { getBalance } from './getBalance.js'
import { getBlockAccessList } from './getBlockAccessList.js'
import { getBlockByHash } from './getBlockByHash.js'
import { getBlockByNumber } from './getBlockByNumber.js'
import { getBlockReceipts } from './getBlockReceipts.js'
import { getBlockTransactionCountByHash } from './getBlockTransactionCountByHash.js'
import { getBlockTransactionCountByNumber } from './getBlockTransactionCountByNumber.js'
import { getCode } from './getCode.js'
import { getFilterChanges } from './getFilterChanges.js'
import { getFilterLogs } from './getFilterLogs.js'
import { getHeaderByHash, getHeaderByNumber } from './getHeader.js'
import { getLogs } from './getLogs.js'
import { getLogsWithCursor } from './getLogsWithCursor.js'
import { getProof } from './getProof.js'
import {
  getRawTransactionByBlockHashAndIndex,
  getRawTransactionByBlockNumberAndIndex,
  getRawTransactionByHash,
} from './getRawTransaction.js'
import { getStorageAt } from './getStorageAt.js'
import { getStorageValues } from './getStorageValues.js'
import { getTransactionByBlockHashAndIndex } from './getTransactionByBlockHashAndIndex.js'
import { getTransactionByBlockNumberAndIndex } from './getTransactionByBlockNumberAndIndex.js'
import { getTransactionByHash } from './getTransactionByHash.js'
import { getTransactionBySenderAndNonce } from './getTransactionBySenderAndNonce.js'
import { getTransactionCount } from './getTransactionCount.js'
import { getTransactionReceipt } from './getTransactionReceipt.js'
import { getUncleByBlockHashAndIndex } from './getUncleByBlockHashAndIndex.js'
import { getUncleByBlockNumberAndIndex } from './getUncleByBlockNumberAndIndex.js'
import { getUncleCountByBlockHash } from './getUncleCountByBlockHash.js'
import { getUncleCountByBlockNumber } from './getUncleCountByBlockNumber.js'
import { hashrate } from './hashrate.js'
import { maxPriorityFeePerGas } from './maxPriorityFeePerGas.js'
import { mining } from './mining.js'
import { newBlockFilter } from './newBlockFilter.js'
import { newFilter } from './newFilter.js'
import { newPendingTransactionFilter } from './newPendingTransactionFilter.js'
import { pendingTransactions } from './pendingTransactions.js'
import { protocolVersion } from './protocolVersion.js'
import { sendRawTransaction } from './sendRawTransaction.js'
import { sendRawTransactionSync } from './sendRawTransactionSync.js'
import { simulateV1 } from './simulateV1.js'
import { subscribe } from './subscribe.js'
import { syncing } from './syncing.js'
import { uninstallFilter } from './uninstallFilter.js'
import { unsubscribe } from './unsubscribe.js'

/** The `eth` namespace, in the order of the reference page. */
export const ETH_METHODS: readonly Method[] = [
  blockNumber,
  chainId,
  config,
  syncing,
  capabilities,
  accounts,
  coinbase,
  mining,
  hashrate,
  protocolVersion,
  getBlockByNumber,
  getBlockByHash,
  getHeaderByNumber,
  getHeaderByHash,
  getBlockReceipts,
  getBlockAccessList,
  getBlockTransactionCountByHash,
  getBlockTransactionCountByNumber,
  getUncleByBlockHashAndIndex,
  getUncleByBlockNumberAndIndex,
  getUncleCountByBlockHash,
  getUncleCountByBlockNumber,
  getTransactionByHash,
  getTransactionByBlockHashAndIndex,
  getTransactionByBlockNumberAndIndex,
  getTransactionBySenderAndNonce,
  getRawTransactionByHash,
  getRawTransactionByBlockHashAndIndex,
  getRawTransactionByBlockNumberAndIndex,
  getTransactionReceipt,
  getLogs,
  getLogsWithCursor,
  call,
  estimateGas,
  simulateV1,
  createAccessList,
  fillTransaction,
  getBalance,
  getCode,
  getStorageAt,
  getStorageValues,
  getProof,
  getTransactionCount,
  getAccountInfo,
  gasPrice,
  maxPriorityFeePerGas,
  baseFee,
  blobBaseFee,
  feeHistory,
  pendingTransactions,
  sendRawTransaction,
  sendRawTransactionSync,
  subscribe,
  unsubscribe,
  newFilter,
  newBlockFilter,
  newPendingTransactionFilter,
  getFilterChanges,
  getFilterLogs,
  uninstallFilter,
].map(requiringChain)
