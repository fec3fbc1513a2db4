import type { L2Reader } from '../../store/l2/l2Reader.js'
import { RpcError } from '../core/errors.js'
import { defineMethod } from '../core/method.js'
import { optional } from '../core/params.js'
import { NOTIFICATIONS_UNSUPPORTED } from '../subscriptions/errors.js'
import { TOO_MANY_SUBSCRIPTIONS } from '../subscriptions/subscribers.js'
import { findL2Block, type L2BlockId, subscriptionBlockId } from './blockId.js'
import { BLOCK_NOT_FOUND, CALL_ON_PENDING, starknetError, TOO_MANY_BLOCKS_BACK } from './errors.js'

/** The specification's limit. */
const MAX_BLOCKS_BACK = 1024

export const subscribeNewHeads = defineMethod({
  name: 'starknet_subscribeNewHeads',
  summary: 'Subscribes a WebSocket connection to new layer-2 blocks.',
  description:
    'Notifications are `starknet_subscriptionNewHeads` with the header, whose members are those of ' +
    '`starknet_getBlockWithTxHashes`, and `starknet_subscriptionReorg` with the first and the last block that a reorg removed; ' +
    'the blocks of the new branch follow. With the number or hash of a block, that block and all after it are sent first. ' +
    'Limits are those of `eth_subscribe`.',
  cost: 'point',
  classes: ['stream'],
  usesSession: true,
  params: [
    optional(
      'block_id',
      subscriptionBlockId,
      '`latest`, or an object with one of block_hash and block_number: where to begin',
    ),
  ],
  result: { name: 'subscription_id', schema: { type: 'string', title: 'SUBSCRIPTION_ID' } },
  errors: [
    { code: NOTIFICATIONS_UNSUPPORTED.code, message: NOTIFICATIONS_UNSUPPORTED.message },
    BLOCK_NOT_FOUND,
    TOO_MANY_BLOCKS_BACK,
    CALL_ON_PENDING,
    TOO_MANY_SUBSCRIPTIONS,
  ],
  handler: ({ l2, session }, id = 'latest') => {
    const { subscriber } = session!
    if (subscriber === undefined) throw new RpcError(NOTIFICATIONS_UNSUPPORTED.code, NOTIFICATIONS_UNSUPPORTED.message)
    return subscriber.subscribe({ kind: 'l2Heads', fromBlock: firstBlock(l2, id) })
  },
})

/** Number of the first block to notify of; undefined for new blocks only. */
function firstBlock(l2: L2Reader, id: L2BlockId): number | undefined {
  if (id === 'latest') return undefined
  if (id === 'pending' || id === 'pre_confirmed') throw new RpcError(CALL_ON_PENDING.code, CALL_ON_PENDING.message)
  const found = findL2Block(l2, id)
  if (found === undefined || 'pending' in found || found.confirmed.status === 'REJECTED') {
    throw starknetError(BLOCK_NOT_FOUND, l2)
  }
  const { number } = found.confirmed
  if (l2.head()!.number - number > MAX_BLOCKS_BACK) throw starknetError(TOO_MANY_BLOCKS_BACK, l2)
  return number
}
