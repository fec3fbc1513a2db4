import type { Dispatcher } from './dispatch.js'
import {
  encodeBatch,
  encodeResponse,
  type InvalidCall,
  isCall,
  type ParsedBody,
  type RpcCall,
  type RpcOutcome,
  sizeOf,
} from './envelope.js'
import { RESPONSE_TOO_LARGE, type RpcErrorBody, SERVER_BUSY } from './errors.js'
import { createTimeSlices } from './timeSlices.js'

/** The answers of a batch together; what lies beyond is refused item by item. geth's default. */
export const MAX_BATCH_RESPONSE_BYTES = 25_000_000

/** Calls of one batch that run elsewhere at the same time: enough to keep all threads busy, few enough that one batch
 *  does not fill the queue for everyone. */
const BATCH_WINDOW = 16

/** Answers of a batch that take no time worth sharing to join and to send. */
const QUICKLY_SENT_BYTES = 65_536

/** Tells the work on a body that nobody waits for its answer any more. */
export interface Abandonment {
  readonly aborted: boolean
}

/** Memory for the answers of one body, of which clients that do not read could otherwise fill all there is. */
export interface AnswerRoom {
  /** Resolves when the next item of a batch may perhaps begin; undefined when it may. */
  wait(): Promise<void> | undefined
  /** Holds so many bytes more, or fewer; false when there are not as many. */
  hold(bytes: number): boolean
}

/** What the work on a batch minds. */
export interface BatchConditions {
  readonly abandonment: Abandonment
  readonly room: AnswerRoom
}

const UNCONDITIONAL: BatchConditions = {
  abandonment: { aborted: false },
  room: { wait: () => undefined, hold: () => true },
}

const TOO_LARGE: RpcErrorBody = { code: RESPONSE_TOO_LARGE, message: 'response too large' }

/** Parts to be sent one after another; undefined when there is nothing to answer (notifications only). */
export type Response = Uint8Array[] | undefined

/** The response to a body: at once to a single call whose outcome is there at once, later to all others. */
export function answerBody(
  body: ParsedBody,
  dispatcher: Dispatcher,
  conditions: BatchConditions = UNCONDITIONAL,
): Response | Promise<Response> {
  if (body.kind === 'single') return answerItem(body.item, dispatcher)
  return answerBatch(body.items, dispatcher, conditions)
}

/** One and the same error as the answer to every call of a body; undefined when there are only notifications. */
export function refuseBody(body: ParsedBody, error: RpcErrorBody): Uint8Array[] | undefined {
  const items = body.kind === 'single' ? [body.item] : body.items
  const responses = items.flatMap(({ idText }) => (idText === undefined ? [] : [encodeResponse(idText, { error })]))
  if (responses.length === 0) return undefined
  return body.kind === 'single' ? responses[0] : encodeBatch(responses)
}

function answerItem(item: RpcCall | InvalidCall, dispatcher: Dispatcher): Response | Promise<Response> {
  if (!isCall(item)) {
    dispatcher.onInvalid?.(item.error)
    return encodeResponse(item.idText, item)
  }
  const { idText } = item
  const encode = (outcome: RpcOutcome) => (idText === undefined ? undefined : encodeResponse(idText, outcome))
  const outcome = dispatcher.dispatch(item)
  return outcome instanceof Promise ? outcome.then(encode) : encode(outcome)
}

/** Runs the items in order, up to a window of them at the same time. From the first answer on that does not fit, all
 *  are refused, and those not begun yet are not run. */
async function answerBatch(
  items: readonly (RpcCall | InvalidCall)[],
  dispatcher: Dispatcher,
  { abandonment, room }: BatchConditions,
): Promise<Response> {
  const answers = collectAnswers(items, room)
  const running: Promise<void>[] = []
  const slice = (dispatcher.slices ?? createTimeSlices()).join()
  for (let i = 0; i < answers.endIndex() && !abandonment.aborted; i++) {
    for (;;) {
      const turn = slice.wait()
      if (turn !== undefined) await turn
      // Looked at last: others have begun items since it was looked at before.
      const wait = room.wait()
      if (wait === undefined || abandonment.aborted) break
      slice.leave()
      await wait
    }
    const answer = answerItem(items[i], dispatcher)
    if (answer instanceof Promise) running.push(answer.then((later) => answers.put(i, later)))
    else answers.put(i, answer)
    if (running.length >= BATCH_WINDOW) {
      slice.leave()
      await running.shift()
    }
  }
  slice.leave()
  await Promise.all(running)
  // Batches that share the time end together: to join and send long answers is part of the work that is shared.
  if (answers.sizeBytes() > QUICKLY_SENT_BYTES) await slice.wait()
  try {
    return joinAnswers(answers.all())
  } finally {
    slice.leave()
  }
}

/** The answers of a batch, as they come. */
interface BatchAnswers {
  put(index: number, answer: Response): void
  /** From this item on all are refused. */
  endIndex(): number
  /** Of those that have come. */
  sizeBytes(): number
  /** In the order of the items. */
  all(): Response[]
}

function collectAnswers(items: readonly (RpcCall | InvalidCall)[], room: AnswerRoom): BatchAnswers {
  const answers: Response[] = []
  let size = 0
  let end = items.length
  let refusal = TOO_LARGE
  const refuseFrom = (index: number, error: RpcErrorBody) => {
    for (let i = index; i < answers.length; i++) {
      const bytes = sizeOf(answers[i] ?? [])
      size -= bytes
      room.hold(-bytes)
    }
    answers.length = Math.min(index, answers.length)
    end = index
    refusal = error
  }
  return {
    put(index, answer) {
      if (index >= end) return
      const bytes = sizeOf(answer ?? [])
      if (!room.hold(bytes)) return refuseFrom(index, SERVER_BUSY)
      answers[index] = answer
      size += bytes
      // With answers of this size before it, the last one that has come lies beyond the limit whatever else comes.
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
