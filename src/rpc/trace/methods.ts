import type { Method } from '../core/method.js'
import { requiringChain } from '../core/requireChain.js'
import { traceBlock } from './block.js'
import { traceCall } from './call.js'
import { callMany } from './callMany.js'
import { traceFilter } from './filter.js'
import { get } from './get.js'
import { rawTransaction } from './rawTransaction.js'
import { replayBlockTransactions } from './replayBlockTransactions.js'
import { replayTransaction } from './replayTransaction.js'
import { traceTransaction } from './transaction.js'

/** The `trace` namespace of OpenEthereum, in the order of the reference page. */
export const TRACE_METHODS: readonly Method[] = [
  traceBlock,
  traceTransaction,
  traceFilter,
  get,
  traceCall,
  callMany,
  rawTransaction,
  replayTransaction,
  replayBlockTransactions,
].map(requiringChain)
