import type { Method } from '../core/method.js'
import { requiringChain } from '../core/requireChain.js'
import { getAccountInfo, getBalance, getCode, getTransactionCount } from './accountState.js'
import { accounts } from './accounts.js'
import { blockNumber } from './blockNumber.js'
import { call } from './call.js'
import { capabilities } from './capabilities.js'
import { chainId } from './chainId.js'
import { config } from './config.js'
import { createAccessList } from './createAccessList.js'
import { estimateGas } from './estimateGas.js'
import { feeHistory } from './feeHistory.js'
import { fillTransaction } from './fillTransaction.js'
import {
  getFilterChanges,
  getFilterLogs,
  newBlockFilter,
  newFilter,
  newPendingTransactionFilter,
  uninstallFilter,
} from './filters.js'
import { baseFee, blobBaseFee, gasPrice, maxPriorityFeePerGas } from './gasPrice.js'
import { getBlockByHash, getBlockByNumber } from './getBlock.js'
import { getBlockAccessList } from './getBlockAccessList.js'
import { getBlockTransactionCountByHash, getBlockTransactionCountByNumber } from './getBlockTransactionCount.js'
import { getHeaderByHash, getHeaderByNumber } from './getHeader.js'
import { getLogs } from './getLogs.js'
import { getLogsWithCursor } from './getLogsWithCursor.js'
import { getProof } from './getProof.js'
import {
  getRawTransactionByBlockHashAndIndex,
  getRawTransactionByBlockNumberAndIndex,
  getRawTransactionByHash,
} from './getRawTransaction.js'
import { getBlockReceipts, getTransactionReceipt } from './getReceipts.js'
import { getStorageAt } from './getStorageAt.js'
import { getStorageValues } from './getStorageValues.js'
import {
  getTransactionByBlockHashAndIndex,
  getTransactionByBlockNumberAndIndex,
  getTransactionByHash,
} from './getTransaction.js'
import { getTransactionBySenderAndNonce } from './getTransactionBySenderAndNonce.js'
import {
  getUncleByBlockHashAndIndex,
  getUncleByBlockNumberAndIndex,
  getUncleCountByBlockHash,
  getUncleCountByBlockNumber,
} from './getUncle.js'
import { coinbase, hashrate, mining } from './mining.js'
import { pendingTransactions } from './pendingTransactions.js'
import { protocolVersion } from './protocolVersion.js'
import { sendRawTransaction } from './sendRawTransaction.js'
import { sendRawTransactionSync } from './sendRawTransactionSync.js'
import { simulateV1 } from './simulateV1.js'
import { subscribe, unsubscribe } from './subscribe.js'
import { syncing } from './syncing.js'

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
