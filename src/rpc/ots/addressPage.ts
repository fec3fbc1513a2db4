import type { AppearanceRange } from '../../index/addresses/finder.js'
import type { RpcContext } from '../core/context.js'
import { SERVER_ERROR } from '../core/errors.js'
import type { ErrorDoc, JsonSchema } from '../core/method.js'
import { indexOrDecimal, integerBetween, required } from '../core/params.js'
import { accountParam } from '../eth/commonParams.js'
import { createReceiptFormat } from '../eth/format/receipt.js'
import { formatTransaction } from '../eth/format/transaction.js'
import { QUERY_TIMED_OUT } from '../eth/logErrors.js'

/* The pages of an address, as Otterscan requests them (otterscan/otterscan, SearchController; erigontech/erigon,
 *  otterscan_search_v3.go). */

/** Otterscan requests 25. Erigon's limit. */
const MAX_PAGE = 25

/** Error of methods that need the address index. */
export const ADDRESS_INDEX_MISSING: ErrorDoc = {
  code: SERVER_ERROR,
  message: "the database has no address index; 'cairn reindex' makes it, and --address-index on keeps it",
}

/** The same error for methods that need the index only without state. */
export const NEITHER_STATE_NOR_INDEX: ErrorDoc = {
  ...ADDRESS_INDEX_MISSING,
  when: 'the database has neither state (`--state none`) nor the index',
}

/** Error of a search in the index. */
export const SEARCH_TIMED_OUT: ErrorDoc = { ...QUERY_TIMED_OUT, when: 'the search takes longer than `--logs-timeout`' }

/** Parameters of both searches. */
export const SEARCH_PARAMS = [
  accountParam,
  required(
    'blockNumber',
    indexOrDecimal,
    'number of the block where the search begins, itself excluded; 0: the end of the chain',
  ),
  required(
    'pageSize',
    integerBetween(1, MAX_PAGE),
    'transactions of a page; it may have more, since no block is divided',
  ),
] as const

/** Errors of both searches. */
export const SEARCH_ERRORS: readonly ErrorDoc[] = [ADDRESS_INDEX_MISSING, SEARCH_TIMED_OUT]

/** The content of a page, for the reference. */
export const SEARCH_DESCRIPTION =
  'Transactions in which the address is the sender, the recipient or the created contract, is called, created or the beneficiary of ' +
  'a SELFDESTRUCT by a call of the transaction, or is a party of a token transfer in a log (ERC-20, ERC-721, ERC-1155, EIP-7708). ' +
  'They are listed from the newest to the oldest; receipts have `timestamp`. `internalCalls` is false where blocks, or ' +
  'earlier ones, are not executed (`--state none`): calls within their transactions are then unknown. Blocks that are not available are not searched.'

const OBJECTS: JsonSchema = { type: 'array', items: { type: 'object' } }

/** The result of both searches. */
export const SEARCH_RESULT = {
  name: 'page',
  schema: {
    type: 'object',
    properties: {
      txs: OBJECTS,
      receipts: OBJECTS,
      firstPage: { type: 'boolean' },
      lastPage: { type: 'boolean' },
      internalCalls: { type: 'boolean' },
    },
    required: ['txs', 'receipts', 'firstPage', 'lastPage', 'internalCalls'],
  },
}

/** The transactions of an address in a range of blocks, in the order of the search: whole blocks, until it has
 *  `pageSize` or more. @throws AddressIndexMissing, DeadlineExceeded */
export function findTransactions(
  { appearances, chain, deadline }: RpcContext,
  address: Uint8Array,
  { pageSize, ...range }: Omit<AppearanceRange, 'deadline'> & { pageSize: number },
) {
  const txs: object[] = []
  const receipts: object[] = []
  let hasMore = false
  appearances.search(address, { ...range, deadline }, ({ blockNumber, indexes }) => {
    hasMore = txs.length >= pageSize
    if (hasMore) return false
    const block = chain.blockByNumber(blockNumber)!
    for (const index of range.newestFirst ? indexes.toReversed() : indexes) {
      const transaction = chain.transaction(block, index)!
      txs.push(formatTransaction(transaction, block, index))
      const receipt = createReceiptFormat(chain, block)(chain.receipt(block, index)!, transaction, index)
      receipts.push({ ...receipt, timestamp: Number(block.header.timestamp) })
    }
    return true
  })
  const coverage = chain.coverage()
  return { txs, receipts, hasMore, internalCalls: coverage !== undefined && coverage.stateFirst === coverage.first }
}
