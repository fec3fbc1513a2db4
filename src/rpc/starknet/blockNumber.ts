import { defineMethod } from '../core/method.js'
import { NO_BLOCKS, starknetError } from './errors.js'
import { INTEGER_SCHEMA } from './schemas.js'

export const blockNumber = defineMethod({
  name: 'starknet_blockNumber',
  summary: 'Number of the newest layer-2 block.',
  cost: 'point',
  classes: ['node'],
  params: [],
  result: { name: 'block number', schema: INTEGER_SCHEMA },
  errors: [NO_BLOCKS],
  handler: ({ l2 }) => {
    const head = l2.head()
    if (head === undefined) throw starknetError(NO_BLOCKS, l2)
    return head.number
  },
})
