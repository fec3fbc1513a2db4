import { TOKEN_KINDS } from '../../decoding/tokenTransfers.js'
import { DeadlineExceeded } from '../../lib/deadline.js'
import { formatQuantity } from '../../lib/hex.js'
import { hasStateAfter } from '../../store/rows/coverage.js'
import type { ChainReader } from '../../store/rows/types.js'
import { MissingState } from '../../store/state/missingState.js'
import { TooManyHoldings } from '../../tokens/errors.js'
import { TokenCalls } from '../../tokens/tokenCalls.js'
import { HEADER_NOT_FOUND, resolveNumber } from '../core/blockId.js'
import type { RpcContext } from '../core/context.js'
import { beyondHead, LIMIT_EXCEEDED, RpcError } from '../core/errors.js'
import type { ErrorDoc, JsonSchema } from '../core/method.js'
import { address, type BlockId, quantity } from '../core/params.js'
import { orNull } from '../eth/schemas.js'

/* What the methods of tokens share. */

/** A kind of token. */
export const KIND_SCHEMA: JsonSchema = { type: 'string', enum: TOKEN_KINDS }
/** A quantity, null if absent. */
export const QUANTITY_OR_NULL = orNull(quantity.schema)

/** Schemas of a contract's own words. */
export const METADATA_SCHEMAS = {
  name: { type: ['string', 'null'] },
  symbol: { type: ['string', 'null'] },
  decimals: { type: ['integer', 'null'], minimum: 0, maximum: 255 },
} as const

/** A balance from logs beside the contract's answer. */
export const BALANCE_SCHEMAS = {
  balance: QUANTITY_OR_NULL,
  balanceOf: QUANTITY_OR_NULL,
  matches: { type: ['boolean', 'null'] },
} as const

/** The members of a balance: null where logs alone do not say it, and where the contract does not answer. */
export function formatBalance(balance: bigint, balanceOf: bigint | null) {
  return {
    balance: balance < 0n ? null : formatQuantity(balance),
    balanceOf: balanceOf === null ? null : formatQuantity(balanceOf),
    matches: balanceOf === null ? null : balance === balanceOf,
  }
}

/** A token contract. */
export const TOKEN_ADDRESS_SCHEMA = address.schema

/** The bytes as text for the query of a cursor; undefined if absent. */
export function optionalHex(bytes: Uint8Array | undefined): string | undefined {
  return bytes && Buffer.from(bytes).toString('hex')
}

/** The blocks whose logs count: from the first stored one to that block. @throws RpcError `header not found` for an
 *  unknown block, and for one that is not stored */
export function resolveTokenBlocks(chain: ChainReader, id: BlockId) {
  const coverage = chain.coverage()
  const toBlock = resolveNumber(chain, id)
  if (toBlock === undefined || !coverage) throw new RpcError(HEADER_NOT_FOUND.code, HEADER_NOT_FOUND.message)
  if (toBlock > coverage.head) throw beyondHead(HEADER_NOT_FOUND.code, HEADER_NOT_FOUND.message, coverage.head)
  const hash = chain.blockHash(toBlock)
  if (hash === undefined) throw new RpcError(HEADER_NOT_FOUND.code, HEADER_NOT_FOUND.message)
  return { fromBlock: coverage.first, toBlock, hash }
}

/** Calls of token contracts after the block; undefined if its state is not stored. */
export function tokenCalls(
  { chain, evm, limits, deadline }: RpcContext,
  blockNumber: number,
  options: { isAmongMany?: boolean } = {},
): TokenCalls | undefined {
  const hasState = hasStateAfter(chain.coverage(), blockNumber)
  return hasState ? new TokenCalls(evm, { blockNumber, limits, deadline, ...options }) : undefined
}

/** The result of a call; null if sparse state lacks a value: one page may need thousands of them. */
export function ifKnown<T>(call: () => T): T | null {
  try {
    return call()
  } catch (error) {
    if (error instanceof MissingState) return null
    throw error
  }
}

const ADVICE = 'use SQL without a time limit (cairn sql), or cairn export'
const TOO_SLOW: ErrorDoc = {
  code: LIMIT_EXCEEDED,
  message: `the transfers were not added up within A s; ${ADVICE}`,
  when: 'there are more transfers than can be read in the time of a log query (`--logs-timeout`)',
}
const TOO_MANY: ErrorDoc = {
  code: LIMIT_EXCEEDED,
  message: `more than N balances; ${ADVICE}`,
  when: 'there are more than 500,000 balances',
}

/** Errors of `withinBounds`, for documentation. */
export const SUM_ERRORS: readonly ErrorDoc[] = [TOO_SLOW, TOO_MANY]

/** The result of adding up transfers. @throws RpcError that names the bound it exceeds, and what would work */
export function withinBounds<T>(sum: () => T): T {
  try {
    return sum()
  } catch (error) {
    if (error instanceof TooManyHoldings) {
      throw new RpcError(LIMIT_EXCEEDED, `more than ${error.limit} balances; ${ADVICE}`)
    }
    if (!(error instanceof DeadlineExceeded)) throw error
    throw new RpcError(LIMIT_EXCEEDED, `the transfers were not added up within ${error.limitMs / 1000} s; ${ADVICE}`)
  }
}
