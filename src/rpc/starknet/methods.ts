import type { Method } from '../core/method.js'
import { blockHashAndNumber } from './blockHashAndNumber.js'
import { blockNumber } from './blockNumber.js'
import { chainId } from './chainId.js'
import { getBlockTransactionCount } from './getBlockTransactionCount.js'
import { getBlockWithTxHashes } from './getBlockWithTxHashes.js'
import { specVersion } from './specVersion.js'
import { subscribeNewHeads } from './subscribeNewHeads.js'
import { syncing } from './syncing.js'
import { unsubscribe } from './unsubscribe.js'
import { zkGetBlockWithTxHashes } from './zkGetBlockWithTxHashes.js'

/** All methods of the Starknet column, in the order of the reference page. */
export const STARKNET_METHODS: Method[] = [
  zkGetBlockWithTxHashes,
  getBlockWithTxHashes,
  getBlockTransactionCount,
  blockNumber,
  blockHashAndNumber,
  chainId,
  specVersion,
  syncing,
  subscribeNewHeads,
  unsubscribe,
]
