import { RpcError } from '../core/errors.js'
import { defineMethod } from '../core/method.js'
import { required, text } from '../core/params.js'
import { INVALID_SUBSCRIPTION_ID } from './errors.js'

export const unsubscribe = defineMethod({
  name: 'starknet_unsubscribe',
  summary: 'Ends a subscription of this connection.',
  cost: 'point',
  classes: ['stream'],
  usesSession: true,
  params: [required('subscription_id', text, 'id of the subscription')],
  result: { name: 'ended', schema: { type: 'boolean' } },
  errors: [INVALID_SUBSCRIPTION_ID],
  handler: ({ session }, id) => {
    if (session!.subscriber?.unsubscribe(id)) return true
    throw new RpcError(INVALID_SUBSCRIPTION_ID.code, INVALID_SUBSCRIPTION_ID.message)
  },
})
