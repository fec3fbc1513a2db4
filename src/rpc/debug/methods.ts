import type { Method } from '../core/method.js'
import { requiringChain } from '../core/requireChain.js'
import { accountRange } from './accountRange.js'
import { dumpBlock } from './dumpBlock.js'
import { executionWitness } from './executionWitness.js'
import { getBadBlocks } from './getBadBlocks.js'
import { getModifiedAccountsByHash, getModifiedAccountsByNumber } from './getModifiedAccounts.js'
import { getRawBlock, getRawBlockAccessList, getRawHeader, getRawReceipts, getRawTransaction } from './getRaw.js'
import { intermediateRoots } from './intermediateRoots.js'
import { preimage } from './preimage.js'
import { printBlock } from './printBlock.js'
import { storageRangeAt } from './storageRangeAt.js'
import { traceBlockByHash, traceBlockByNumber } from './traceBlock.js'
import { traceCall } from './traceCall.js'
import { traceRawBlock } from './traceRawBlock.js'
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
  traceRawBlock,
  traceCall,
  intermediateRoots,
  storageRangeAt,
  accountRange,
  dumpBlock,
  getModifiedAccountsByNumber,
  getModifiedAccountsByHash,
  preimage,
  printBlock,
  getBadBlocks,
].map(requiringChain)
