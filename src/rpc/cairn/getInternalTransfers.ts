import { PARITY_TYPES, parityTypeOf } from '../../chain/eth/callOpcodes.js'
import { deadlineAfter } from '../../lib/deadline.js'
import { formatData, formatQuantity } from '../../lib/hex.js'
import type { RpcContext } from '../core/context.js'
import { SERVER_ERROR } from '../core/errors.js'
import { defineMethod, type ErrorDoc } from '../core/method.js'
import { objectSchema } from '../core/objectSchema.js'
import {
  address,
  blockNumberOrTag,
  hash32,
  integerBetween,
  maybe,
  oneOf,
  quantity,
  required,
  text,
} from '../core/params.js'
import { strictObject } from '../core/strictObject.js'
import { NO_FINALITY, RANGE_BEYOND_HEAD, REVERSED_RANGE } from '../eth/logErrors.js'
import { resolveRange } from '../eth/resolveFilter.js'
import { ADDRESS_INDEX_MISSING, SEARCH_TIMED_OUT } from '../ots/addressPage.js'
import { type InternalTransfer, readInternalTransfers } from './internalTransferPage.js'
import { cursorErrors, decodePageCursor, encodePageCursor } from './pageCursor.js'

// A page ends after this time even if it is not full, well before the deadline of a search.
const SLICE_MS = 2_000
const MAX_PAGE = 10_000
const PAGE = 100

const filter = strictObject(
  {
    account: address,
    fromBlock: maybe(blockNumberOrTag),
    toBlock: maybe(blockNumberOrTag),
    order: maybe(oneOf(['newest', 'oldest'])),
    cursor: maybe(text),
    limit: maybe(integerBetween(1, MAX_PAGE)),
  },
  { title: 'internal transfer filter' },
)

const TRACE_INDEX_MISSING: ErrorDoc = {
  code: SERVER_ERROR,
  message: "the database has no trace index; 'cairn reindex --traces' makes it",
}

const TRANSFER_SCHEMA = objectSchema('InternalTransfer', {
  blockNumber: quantity.schema,
  blockHash: hash32.schema,
  blockTimestamp: quantity.schema,
  transactionHash: hash32.schema,
  transactionIndex: quantity.schema,
  transferIndex: quantity.schema,
  traceAddress: { type: 'array', items: { type: 'integer', minimum: 0 } },
  type: { type: 'string', enum: PARITY_TYPES },
  from: address.schema,
  to: address.schema,
  value: quantity.schema,
})

export const getInternalTransfers = defineMethod({
  name: 'cairn_getInternalTransfers',
  summary: 'Ether that contracts sent to an account or that it sent as a contract, page by page.',
  description:
    'A Cairn extension, from the trace index (`--traces on`) and the address index. Calls, creations and SELFDESTRUCTs below the ' +
    'message of a transaction that move ether from or to the account and take effect, as `v_native_transfers` of SQL has them with ' +
    '`depth` above 0. `transferIndex` counts the transfers of a block, those of messages too; `traceAddress` is that of the `trace_` ' +
    'methods. Without `fromBlock` the range begins with the first stored block. The next call repeats the filter with the cursor of ' +
    'the page before, until `cursor` is null. A page has at most `limit` entries and may be empty: it also ends after about two ' +
    'seconds. All pages are of the same blocks, up to `toBlock` of the first page.',
  cost: 'scan',
  classes: ['traces'],
  params: [
    required(
      'filter',
      filter,
      '`account`, `fromBlock` to `toBlock` (default: all blocks), `order`: `newest` (default) or `oldest` first, `cursor`, `limit` ' +
        '(default 100, at most 10,000)',
    ),
  ],
  result: {
    name: 'page',
    schema: objectSchema('InternalTransferPage', {
      transfers: { type: 'array', items: TRANSFER_SCHEMA },
      cursor: { type: ['string', 'null'] },
      toBlock: quantity.schema,
    }),
  },
  errors: [
    ...cursorErrors(0),
    REVERSED_RANGE,
    RANGE_BEYOND_HEAD,
    NO_FINALITY,
    TRACE_INDEX_MISSING,
    ADDRESS_INDEX_MISSING,
    SEARCH_TIMED_OUT,
  ],
  handler: (context, { account, cursor: cursorText, limit = PAGE, order = 'newest', fromBlock, toBlock }) => {
    const { chain, limits, traceIndex } = context
    const scope = {
      method: 'cairn_getInternalTransfers',
      argument: 0,
      query: [formatData(account), order, fromBlock, toBlock],
    }
    const cursor = cursorText === undefined ? undefined : decodePageCursor(cursorText, scope, context)
    traceIndex.requireComplete()
    const first = chain.coverage()?.first ?? 0
    const range = resolveRange(chain, { fromBlock: fromBlock ?? first, toBlock: cursor?.toBlock ?? toBlock })
    const [blockNumber, transferIndex] = (cursor?.place ?? []) as number[]
    const { transfers, next } = readInternalTransfers(context, account, {
      ...range,
      newestFirst: order === 'newest',
      from: cursor && { blockNumber, transferIndex },
      limit,
      sliceEnds: deadlineAfter(Math.min(SLICE_MS, limits.logsTimeoutMs / 2)),
    })
    const place = next && [next.blockNumber, next.transferIndex]
    return {
      transfers: transfers.map((transfer) => formatTransfer(context, transfer)),
      cursor: place === undefined ? null : encodePageCursor({ toBlock: range.toBlock, place }, scope, context),
      toBlock: formatQuantity(range.toBlock),
    }
  },
})

function formatTransfer(
  { traceIndex }: RpcContext,
  { block, transactionHash, transactionIndex, transferIndex, placed }: InternalTransfer,
) {
  const { call, traceAddress } = placed
  const { header, hash } = block
  return {
    blockNumber: formatQuantity(header.number),
    blockHash: formatData(hash),
    blockTimestamp: formatQuantity(header.timestamp),
    transactionHash: formatData(transactionHash),
    transactionIndex: formatQuantity(transactionIndex),
    transferIndex: formatQuantity(transferIndex),
    traceAddress,
    type: parityTypeOf(call),
    from: formatData(traceIndex.addressOf(call.from)),
    to: formatData(traceIndex.addressOf(call.to)),
    value: formatQuantity(call.value!),
  }
}
