import type { Method } from '../core/method.js'
import { blockHashAndNumber } from './blockHashAndNumber.js'
import { blockNumber } from './blockNumber.js'
import { chainId } from './chainId.js'
import { getBlockWithReceipts, getBlockWithTxHashes, getBlockWithTxs } from './getBlock.js'
import { getBlockTransactionCount } from './getBlockTransactionCount.js'
import { getEvents } from './getEvents.js'
import { getStateUpdate } from './getStateUpdate.js'
import { getTransactionByBlockIdAndIndex } from './getTransactionByBlockIdAndIndex.js'
import { getTransactionByHash } from './getTransactionByHash.js'
import { getTransactionReceipt } from './getTransactionReceipt.js'
import { getTransactionStatus } from './getTransactionStatus.js'
import { specVersion } from './specVersion.js'
import { subscribeNewHeads } from './subscribeNewHeads.js'
import { syncing } from './syncing.js'
import { unsubscribe } from './unsubscribe.js'
import { zkGetBlockWithTxHashes } from './zkGetBlockWithTxHashes.js'

/** All methods of the Starknet column, in the order of the reference page. */
export const STARKNET_METHODS: Method[] = [
  zkGetBlockWithTxHashes,
  getBlockWithTxHashes,
  getBlockWithTxs,
  getBlockWithReceipts,
  getBlockTransactionCount,
  getTransactionByHash,
  getTransactionByBlockIdAndIndex,
  getTransactionReceipt,
  getTransactionStatus,
  getStateUpdate,
  getEvents,
  blockNumber,
  blockHashAndNumber,
  chainId,
  specVersion,
  syncing,
  subscribeNewHeads,
  unsubscribe,
]
