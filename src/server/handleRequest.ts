import { callCount, parseBody } from '../rpc/core/envelope.js'
import { type Caller, type Refusal, retryHeaders } from './access/access.js'
import { BUSY } from './admission/admission.js'
import { clientDispatcher } from './clientCalls.js'
import { type CallOptions, type Exchange, stampHead } from './exchange.js'
import { AdmittedRequest, executeRequest } from './executeRequest.js'
import { behindRefusal, parseMinBlock } from './head/minBlock.js'
import { respondError, respondFailure, respondRefusal } from './respond.js'

/** Longer bodies, in bytes or characters, are decoded and parsed within the time that batches share: 60 concurrent
 *  batches of 130 KB take 3 ms each. */
const SMALL_BODY_LENGTH = 16_384

/** Parses, executes and answers the calls of a body. Synchronous when the result is available at once, so that no
 *  promise is created for such a call. Exceptions are logged and answered with status 500. */
export function handleRequest(exchange: Exchange, caller: Caller, body: string | Buffer): void {
  const { minBlock } = exchange.client
  attempt(exchange, () =>
    minBlock === undefined
      ? scheduleParse(exchange, caller, body)
      : waitForMinBlock(exchange, { caller, body, minBlock }),
  )
}

/** Answers once the head has reached the client's minimum block, or refuses. */
function waitForMinBlock(
  exchange: Exchange,
  { caller, body, minBlock }: { caller: Caller; body: string | Buffer; minBlock: string },
): void {
  const { options, outputShare, client } = exchange
  const { admission, head, refusals } = options
  const wanted = parseMinBlock(minBlock)
  if (typeof wanted !== 'number') {
    refusals.count('bad_min_block')
    return void respondError(exchange, 400, wanted)
  }
  const refuse = (refusal: Refusal) => respondRefusal(exchange, refusal, parseBody(body.toString()))
  const release = admission.takeSlot({ caller, outputShare, remoteAddress: client.remoteAddress }, body.length)
  if (typeof release !== 'function') return void refuse(release)
  head.whenReached(wanted, (isReached) => {
    release()
    attempt(exchange, () => {
      stampHead(exchange)
      return isReached ? scheduleParse(exchange, caller, body) : refuse(behindRefusal(head.number(), wanted))
    })
  })
}

/** Parses a long body within the time that batches share. */
function scheduleParse(exchange: Exchange, caller: Caller, body: string | Buffer): void | Promise<void> {
  return inSharedTime(exchange.options, body.length, {
    work: () => (exchange.reply.isGone() ? undefined : parseRequest(exchange, caller, body)),
    refuse() {
      exchange.options.refusals.count(BUSY.reason)
      exchange.headers.push(...retryHeaders(BUSY))
      respondError(exchange, BUSY.status, BUSY.error)
    },
  })
}

/** Decodes and parses a body of `length` with `work`: a short one at once, a long one within the time that batches
 *  share. Refuses a body that has to wait when there is no memory for it. */
export function inSharedTime(
  { admission, dispatcher }: CallOptions,
  length: number,
  { work, refuse }: { work: () => void | Promise<void>; refuse: () => void },
): void | Promise<void> {
  if (length <= SMALL_BODY_LENGTH) return work()
  const byteShare = admission.bodies.open()
  if (!byteShare.resize(length)) return refuse()
  const timeShare = dispatcher.timeBudget?.join()
  const workInTurn = () => {
    byteShare.release()
    try {
      return work()
    } finally {
      timeShare?.leave()
    }
  }
  const turn = timeShare?.wait()
  return turn === undefined ? workInTurn() : turn.then(workInTurn)
}

/** Parses a body, charges the rate limit, and executes its calls, at once or when there is memory for the response. */
function parseRequest(exchange: Exchange, caller: Caller, bytes: string | Buffer): void | Promise<void> {
  const { access, admission } = exchange.options
  const text = bytes.toString()
  const body = parseBody(text)
  const observe = exchange.record?.receive(caller, body, Buffer.byteLength(bytes))
  const refusal = exchange.isCharged ? undefined : access.refuse(caller, callCount(body))
  if (refusal !== undefined) return respondRefusal(exchange, refusal, body)
  const { outputShare, client } = exchange
  const { remoteAddress } = client
  const dispatcher = clientDispatcher(exchange.options, { caller, outputShare, body, remoteAddress, observe })
  if (!admission.isNeeded(body)) return executeRequest(exchange, body, dispatcher)
  admission.admit(new AdmittedRequest(exchange, { caller, text, body, dispatcher }))
}

/** Runs a step of an exchange. An exception ends the exchange. */
function attempt(exchange: Exchange, step: () => void | Promise<void>): void {
  const fail = (error: unknown) => respondFailure(exchange, error)
  try {
    step()?.catch(fail)
  } catch (error) {
    fail(error)
  }
}
