import { formatQuantity } from '../../lib/hex.js'
import { hasStateBefore } from '../../store/rows/coverage.js'
import type { StoredBlock } from '../../store/rows/types.js'
import { BLOCK_UNAVAILABLE, findBlock, STATE_UNAVAILABLE } from '../core/blockId.js'
import type { RpcContext } from '../core/context.js'
import { defineMethod } from '../core/method.js'
import { blockIdOrDecimal, integerBetween, required } from '../core/params.js'
import { TRACE_ERRORS } from '../debug/traceErrors.js'
import { createReceiptFormat } from '../eth/format/receipt.js'
import { formatTransaction } from '../eth/format/transaction.js'
import { orNull } from '../eth/schemas.js'
import { formatOtsBlock } from './blockDetails.js'
import { traceBlockCalls } from './tracedCalls.js'

const MAX_PAGE = 1_000
/** `0x` and a function selector. */
const SELECTOR_CHARACTERS = 10

export const getBlockTransactions = defineMethod({
  name: 'ots_getBlockTransactions',
  summary: 'A page of the transactions of a block with their receipts, or null.',
  description:
    'Page 0 has the last transactions of the block; within a page they are in the order of the block. `input` is cut to four ' +
    'bytes; receipts have no `logs` and no `logsBloom`. Before Byzantium they have `status` beside `root`, found by executing the ' +
    'transactions again, where the state is stored.',
  cost: 'evm',
  classes: ['traces'],
  isTrace: true,
  params: [
    required('block', blockIdOrDecimal, 'block number in hex or decimal, or tag'),
    required('pageNumber', integerBetween(0, Number.MAX_SAFE_INTEGER), 'number of the page, from 0 on'),
    required('pageSize', integerBetween(1, MAX_PAGE), 'transactions of a page at most'),
  ],
  result: {
    name: 'page',
    schema: orNull({
      type: 'object',
      properties: { fullblock: { type: 'object' }, receipts: { type: 'array', items: { type: 'object' } } },
      required: ['fullblock', 'receipts'],
    }),
  },
  errors: [BLOCK_UNAVAILABLE, ...TRACE_ERRORS.filter((each) => each !== STATE_UNAVAILABLE)],
  handler: async (context, id, pageNumber, pageSize) => {
    const { chain } = context
    const block = findBlock(chain, id)
    if (!block) return null
    const end = Math.max(block.txCount - pageNumber * pageSize, 0)
    const first = Math.max(end - pageSize, 0)
    const indexes = Array.from({ length: end - first }, (_, i) => first + i)
    const transactions = chain.transactions(block)
    const receipts = chain.receipts(block)
    const format = createReceiptFormat(chain, block)
    const statuses = await statusesWithoutReceipt(context, block, indexes)
    return {
      fullblock: {
        ...formatOtsBlock(chain, block),
        transactions: indexes.map((index) => {
          const formatted = formatTransaction(transactions[index], block, index)
          return { ...formatted, input: formatted.input.slice(0, SELECTOR_CHARACTERS) }
        }),
      },
      receipts: indexes.map((index) => ({
        ...format(receipts[index], transactions[index], index),
        ...statuses.get(index),
        logs: null,
        logsBloom: null,
      })),
    }
  },
})

/** The status, by index, of transactions whose receipts have none, those before Byzantium (EIP-658): Otterscan shows no
 *  page of transactions without it. Empty if receipts have it, or if the state before the block is not stored. */
async function statusesWithoutReceipt(
  context: RpcContext,
  block: StoredBlock,
  indexes: readonly number[],
): Promise<Map<number, { status: string }>> {
  const { chain } = context
  const hasStatus = chain.receipts(block)[0]?.receipt.status !== undefined
  const hasState = hasStateBefore(chain.coverage(), block.header.number)
  if (indexes.length === 0 || !hasState || hasStatus) return new Map()
  const statusOf = (isSuccess: boolean) => ({ status: formatQuantity(isSuccess ? 1 : 0) })
  const indexed = context.traceIndex.calls(block)
  if (indexed !== undefined) {
    return new Map(indexes.map((index) => [index, statusOf(indexed[index][0].failure === undefined)]))
  }
  const traced = await traceBlockCalls(context, block, { first: indexes[0], last: indexes.at(-1) })
  return new Map(traced.map(({ index, applied }) => [index, statusOf(applied.failure === undefined)]))
}
