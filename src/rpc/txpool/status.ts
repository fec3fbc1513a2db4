import { defineMethod } from '../core/method.js'
import { index } from '../core/params.js'

export const status = defineMethod({
  name: 'txpool_status',
  summary: 'Number of transactions in the pool: zero, since Cairn keeps no pool.',
  cost: 'point',
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
