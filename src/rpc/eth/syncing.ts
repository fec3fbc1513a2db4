import { formatQuantity } from '../../lib/hex.js'
import { defineMethod } from '../core/method.js'
import { index } from '../core/params.js'

const BLOCKS = ['startingBlock', 'currentBlock', 'highestBlock'] as const

export const syncing = defineMethod({
  name: 'eth_syncing',
  summary: 'The progress of a server that is more than 16 blocks behind its upstreams, else false.',
  description: 'False also where `cairn sync` follows the chain in another process.',
  cost: 'point',
  classes: ['node'],
  chainless: true,
  params: [],
  result: {
    name: 'syncing',
    schema: {
      oneOf: [
        { type: 'boolean' },
        {
          type: 'object',
          required: [...BLOCKS],
          properties: Object.fromEntries(BLOCKS.map((name) => [name, index.schema])),
        },
      ],
    },
  },
  errors: [],
  handler: ({ chain, syncProgress }) => {
    const progress = syncProgress()
    const currentBlock = chain.head() ?? 0
    // The progress is slightly older than the head.
    if (progress === undefined || currentBlock >= progress.highestBlock) return false
    const numbers = { ...progress, currentBlock }
    return Object.fromEntries(BLOCKS.map((name) => [name, formatQuantity(numbers[name])]))
  },
})
