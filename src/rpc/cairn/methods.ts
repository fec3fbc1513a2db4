import type { Method } from '../core/method.js'
import { requiringChain } from '../core/requireChain.js'
import { addAbi } from './addAbi.js'
import { explainLogs } from './explainLogs.js'
import { findSignatures } from './findSignatures.js'
import { findTokens } from './findTokens.js'
import { getAbi } from './getAbi.js'
import { getContractSources } from './getContractSources.js'
import { getDecodedCalls } from './getDecodedCalls.js'
import { getDecodedLogs } from './getDecodedLogs.js'
import { getDecodedTransaction } from './getDecodedTransaction.js'
import { getInternalTransfers } from './getInternalTransfers.js'
import { getStatus } from './getStatus.js'
import { getStorageVariables } from './getStorageVariables.js'
import { getToken } from './getToken.js'
import { getTokenBalances } from './getTokenBalances.js'
import { getTokenHolders } from './getTokenHolders.js'
import { getTokenTransfers } from './getTokenTransfers.js'
import { listAbis } from './listAbis.js'

/** The `cairn` namespace, in the order of the reference page. */
export const CAIRN_METHODS: readonly Method[] = [
  addAbi,
  explainLogs,
  findSignatures,
  findTokens,
  getAbi,
  getContractSources,
  getDecodedCalls,
  getDecodedLogs,
  getDecodedTransaction,
  getInternalTransfers,
  getStatus,
  getStorageVariables,
  getToken,
  getTokenBalances,
  getTokenHolders,
  getTokenTransfers,
  listAbis,
].map(requiringChain)
