import { keyOfBytes } from '../../lib/bytes.js'
import { formatData, formatQuantity } from '../../lib/hex.js'
import type { TokenBalance } from '../../tokens/accountTokens.js'
import { NO_METADATA, type TokenCalls, type TokenMetadata } from '../../tokens/tokenCalls.js'
import { HEADER_NOT_FOUND } from '../core/blockId.js'
import { InvalidValue } from '../core/errors.js'
import { defineMethod } from '../core/method.js'
import { objectSchema } from '../core/objectSchema.js'
import { address, arrayOf, blockId, integerBetween, maybe, optional, quantity, text } from '../core/params.js'
import { strictObject } from '../core/strictObject.js'
import { accountParam } from '../eth/commonParams.js'
import { cursorErrors, decodePageCursor, encodePageCursor } from './pageCursor.js'
import {
  BALANCE_SCHEMAS,
  formatBalance,
  ifKnown,
  KIND_SCHEMA,
  METADATA_SCHEMAS,
  optionalHex,
  QUANTITY_OR_NULL,
  resolveTokenBlocks,
  SUM_ERRORS,
  TOKEN_ADDRESS_SCHEMA,
  tokenCalls,
  withinBounds,
} from './tokenParts.js'

const MAX_PAGE = 1_000
const PAGE = 100
const MAX_TOKENS = 1_000

const options = strictObject(
  {
    block: maybe(blockId),
    tokens: maybe(arrayOf(address)),
    cursor: maybe(text),
    limit: maybe(integerBetween(1, MAX_PAGE)),
  },
  { title: 'token balance options' },
)

export const getTokenBalances = defineMethod({
  name: 'cairn_getTokenBalances',
  summary: 'Balances of all tokens that an account was ever party to a transfer of.',
  description:
    'A Cairn extension. `balance` is the sum of the logs up to the block, of ERC-721 the number of tokens, of ' +
    'ERC-1155 that of one id; null if the logs take more than they gave. `balanceOf` is the answer of the contract ' +
    'after the block, null if the call fails or needs more than 500,000 gas; `matches` says whether both are ' +
    'equal, null if there is no answer. They differ for tokens that change balances without a transfer log: fees ' +
    'on transfers, rebasing, wrapped ether. Entries are ordered by address, kind and id; those without a balance ' +
    'are included. Logs count from `fromBlock` on, the first stored block. Without state, `balanceOf`, `name`, ' +
    '`symbol` and `decimals` are null, and so they are where sparse state does not know them.',
  cost: 'scan',
  classes: ['logs', 'calls'],
  params: [
    accountParam,
    optional(
      'options',
      options,
      '`block` (default `latest`), `tokens`: only these contracts, `cursor`, `limit` (default 100, at most 1,000)',
      {} as ReturnType<typeof options.decode>,
    ),
  ],
  result: {
    name: 'page',
    schema: objectSchema('TokenBalancePage', {
      balances: {
        type: 'array',
        items: objectSchema('TokenBalance', {
          token: TOKEN_ADDRESS_SCHEMA,
          kind: KIND_SCHEMA,
          id: QUANTITY_OR_NULL,
          ...BALANCE_SCHEMAS,
          ...METADATA_SCHEMAS,
        }),
      },
      cursor: { type: ['string', 'null'] },
      fromBlock: quantity.schema,
      blockNumber: quantity.schema,
    }),
  },
  errors: [...cursorErrors(1), ...SUM_ERRORS, HEADER_NOT_FOUND],
  handler: (context, account, { block = 'latest', tokens, cursor: cursorText, limit = PAGE }) => {
    if (tokens !== undefined && tokens.length > MAX_TOKENS) {
      throw new InvalidValue(`options.tokens: expected at most ${MAX_TOKENS} addresses, got ${tokens.length}`)
    }
    const { chain, deadline } = context
    const wanted = tokens && [...new Map(tokens.map((token) => [keyOfBytes(token), token])).values()]
    const scope = {
      method: 'cairn_getTokenBalances',
      argument: 1,
      query: [
        optionalHex(account),
        wanted?.map(optionalHex),
        typeof block === 'object' ? optionalHex(block.hash) : block,
      ],
    }
    const cursor = cursorText === undefined ? undefined : decodePageCursor(cursorText, scope, context)
    const blocks = resolveTokenBlocks(chain, cursor?.toBlock ?? block)
    const { fromBlock, toBlock } = blocks
    const all = withinBounds(() => context.tokens().balances(account, { fromBlock, toBlock, tokens: wanted }, deadline))
    const start = Number(cursor?.place[0] ?? 0)
    const page = all.slice(start, start + limit)
    const calls = tokenCalls(context, toBlock, { isAmongMany: true })
    const known = new Map<string, TokenMetadata>()
    const metadataOf = (token: Uint8Array): TokenMetadata => {
      const key = keyOfBytes(token)
      const metadata = known.get(key) ?? knownMetadata(calls, token)
      known.set(key, metadata)
      return metadata
    }
    const format = (entry: TokenBalance) => {
      const { token, kind, id, balance } = entry
      return {
        token: formatData(token),
        kind,
        id: id === undefined ? null : formatQuantity(id),
        ...formatBalance(balance, (calls && ifKnown(() => calls.balance(account, entry))) ?? null),
        ...metadataOf(token),
      }
    }
    const place = [start + page.length]
    return {
      balances: page.map(format),
      cursor: place[0] === all.length ? null : encodePageCursor({ toBlock, place }, scope, context),
      fromBlock: formatQuantity(fromBlock),
      blockNumber: formatQuantity(toBlock),
    }
  },
})

function knownMetadata(calls: TokenCalls | undefined, token: Uint8Array): TokenMetadata {
  if (calls === undefined) return NO_METADATA
  return {
    name: ifKnown(() => calls.name(token)),
    symbol: ifKnown(() => calls.symbol(token)),
    decimals: ifKnown(() => calls.decimals(token)),
  }
}
