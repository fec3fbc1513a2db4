import { formatFelt } from '../../chain/starknet/felt.js'
import { defineMethod } from '../core/method.js'
import { FELT_SCHEMA, INTEGER_SCHEMA } from './schemas.js'

const PLACES = ['starting', 'current', 'highest'] as const

export const syncing = defineMethod({
  name: 'starknet_syncing',
  summary: 'The progress of a server that is more than 16 blocks behind its layer-2 upstreams, else false.',
  description: 'False also where `cairn sync` follows the chain in another process.',
  cost: 'point',
  classes: ['node'],
  params: [],
  result: {
    name: 'syncing',
    schema: {
      oneOf: [
        { type: 'boolean' },
        {
          title: 'SYNC_STATUS',
          type: 'object',
          properties: Object.fromEntries(
            PLACES.flatMap((place) => [
              [`${place}_block_hash`, FELT_SCHEMA],
              [`${place}_block_num`, INTEGER_SCHEMA],
            ]),
          ),
          required: PLACES.flatMap((place) => [`${place}_block_hash`, `${place}_block_num`]),
        },
      ],
    },
  },
  errors: [],
  handler: ({ l2, l2SyncProgress }) => {
    const progress = l2SyncProgress()
    const current = l2.head()
    // The progress is slightly older than the head. Before the first block there is no progress.
    if (progress === undefined || current === undefined || current.number >= progress.highestBlock) return false
    const starting = l2.atOrBelow(progress.startingBlock) ?? l2.first()!
    return {
      starting_block_hash: formatFelt(starting.hash),
      starting_block_num: starting.number,
      current_block_hash: formatFelt(current.hash),
      current_block_num: current.number,
      highest_block_hash: progress.highestHash,
      highest_block_num: progress.highestBlock,
    }
  },
})
