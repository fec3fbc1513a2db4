import { TOKEN_KINDS } from '../../decoding/tokenTransfers.js'
import { deadlineAfter } from '../../lib/deadline.js'
import { formatData, formatQuantity } from '../../lib/hex.js'
import type { PlacedTransfer } from '../../tokens/transferReader.js'
import { defineMethod } from '../core/method.js'
import { objectSchema } from '../core/objectSchema.js'
import {
  address,
  arrayOf,
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
import { LOGS_UNAVAILABLE, NO_FINALITY, RANGE_BEYOND_HEAD, REVERSED_RANGE } from '../eth/logErrors.js'
import { resolveRange } from '../eth/resolveFilter.js'
import { cursorErrors, decodePageCursor, encodePageCursor } from './pageCursor.js'
import { KIND_SCHEMA, optionalHex, QUANTITY_OR_NULL, TOKEN_ADDRESS_SCHEMA } from './tokenParts.js'

// A page ends after this time even if it is not full, well before the deadline of a log query.
const SLICE_MS = 2_000
const MAX_PAGE = 10_000
const PAGE = 100

const filter = strictObject(
  {
    token: maybe(address),
    account: maybe(address),
    fromBlock: maybe(blockNumberOrTag),
    toBlock: maybe(blockNumberOrTag),
    kinds: maybe(arrayOf(oneOf(TOKEN_KINDS))),
    order: maybe(oneOf(['newest', 'oldest'])),
    cursor: maybe(text),
    limit: maybe(integerBetween(1, MAX_PAGE)),
  },
  { title: 'token transfer filter' },
)

const TRANSFER_SCHEMA = objectSchema('TokenTransfer', {
  blockNumber: quantity.schema,
  blockHash: hash32.schema,
  blockTimestamp: quantity.schema,
  transactionHash: hash32.schema,
  transactionIndex: quantity.schema,
  logIndex: quantity.schema,
  batchIndex: quantity.schema,
  token: TOKEN_ADDRESS_SCHEMA,
  kind: KIND_SCHEMA,
  from: address.schema,
  to: address.schema,
  id: QUANTITY_OR_NULL,
  value: quantity.schema,
})

export const getTokenTransfers = defineMethod({
  name: 'cairn_getTokenTransfers',
  summary: 'Token transfers of a contract, of an account, or of both, page by page.',
  description:
    'A Cairn extension. Transfers are `Transfer` of ERC-20 and ERC-721, `TransferSingle` and `TransferBatch` of ' +
    'ERC-1155; a batch is one entry per id, with `batchIndex`. Logs of these events that are no encoding of the ' +
    'standard are left out. Without `fromBlock` the range begins with the first stored block. The next call ' +
    'repeats the filter with the cursor of the page before, until `cursor` is null. A page has at most `limit` ' +
    'entries and may be empty: it also ends after about two seconds. All pages are of the same blocks, up to ' +
    "`toBlock` of the first page. Ether's own logs (EIP-7708) are those of the token " +
    '`0xfffffffffffffffffffffffffffffffffffffffe`.',
  cost: 'scan',
  classes: ['logs'],
  params: [
    required(
      'filter',
      filter,
      '`token`, `account` (sender or receiver), `fromBlock` to `toBlock` (default: all blocks), `kinds`: a list of `erc20`, `erc721` ' +
        'and `erc1155`, `order`: `newest` (default) or `oldest` first, `cursor`, `limit` (default 100, at most 10,000)',
    ),
  ],
  result: {
    name: 'page',
    schema: objectSchema('TokenTransferPage', {
      transfers: { type: 'array', items: TRANSFER_SCHEMA },
      cursor: { type: ['string', 'null'] },
      toBlock: quantity.schema,
    }),
  },
  errors: [...cursorErrors(0), REVERSED_RANGE, RANGE_BEYOND_HEAD, NO_FINALITY, LOGS_UNAVAILABLE],
  handler: (context, { cursor: cursorText, limit = PAGE, order = 'newest', fromBlock, toBlock, ...wanted }) => {
    const { chain, limits } = context
    const { token, account, kinds } = wanted
    const query = [optionalHex(token), optionalHex(account), kinds, order, fromBlock, toBlock]
    const scope = { method: 'cairn_getTokenTransfers', argument: 0, query }
    const cursor = cursorText === undefined ? undefined : decodePageCursor(cursorText, scope, context)
    const first = chain.coverage()?.first ?? 0
    const range = resolveRange(chain, { fromBlock: fromBlock ?? first, toBlock: cursor?.toBlock ?? toBlock })
    const [blockNumber, logIndex, batchIndex] = (cursor?.place ?? []) as number[]
    const page = context.tokens().transfers.page(
      { ...wanted, ...range },
      {
        descending: order === 'newest',
        from: cursor && { blockNumber, logIndex, batchIndex },
        limit,
        sliceEnds: deadlineAfter(Math.min(SLICE_MS, limits.logsTimeoutMs / 2)),
      },
    )
    const { next } = page
    const place = next && [next.blockNumber, next.logIndex, next.batchIndex]
    return {
      transfers: page.transfers.map(formatTransfer),
      cursor: place === undefined ? null : encodePageCursor({ toBlock: range.toBlock, place }, scope, context),
      toBlock: formatQuantity(range.toBlock),
    }
  },
})

function formatTransfer({ position, batchIndex, token, kind, from, to, id, value }: PlacedTransfer) {
  return {
    blockNumber: formatQuantity(position.blockNumber),
    blockHash: formatData(position.blockHash),
    blockTimestamp: formatQuantity(position.blockTimestamp),
    transactionHash: formatData(position.transactionHash),
    transactionIndex: formatQuantity(position.transactionIndex),
    logIndex: formatQuantity(position.logIndex),
    batchIndex: formatQuantity(batchIndex),
    token: formatData(token),
    kind,
    from: formatData(from),
    to: formatData(to),
    id: id === undefined ? null : formatQuantity(id),
    value: formatQuantity(value),
  }
}
