import type { Dispatcher } from '../rpc/core/dispatch.js'
import type { ParsedBody } from '../rpc/core/envelope.js'
import { type CancelSignal, executeBody } from '../rpc/core/execute.js'
import type { Response } from '../rpc/core/executeCall.js'
import type { Caller, Refusal } from './access/access.js'
import type { PendingRequest } from './admission/admission.js'
import type { OutputShare, Reservation } from './admission/outputBudget.js'
import type { Exchange, Reply } from './exchange.js'
import { respond, respondFailure, respondRefusal } from './respond.js'
import { respondInParts } from './respondInParts.js'

/** Executes a call that needs no admission and responds, synchronously if its outcome is available at once. */
export function executeRequest(exchange: Exchange, body: ParsedBody, dispatcher: Dispatcher): void | Promise<void> {
  const parts = executeBody(body, dispatcher, undefined, respondInParts(exchange))
  return parts instanceof Promise
    ? parts.then((later) => respond(exchange, body, later))
    : respond(exchange, body, parts)
}

/** A parsed request that waits for admission, and is executed then. A batch is aborted when its client disconnects. */
export class AdmittedRequest implements PendingRequest {
  readonly caller: Caller
  readonly text: string
  readonly body: ParsedBody
  readonly outputShare: OutputShare
  readonly remoteAddress: string | undefined
  readonly #exchange: Exchange
  readonly #dispatcher: Dispatcher

  constructor(exchange: Exchange, request: { caller: Caller; text: string; body: ParsedBody; dispatcher: Dispatcher }) {
    this.caller = request.caller
    this.text = request.text
    this.body = request.body
    this.outputShare = exchange.outputShare
    this.remoteAddress = exchange.client.remoteAddress
    this.#exchange = exchange
    this.#dispatcher = request.dispatcher
  }

  isGone(): boolean {
    return this.#exchange.reply.isGone()
  }

  refuse(busy: Refusal): void {
    respondRefusal(this.#exchange, busy, this.body)
  }

  begin(reservation: Reservation): void {
    const fail = (error: unknown) => respondFailure(this.#exchange, error, reservation)
    try {
      this.#execute(reservation)?.catch(fail)
    } catch (error) {
      fail(error)
    }
  }

  #execute(reservation: Reservation): void | Promise<void> {
    const { body } = this
    const exchange = this.#exchange
    const { reply } = exchange
    const conditions = body.kind === 'batch' ? { cancelSignal: cancelSignalOf(reply), reservation } : undefined
    const send = (parts: Response) => {
      if (conditions === undefined || !reply.hasLeft()) return respond(exchange, body, parts, reservation)
      reservation.release()
      reply.destroy()
    }
    const parts = executeBody(body, this.#dispatcher, conditions, respondInParts(exchange, reservation))
    return parts instanceof Promise ? parts.then(send) : send(parts)
  }
}

/** Created here and not per call: V8 gives each object literal with a getter its own hidden class, which outlives
 *  it. */
function cancelSignalOf(reply: Reply): CancelSignal {
  return {
    get aborted() {
      return reply.hasLeft()
    },
  }
}
