import type { Method } from '../core/method.js'
import { requiringChain } from '../core/requireChain.js'
import { getApiLevel } from './getApiLevel.js'
import { getBlockDetails, getBlockDetailsByHash } from './getBlockDetails.js'
import { getBlockTransactions } from './getBlockTransactions.js'
import { getContractCreator } from './getContractCreator.js'
import { getInternalOperations } from './getInternalOperations.js'
import { getTransactionBySenderAndNonce } from './getTransactionBySenderAndNonce.js'
import { getTransactionError } from './getTransactionError.js'
import { hasCode } from './hasCode.js'
import { searchTransactionsAfter, searchTransactionsBefore } from './searchTransactions.js'
import { traceTransaction } from './traceTransaction.js'

/** The `ots` namespace of Otterscan, in the order of the reference page. */
export const OTS_METHODS: readonly Method[] = [
  getApiLevel,
  ...[
    hasCode,
    getBlockDetails,
    getBlockDetailsByHash,
    getBlockTransactions,
    searchTransactionsBefore,
    searchTransactionsAfter,
    getTransactionBySenderAndNonce,
    getContractCreator,
    getTransactionError,
    getInternalOperations,
    traceTransaction,
  ].map(requiringChain),
]
