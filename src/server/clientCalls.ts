import { dispatchFor, type ObserveCall } from '../rpc/core/clientDispatcher.js'
import type { Dispatcher } from '../rpc/core/dispatch.js'
import type { ParsedBody } from '../rpc/core/envelope.js'
import type { Subscriber } from '../rpc/core/session.js'
import type { Client } from '../rpc/subscriptions/filters.js'
import { type Caller, clientOf } from './access/access.js'
import { clientOfAddress } from './access/addresses.js'
import { grantsMethod } from './access/methodPatterns.js'
import type { OutputShare } from './admission/outputBudget.js'
import type { CallOptions } from './exchange.js'

const ADD_ABI = { name: 'cairn_addAbi', classes: ['abi'] }

/** The dispatcher for the calls of a body: scheduled in the client's share, and limited to the methods of its key. */
export function clientDispatcher(
  { access, dispatcher, subscriptions }: CallOptions,
  parts: {
    caller: Caller
    outputShare: OutputShare
    body: ParsedBody
    remoteAddress: string | undefined
    subscriber?: Subscriber
    observe?: ObserveCall
  },
): Dispatcher {
  const { caller, outputShare, body, subscriber, observe } = parts
  const openSession = () => ({
    filters: subscriptions.filtersOf(ownerOf(parts)),
    subscriber,
    mayAddAbis: grantsMethod(caller.limits?.methods, ADD_ABI),
  })
  const refusal = access.guardCalls(caller, body.kind === 'batch')
  return dispatchFor(dispatcher, { client: clientOf(caller, outputShare), openSession, refusal, observe })
}

/** Owner of filters and subscriptions. */
export function ownerOf({ caller, remoteAddress }: { caller: Caller; remoteAddress: string | undefined }): Client {
  return { keyId: caller.keyId, countedAs: caller.keyId ?? clientOfAddress(remoteAddress) }
}
