import { defineMethod, type JsonSchema } from '../core/method.js'
import { address, index, required } from '../core/params.js'

/** The response of a node with an empty pool: Cairn has none. */
const EMPTY_POOL = { pending: {}, queued: {} }

/** Schema of `EMPTY_POOL`, for documentation. */
const POOL_SCHEMA: JsonSchema = {
  type: 'object',
  required: ['pending', 'queued'],
  properties: { pending: { type: 'object' }, queued: { type: 'object' } },
}

export const status = defineMethod({
  name: 'txpool_status',
  summary: 'Number of transactions in the pool: zero, since Cairn keeps no pool.',
  cost: 'point',
  classes: ['node'],
  params: [],
  result: {
    name: 'counts',
    schema: {
      type: 'object',
      required: ['pending', 'queued'],
      properties: { pending: index.schema, queued: index.schema },
    },
  },
  errors: [],
  handler: () => ({ pending: '0x0', queued: '0x0' }),
})

export const content = defineMethod({
  name: 'txpool_content',
  summary: 'Transactions of the pool by sender and nonce: none, since Cairn keeps no pool.',
  cost: 'point',
  classes: ['node'],
  params: [],
  result: { name: 'pool', schema: POOL_SCHEMA },
  errors: [],
  handler: () => EMPTY_POOL,
})

export const contentFrom = defineMethod({
  name: 'txpool_contentFrom',
  summary: 'Transactions of a sender in the pool by nonce: none, since Cairn keeps no pool.',
  cost: 'point',
  classes: ['node'],
  params: [required('address', address, 'address of the sender')],
  result: { name: 'pool', schema: POOL_SCHEMA },
  errors: [],
  handler: (_context, _sender) => EMPTY_POOL,
})

export const inspect = defineMethod({
  name: 'txpool_inspect',
  summary: 'Transactions of the pool as text: none, since Cairn keeps no pool.',
  cost: 'point',
  classes: ['node'],
  params: [],
  result: { name: 'pool', schema: POOL_SCHEMA },
  errors: [],
  handler: () => EMPTY_POOL,
})
