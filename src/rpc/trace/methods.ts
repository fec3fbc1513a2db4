import type { Method } from '../core/method.js'
import { requiringChain } from '../core/requireChain.js'
import { traceBlock } from './block.js'
import { traceCall } from './call.js'
import { callMany } from './callMany.js'
import { traceFilter } from './filter.js'
import { rawTransaction } from './rawTransaction.js'
import { replayBlockTransactions, replayTransaction } from './replay.js'
import { get, traceTransaction } from './transaction.js'

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
