import { RpcError } from '../core/errors.js'
import { defineMethod } from '../core/method.js'
import { required, text } from '../core/params.js'
import { SUBSCRIPTION_NOT_FOUND } from '../subscriptions/errors.js'

export const unsubscribe = defineMethod({
  name: 'eth_unsubscribe',
  summary: 'Ends a subscription of this connection.',
  cost: 'point',
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
