import { formatFelt } from '../../chain/starknet/felt.js'
import { defineMethod } from '../core/method.js'
import { NO_BLOCKS, starknetError } from './errors.js'
import { FELT_SCHEMA, INTEGER_SCHEMA } from './schemas.js'

export const blockHashAndNumber = defineMethod({
  name: 'starknet_blockHashAndNumber',
  summary: 'Hash and number of the newest layer-2 block.',
  cost: 'point',
  classes: ['node'],
  params: [],
  result: {
    name: 'block hash and number',
    schema: {
      type: 'object',
      properties: { block_hash: FELT_SCHEMA, block_number: INTEGER_SCHEMA },
      required: ['block_hash', 'block_number'],
    },
  },
  errors: [NO_BLOCKS],
  handler: ({ l2 }) => {
    const head = l2.head()
    if (head === undefined) throw starknetError(NO_BLOCKS, l2)
    return { block_hash: formatFelt(head.hash), block_number: head.number }
  },
})
