import { formatQuantity } from '../../lib/hex.js'
import { EmptyDatabase } from '../../store/rows/chainReader.js'
import { defineMethod } from '../core/method.js'
import { index } from '../core/params.js'

export const blockNumber = defineMethod({
  name: 'eth_blockNumber',
  summary: 'Number of the newest block.',
  cost: 'point',
  classes: ['node'],
  params: [],
  result: { name: 'block number', schema: index.schema },
  errors: [],
  handler: ({ chain }) => {
    const head = chain.head()
    if (head === undefined) throw new EmptyDatabase()
    return formatQuantity(head)
  },
})
