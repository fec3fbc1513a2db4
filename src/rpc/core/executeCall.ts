import type { Dispatcher } from './dispatch.js'
import { type InvalidCall, isCall, type RpcCall, type RpcOutcome } from './envelope.js'
import { RESPONSE_TOO_LARGE, type RpcErrorBody } from './errors.js'
import { encodeBeginning, encodeResponse } from './responseBytes.js'
import { collectResult, type ResultStream, StreamBroken } from './resultStream.js'

/** Limit on all responses of a batch; the rest is refused item by item. geth's default. */
export const MAX_BATCH_RESPONSE_BYTES = 25_000_000

/** The error of a response that exceeds the limit. */
export const BATCH_LIMIT_ERROR: RpcErrorBody = { code: RESPONSE_TOO_LARGE, message: 'response too large' }

/** Parts to send in order; undefined if there is nothing to answer (notifications only). */
export type Response = Uint8Array[] | undefined

/** Sends a response whose result comes in parts: its beginning, then the rest of the result. Resolves when it is
 *  sent. */
export type SendInParts = (beginning: Uint8Array[], rest: ResultStream) => Promise<void>

/** The response to a call that `SendInParts` has sent. */
export const SENT: Response = []

/** Returns the response to one call: synchronously if its outcome is. Without `sendInParts`, a result that comes in
 *  parts is collected, up to the limit of batches. */
export function executeCall(
  item: RpcCall | InvalidCall,
  dispatcher: Dispatcher,
  sendInParts?: SendInParts,
): Response | Promise<Response> {
  if (!isCall(item)) {
    dispatcher.onInvalid?.(item.error)
    return encodeResponse(item.idText, item)
  }
  const { idText } = item
  const encode = (outcome: RpcOutcome): Response | Promise<Response> => {
    if ('result' in outcome && outcome.rest !== undefined) {
      return executeInParts(idText, { result: outcome.result, rest: outcome.rest }, sendInParts)
    }
    return idText === undefined ? undefined : encodeResponse(idText, outcome)
  }
  const outcome = dispatcher.dispatch(item)
  return outcome instanceof Promise ? outcome.then(encode) : encode(outcome)
}

async function executeInParts(
  idText: string | undefined,
  { result, rest }: { result: Uint8Array; rest: ResultStream },
  sendInParts: SendInParts | undefined,
): Promise<Response> {
  if (idText === undefined) {
    rest.cancel()
    return undefined
  }
  if (sendInParts !== undefined) {
    await sendInParts(encodeBeginning(idText, result), rest)
    return SENT
  }
  try {
    const whole = await collectResult(result, rest, MAX_BATCH_RESPONSE_BYTES)
    return encodeResponse(idText, whole === undefined ? { error: BATCH_LIMIT_ERROR } : { result: whole })
  } catch (error) {
    if (error instanceof StreamBroken) return encodeResponse(idText, { error: error.error })
    throw error
  }
}
