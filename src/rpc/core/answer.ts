import type { Dispatcher } from './dispatch.js'
import {
  encodeBatch,
  encodeBeginning,
  encodeResponse,
  type InvalidCall,
  isCall,
  type ParsedBody,
  type RpcCall,
  type RpcOutcome,
  sizeOf,
} from './envelope.js'
import { RESPONSE_TOO_LARGE, type RpcErrorBody, SERVER_BUSY } from './errors.js'
import { collectResult, type ResultStream, StreamBroken } from './resultStream.js'
import { createTimeBudget } from './timeBudget.js'

/** Limit on all responses of a batch; the rest is refused item by item. geth's default. */
export const MAX_BATCH_RESPONSE_BYTES = 25_000_000

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

const TOO_LARGE: RpcErrorBody = { code: RESPONSE_TOO_LARGE, message: 'response too large' }

/** Parts to send in order; undefined if there is nothing to answer (notifications only). */
export type Response = Uint8Array[] | undefined

/** Sends a response whose result comes in parts: its beginning, then the rest of the result. Resolves when it is
 *  sent. */
export type SendInParts = (beginning: Uint8Array[], rest: ResultStream) => Promise<void>

/** The response to a call that `SendInParts` has sent. */
export const SENT: Response = []

/** Returns the response to a body: synchronously for a single call with a synchronous outcome, otherwise as a promise.
 *  Without `sendInParts`, a result that comes in parts is collected, up to the limit of batches. */
export function answerBody(
  body: ParsedBody,
  dispatcher: Dispatcher,
  conditions: BatchConditions = UNCONDITIONAL,
  sendInParts?: SendInParts,
): Response | Promise<Response> {
  if (body.kind === 'single') return answerItem(body.item, dispatcher, sendInParts)
  return answerBatch(body.items, dispatcher, conditions)
}

/** Returns the same error for every call of a body; undefined if there are only notifications. */
export function refuseBody(body: ParsedBody, error: RpcErrorBody): Uint8Array[] | undefined {
  const items = body.kind === 'single' ? [body.item] : body.items
  const responses = items.flatMap(({ idText }) => (idText === undefined ? [] : [encodeResponse(idText, { error })]))
  if (responses.length === 0) return undefined
  return body.kind === 'single' ? responses[0] : encodeBatch(responses)
}

function answerItem(
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
      return answerInParts(idText, { result: outcome.result, rest: outcome.rest }, sendInParts)
    }
    return idText === undefined ? undefined : encodeResponse(idText, outcome)
  }
  const outcome = dispatcher.dispatch(item)
  return outcome instanceof Promise ? outcome.then(encode) : encode(outcome)
}

async function answerInParts(
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
    return encodeResponse(idText, whole === undefined ? { error: TOO_LARGE } : { result: whole })
  } catch (error) {
    if (error instanceof StreamBroken) return encodeResponse(idText, { error: error.error })
    throw error
  }
}

/** Runs the items in order, up to a window of them concurrently. Once a response exceeds the limit, it and all later
 *  ones are refused, and items that have not started are not run. */
async function answerBatch(
  items: readonly (RpcCall | InvalidCall)[],
  dispatcher: Dispatcher,
  { cancelSignal, reservation }: BatchConditions,
): Promise<Response> {
  const answers = collectAnswers(items, reservation)
  const window = Math.min(BATCH_WINDOW, reservation.maxConcurrent ?? BATCH_WINDOW)
  const running: Promise<void>[] = []
  const timeShare = (dispatcher.timeBudget ?? createTimeBudget()).join()
  for (let i = 0; i < answers.endIndex() && !cancelSignal.aborted; i++) {
    for (;;) {
      const turn = timeShare.wait()
      if (turn !== undefined) await turn
      // Checked last, because other batches may have started items since.
      const wait = reservation.wait()
      if (wait === undefined || cancelSignal.aborted) break
      timeShare.leave()
      await wait
    }
    const answer = answerItem(items[i], dispatcher)
    if (answer instanceof Promise) running.push(answer.then((later) => answers.put(i, later)))
    else answers.put(i, answer)
    if (running.length >= window) {
      timeShare.leave()
      await running.shift()
    }
  }
  timeShare.leave()
  await Promise.all(running)
  // Batches that share time tend to finish together: joining and sending long responses is part of the shared work.
  if (answers.sizeBytes() > QUICKLY_SENT_BYTES) await timeShare.wait()
  try {
    return joinAnswers(answers.all())
  } finally {
    timeShare.leave()
  }
}

/** The responses of a batch, as they arrive. */
interface BatchAnswers {
  put(index: number, answer: Response): void
  /** Items from this index on are refused. */
  endIndex(): number
  /** Size of the responses that have arrived. */
  sizeBytes(): number
  /** In item order. */
  all(): Response[]
}

function collectAnswers(items: readonly (RpcCall | InvalidCall)[], reservation: ResponseBudget): BatchAnswers {
  const answers: Response[] = []
  let size = 0
  let end = items.length
  let refusal = TOO_LARGE
  const refuseFrom = (index: number, error: RpcErrorBody) => {
    for (let i = index; i < answers.length; i++) {
      const bytes = sizeOf(answers[i] ?? [])
      size -= bytes
      reservation.add(-bytes)
    }
    answers.length = Math.min(index, answers.length)
    end = index
    refusal = error
  }
  return {
    put(index, answer) {
      if (index >= end) return
      const bytes = sizeOf(answer ?? [])
      if (!reservation.add(bytes)) return refuseFrom(index, SERVER_BUSY)
      answers[index] = answer
      size += bytes
      // The last response exceeds the limit whatever else arrives.
      while (size > MAX_BATCH_RESPONSE_BYTES) refuseFrom(answers.length - 1, TOO_LARGE)
    },
    endIndex: () => end,
    sizeBytes: () => size,
    all: () =>
      items.map(({ idText }, i) => {
        if (i < end) return answers[i]
        return idText === undefined ? undefined : encodeResponse(idText, { error: refusal })
      }),
  }
}

function joinAnswers(answers: readonly Response[]): Response {
  const present = answers.filter((answer) => answer !== undefined)
  return present.length === 0 ? undefined : encodeBatch(present)
}
