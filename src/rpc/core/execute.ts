import type { Dispatcher } from './dispatch.js'
import type { InvalidCall, ParsedBody, RpcCall } from './envelope.js'
import { type RpcErrorBody, SERVER_BUSY } from './errors.js'
import {
  BATCH_LIMIT_ERROR,
  executeCall,
  MAX_BATCH_RESPONSE_BYTES,
  type Response,
  type SendInParts,
} from './executeCall.js'
import { encodeBatch, encodeResponse, sizeOf } from './responseBytes.js'
import { createTimeBudget } from './timeBudget.js'

/** Calls of one batch that run in threads concurrently: enough to keep all threads busy, few enough that one batch does
 *  not fill the queue. */
const BATCH_WINDOW = 16

/** Smaller batch responses are joined and sent without waiting for a time share. */
const QUICKLY_SENT_BYTES = 65_536

/** Signals that the client no longer waits for the response. */
export interface CancelSignal {
  readonly aborted: boolean
}

/** Memory reservation for the responses of one body; clients that do not read would otherwise fill the memory. */
export interface ResponseBudget {
  /** Maximum calls of a batch that may run at once, if limited. */
  readonly maxConcurrent?: number
  /** Resolves when the next item of a batch may start; undefined if it may start now. */
  wait(): Promise<void> | undefined
  /** Changes the reservation by the number of bytes; false if there is not enough memory. */
  add(bytes: number): boolean
}

/** Conditions of running a batch. */
export interface BatchConditions {
  readonly cancelSignal: CancelSignal
  readonly reservation: ResponseBudget
}

const UNCONDITIONAL: BatchConditions = {
  cancelSignal: { aborted: false },
  reservation: { wait: () => undefined, add: () => true },
}

/** Returns the response to a body: synchronously for a single call with a synchronous outcome, otherwise as a promise.
 *  Without `sendInParts`, a result that comes in parts is collected, up to the limit of batches. */
export function executeBody(
  body: ParsedBody,
  dispatcher: Dispatcher,
  conditions: BatchConditions = UNCONDITIONAL,
  sendInParts?: SendInParts,
): Response | Promise<Response> {
  if (body.kind === 'single') return executeCall(body.item, dispatcher, sendInParts)
  return executeBatch(body.items, dispatcher, conditions)
}

/** Returns the same error for every call of a body; undefined if there are only notifications. */
export function refuseCalls(body: ParsedBody, error: RpcErrorBody): Uint8Array[] | undefined {
  const items = body.kind === 'single' ? [body.item] : body.items
  const responses = items.flatMap(({ idText }) => (idText === undefined ? [] : [encodeResponse(idText, { error })]))
  if (responses.length === 0) return undefined
  return body.kind === 'single' ? responses[0] : encodeBatch(responses)
}

/** Runs the items in order, up to a window of them concurrently. Once a response exceeds the limit, it and all later
 *  ones are refused, and items that have not started are not run. */
async function executeBatch(
  items: readonly (RpcCall | InvalidCall)[],
  dispatcher: Dispatcher,
  { cancelSignal, reservation }: BatchConditions,
): Promise<Response> {
  const responses = collectResponses(items, reservation)
  const window = Math.min(BATCH_WINDOW, reservation.maxConcurrent ?? BATCH_WINDOW)
  const running: Promise<void>[] = []
  const timeShare = (dispatcher.timeBudget ?? createTimeBudget()).join()
  for (let i = 0; i < responses.endIndex() && !cancelSignal.aborted; i++) {
    for (;;) {
      const turn = timeShare.wait()
      if (turn !== undefined) await turn
      // Checked last, because other batches may have started items since.
      const wait = reservation.wait()
      if (wait === undefined || cancelSignal.aborted) break
      timeShare.leave()
      await wait
    }
    const response = executeCall(items[i], dispatcher)
    if (response instanceof Promise) running.push(response.then((later) => responses.put(i, later)))
    else responses.put(i, response)
    if (running.length >= window) {
      timeShare.leave()
      await running.shift()
    }
  }
  timeShare.leave()
  await Promise.all(running)
  // Batches that share time tend to finish together: joining and sending long responses is part of the shared work.
  if (responses.sizeBytes() > QUICKLY_SENT_BYTES) await timeShare.wait()
  try {
    return joinResponses(responses.all())
  } finally {
    timeShare.leave()
  }
}

/** The responses of a batch, as they arrive. */
interface BatchResponses {
  put(index: number, response: Response): void
  /** Items from this index on are refused. */
  endIndex(): number
  /** Size of the responses that have arrived. */
  sizeBytes(): number
  /** In item order. */
  all(): Response[]
}

function collectResponses(items: readonly (RpcCall | InvalidCall)[], reservation: ResponseBudget): BatchResponses {
  const responses: Response[] = []
  let size = 0
  let end = items.length
  let refusal = BATCH_LIMIT_ERROR
  const refuseFrom = (index: number, error: RpcErrorBody) => {
    for (let i = index; i < responses.length; i++) {
      const bytes = sizeOf(responses[i] ?? [])
      size -= bytes
      reservation.add(-bytes)
    }
    responses.length = Math.min(index, responses.length)
    end = index
    refusal = error
  }
  return {
    put(index, response) {
      if (index >= end) return
      const bytes = sizeOf(response ?? [])
      if (!reservation.add(bytes)) return refuseFrom(index, SERVER_BUSY)
      responses[index] = response
      size += bytes
      // The last response exceeds the limit whatever else arrives.
      while (size > MAX_BATCH_RESPONSE_BYTES) refuseFrom(responses.length - 1, BATCH_LIMIT_ERROR)
    },
    endIndex: () => end,
    sizeBytes: () => size,
    all: () =>
      items.map(({ idText }, i) => {
        if (i < end) return responses[i]
        return idText === undefined ? undefined : encodeResponse(idText, { error: refusal })
      }),
  }
}

function joinResponses(responses: readonly Response[]): Response {
  const present = responses.filter((response) => response !== undefined)
  return present.length === 0 ? undefined : encodeBatch(present)
}
