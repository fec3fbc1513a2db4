import type { Method } from '../core/method.js'
import { requiringChain } from '../core/requireChain.js'
import { executionWitness } from './executionWitness.js'
import { getRawBlock } from './getRawBlock.js'
import { getRawBlockAccessList } from './getRawBlockAccessList.js'
import { getRawHeader } from './getRawHeader.js'
import { getRawReceipts } from './getRawReceipts.js'
import { getRawTransaction } from './getRawTransaction.js'
import { traceBlockByHash } from './traceBlockByHash.js'
import { traceBlockByNumber } from './traceBlockByNumber.js'
import { traceCall } from './traceCall.js'
import { traceTransaction } from './traceTransaction.js'

/** The `debug` namespace, in the order of the reference page. */
export const DEBUG_METHODS: readonly Method[] = [
  getRawBlock,
  getRawHeader,
  getRawReceipts,
  getRawTransaction,
  getRawBlockAccessList,
  executionWitness,
  traceTransaction,
  traceBlockByNumber,
  traceBlockByHash,
  traceCall,
].map(requiringChain)
