import { abbreviate } from '../../lib/hex.js'
import { decodeArgument } from '../core/boundCall.js'
import type { RpcContext } from '../core/context.js'
import { INVALID_PARAMS, METHOD_NOT_FOUND, RpcError } from '../core/errors.js'
import { defineMethod } from '../core/method.js'
import { boolean, optional, required, text, type ValueType } from '../core/params.js'
import type { Topic } from '../core/session.js'
import { NOTIFICATIONS_UNSUPPORTED, SUBSCRIPTION_NOT_FOUND } from '../subscriptions/errors.js'
import { logCriteria } from '../subscriptions/logCriteria.js'
import { receiptCriteria, receiptFilter, TOO_MANY_HASHES } from '../subscriptions/receiptCriteria.js'
import { TOO_MANY_SUBSCRIPTIONS } from '../subscriptions/subscribers.js'
import { FILTER_ERRORS } from './logErrors.js'
import { logFilter } from './logFilter.js'

const KINDS = ['newHeads', 'logs', 'transactionReceipts', 'syncing', 'newPendingTransactions'] as const

/** Decoded once the name is known. */
const anyOptions: ValueType<unknown> = {
  schema: { anyOf: [logFilter.schema, receiptFilter.schema, boolean.schema] },
  decode: (value) => value,
}

const logsOptions = required('options', logFilter, '')
const receiptsOptions = optional('options', receiptFilter, '')
const transactionsOptions = optional('options', boolean, '')

export const subscribe = defineMethod({
  name: 'eth_subscribe',
  summary: 'Subscribes a WebSocket connection to changes of the chain.',
  description:
    '`newHeads`: the header of each new block; members of forks that are not active are `null`. `logs`: each new log that matches a filter. `transactionReceipts`: the receipts of each new block as an array, of all ' +
    'transactions or of those in `transactionHashes`; nothing for a block without them. `syncing`: `false`, once. ' +
    '`newPendingTransactions`: nothing, because there is no mempool. Notifications have the method `eth_subscription`. ' +
    'They begin with the first block that is committed after the response. ' +
    'After a reorg, the logs of the removed blocks come first with `removed: true`, the lowest block first, then each ' +
    'block of the new branch: its header, its receipts, then its logs. With `fromBlock` or `toBlock`, only logs of these blocks are ' +
    'sent; with `blockHash`, only those of this block. A connection that leaves too many notifications unread is ' +
    'closed with code 1013; so are all subscribers if a server could not follow the chain.',
  cost: 'point',
  classes: ['stream'],
  usesSession: true,
  params: [
    required('name', text, `subscription type: \`${KINDS.join('`, `')}\``),
    optional(
      'options',
      anyOptions,
      'with `logs`: addresses and topics, as in `eth_getLogs`; with `transactionReceipts`: `transactionHashes`',
    ),
  ],
  result: { name: 'subscription', schema: { type: 'string', title: 'subscription id' } },
  errors: [
    { code: NOTIFICATIONS_UNSUPPORTED.code, message: NOTIFICATIONS_UNSUPPORTED.message },
    { code: METHOD_NOT_FOUND, message: 'no "X" subscription in eth namespace' },
    ...FILTER_ERRORS,
    TOO_MANY_SUBSCRIPTIONS,
    { code: INVALID_PARAMS, message: TOO_MANY_HASHES, when: 'there are more than 200' },
  ],
  handler: (context, name, options) => {
    const { subscriber } = context.session!
    if (subscriber === undefined) throw new RpcError(NOTIFICATIONS_UNSUPPORTED.code, NOTIFICATIONS_UNSUPPORTED.message)
    return subscriber.subscribe(topicOf(context, name, options))
  },
})

function topicOf(context: RpcContext, name: string, options: unknown): Topic {
  switch (name) {
    case 'newHeads':
    case 'syncing':
      return { kind: name }
    case 'newPendingTransactions':
      decodeArgument(transactionsOptions, 1, options)
      return { kind: name }
    case 'logs':
      return { kind: name, criteria: logCriteria(context, decodeArgument(logsOptions, 1, options ?? {})) }
    case 'transactionReceipts':
      return { kind: name, criteria: receiptCriteria(decodeArgument(receiptsOptions, 1, options)) }
    default:
      throw new RpcError(METHOD_NOT_FOUND, `no "${abbreviate(name)}" subscription in eth namespace`)
  }
}

export const unsubscribe = defineMethod({
  name: 'eth_unsubscribe',
  summary: 'Ends a subscription of this connection.',
  cost: 'point',
  classes: ['stream'],
  chainless: true,
  usesSession: true,
  params: [required('subscription', text, 'id of the subscription')],
  result: { name: 'ended', schema: { type: 'boolean' } },
  errors: [SUBSCRIPTION_NOT_FOUND],
  handler: ({ session }, id) => {
    if (session!.subscriber?.unsubscribe(id)) return true
    throw new RpcError(SUBSCRIPTION_NOT_FOUND.code, SUBSCRIPTION_NOT_FOUND.message)
  },
})
