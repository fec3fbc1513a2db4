import { defineMethod } from '../core/method.js'
import { findTransactions, SEARCH_DESCRIPTION, SEARCH_ERRORS, SEARCH_PARAMS, SEARCH_RESULT } from './addressPage.js'

export const searchTransactionsBefore = defineMethod({
  name: 'ots_searchTransactionsBefore',
  summary: 'A page of the transactions of an address before a block.',
  description: `${SEARCH_DESCRIPTION} A block number of 0 begins at the newest block.`,
  cost: 'scan',
  classes: ['blocks'],
  costKey: ([address]) => (typeof address === 'string' ? address : undefined),
  params: SEARCH_PARAMS,
  result: SEARCH_RESULT,
  errors: SEARCH_ERRORS,
  handler: (context, address, blockNumber, pageSize) => {
    const toBlock = blockNumber === 0 ? Number.MAX_SAFE_INTEGER : blockNumber - 1
    const range = { fromBlock: 0, toBlock, newestFirst: true, pageSize }
    const { hasMore, ...page } = findTransactions(context, address, range)
    return { ...page, firstPage: blockNumber === 0, lastPage: !hasMore }
  },
})

export const searchTransactionsAfter = defineMethod({
  name: 'ots_searchTransactionsAfter',
  summary: 'A page of the transactions of an address after a block.',
  description: `${SEARCH_DESCRIPTION} The page has the oldest ones; a block number of 0 begins at the oldest block.`,
  cost: 'scan',
  classes: ['blocks'],
  costKey: ([address]) => (typeof address === 'string' ? address : undefined),
  params: SEARCH_PARAMS,
  result: SEARCH_RESULT,
  errors: SEARCH_ERRORS,
  handler: (context, address, blockNumber, pageSize) => {
    const fromBlock = blockNumber === 0 ? 0 : blockNumber + 1
    const range = { fromBlock, toBlock: Number.MAX_SAFE_INTEGER, newestFirst: false, pageSize }
    const { hasMore, ...page } = findTransactions(context, address, range)
    return {
      ...page,
      txs: page.txs.reverse(),
      receipts: page.receipts.reverse(),
      firstPage: !hasMore,
      lastPage: blockNumber === 0,
    }
  },
})
