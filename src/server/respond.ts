import { describeError } from '../lib/errors.js'
import type { ParsedBody } from '../rpc/core/envelope.js'
import { INTERNAL_ERROR, type RpcErrorBody } from '../rpc/core/errors.js'
import { refuseCalls } from '../rpc/core/execute.js'
import { type Response, SENT } from '../rpc/core/executeCall.js'
import { encodeResponse, sizeOf } from '../rpc/core/responseBytes.js'
import { type Refusal, retryHeaders } from './access/access.js'
import { BUSY } from './admission/admission.js'
import { type Reservation, SMALL_ANSWER_BYTES } from './admission/outputBudget.js'
import type { Exchange } from './exchange.js'

/** Sends the response to a call or a batch, compressed if worthwhile. Sends an error when there is no memory to hold
 *  the response until the client has read it. */
export function respond(
  exchange: Exchange,
  body: ParsedBody,
  parts: Response,
  reserved?: Reservation,
): void | Promise<void> {
  const { compressor, client, reply, headers, outputShare, options } = exchange
  if (parts === SENT || reply.isGone()) return reserved?.release()
  if (parts === undefined) return reply.send(204, headers, [], () => reserved?.release())
  const size = sizeOf(parts)
  const reservation =
    reserved ?? (size > SMALL_ANSWER_BYTES ? options.admission.output.reserveNow(outputShare, size) : undefined)
  if (size > SMALL_ANSWER_BYTES && reservation?.resize(size) !== true) {
    reserved?.release()
    return respondRefusal(exchange, BUSY, body)
  }
  const onTaken = reservation && (() => reservation.release())
  if (compressor.varies(size)) headers.push('Vary', 'Accept-Encoding')
  const coding = compressor.codingFor(client, size)
  if (coding === undefined) return reply.send(200, headers, parts, onTaken)
  return compressor.compress(parts, coding, reply).then((compressed) => {
    if (compressed === undefined || reply.isGone()) return reservation?.release()
    headers.push('Content-Encoding', coding)
    reply.send(200, headers, [compressed], onTaken)
  })
}

/** Answers the whole request with an error. */
export function respondError({ reply, headers, record }: Exchange, status: number, error: RpcErrorBody): void {
  record?.refuse(error)
  reply.send(status, headers, encodeResponse('null', { error }))
}

/** Answers every call of a body with the refusal; the id is null when none is known. */
export function respondRefusal(
  { reply, headers, options, record }: Exchange,
  refusal: Refusal,
  body: ParsedBody,
): void {
  const { error, status, reason } = refusal
  options.refusals.count(reason)
  record?.refuse(error)
  headers.push(...retryHeaders(refusal))
  reply.send(status, headers, refuseCalls(body, error) ?? encodeResponse('null', { error }))
}

/** Logs an exception, releases the reservation and ends the exchange: with status 500 if no response was sent. */
export function respondFailure(exchange: Exchange, error: unknown, reservation?: Reservation): void {
  reservation?.release()
  exchange.options.log.error({ error: describeError(error) }, 'a response failed')
  if (exchange.reply.isSent()) exchange.reply.destroy()
  else respondError(exchange, 500, { code: INTERNAL_ERROR, message: 'internal error' })
}
