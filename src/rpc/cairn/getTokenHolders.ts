import { formatData, formatQuantity } from '../../lib/hex.js'
import type { Holding } from '../../tokens/holders.js'
import { HEADER_NOT_FOUND } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { objectSchema } from '../core/objectSchema.js'
import { address, blockId, integerBetween, maybe, optional, quantity, required, text } from '../core/params.js'
import { strictObject } from '../core/strictObject.js'
import { cursorErrors, decodePageCursor, encodePageCursor } from './pageCursor.js'
import {
  BALANCE_SCHEMAS,
  formatBalance,
  ifKnown,
  KIND_SCHEMA,
  optionalHex,
  QUANTITY_OR_NULL,
  resolveTokenBlocks,
  SUM_ERRORS,
  TOKEN_ADDRESS_SCHEMA,
  tokenCalls,
  withinBounds,
} from './tokenParts.js'

const MAX_PAGE = 10_000
const PAGE = 100

const options = strictObject(
  { block: maybe(blockId), cursor: maybe(text), limit: maybe(integerBetween(1, MAX_PAGE)) },
  { title: 'token holder options' },
)

export const getTokenHolders = defineMethod({
  name: 'cairn_getTokenHolders',
  summary: 'Holders of a token after a block, from its transfers.',
  description:
    'A Cairn extension. ERC-20: balances, the largest first. ERC-721: the owner of each id, the receiver of its ' +
    'last transfer. ERC-1155: the balances of each id. `count` is the number of entries on all pages. `isComplete` ' +
    'is false if the logs take more from an account than they gave it: the token also changes balances without a ' +
    'transfer log. `balanceOf` is the answer of the contract after the block (of ERC-721: 1 if `ownerOf` the id is ' +
    'the holder, else 0), null if the call fails or needs more than 500,000 gas, without state, and where sparse ' +
    'state does not know it; `matches` says whether both are equal. Logs count from `fromBlock` on, the first ' +
    'stored block. Each page adds up all transfers of the token again unless it has at most 100,000 holders.',
  cost: 'scan',
  classes: ['logs', 'calls'],
  params: [
    required('token', address, 'address of the contract'),
    optional(
      'options',
      options,
      '`block` (default `latest`), `cursor`, `limit` (default 100, at most 10,000)',
      {} as ReturnType<typeof options.decode>,
    ),
  ],
  result: {
    name: 'page',
    schema: objectSchema('TokenHolderPage', {
      holders: {
        type: 'array',
        items: objectSchema('TokenHolder', {
          holder: TOKEN_ADDRESS_SCHEMA,
          kind: KIND_SCHEMA,
          id: QUANTITY_OR_NULL,
          ...BALANCE_SCHEMAS,
        }),
      },
      count: quantity.schema,
      isComplete: { type: 'boolean' },
      cursor: { type: ['string', 'null'] },
      fromBlock: quantity.schema,
      blockNumber: quantity.schema,
    }),
  },
  errors: [...cursorErrors(1), ...SUM_ERRORS, HEADER_NOT_FOUND],
  handler: (context, token, { block = 'latest', cursor: cursorText, limit = PAGE }) => {
    const { chain, deadline } = context
    const scope = {
      method: 'cairn_getTokenHolders',
      argument: 1,
      query: [optionalHex(token), typeof block === 'object' ? optionalHex(block.hash) : block],
    }
    const cursor = cursorText === undefined ? undefined : decodePageCursor(cursorText, scope, context)
    const blocks = resolveTokenBlocks(chain, cursor?.toBlock ?? block)
    const { fromBlock, toBlock } = blocks
    const { holdings, isComplete } = withinBounds(() => context.tokens().holders(token, blocks, deadline))
    const start = Number(cursor?.place[0] ?? 0)
    const page = holdings.slice(start, start + limit)
    const calls = tokenCalls(context, toBlock, { isAmongMany: true })
    const format = (holding: Holding) => {
      const { holder, kind, id, balance } = holding
      return {
        holder: formatData(holder),
        kind,
        id: id === undefined ? null : formatQuantity(id),
        ...formatBalance(balance, (calls && ifKnown(() => calls.holding(token, holding))) ?? null),
      }
    }
    const place = [start + page.length]
    return {
      holders: page.map(format),
      count: formatQuantity(holdings.length),
      isComplete,
      cursor: place[0] === holdings.length ? null : encodePageCursor({ toBlock, place }, scope, context),
      fromBlock: formatQuantity(fromBlock),
      blockNumber: formatQuantity(toBlock),
    }
  },
})
