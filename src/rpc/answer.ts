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
import { RESPONSE_TOO_LARGE, type RpcErrorBody } from './errors.js'
import { createTimeSlices } from './timeSlices.js'

/** The answers of a batch together; what lies beyond is refused item by item. geth's default. */
export const MAX_BATCH_RESPONSE_BYTES = 25_000_000

/** Calls of one batch that run elsewhere at the same time: enough to keep all threads busy, few enough that one batch
 *  does not fill the queue for everyone. */
const BATCH_WINDOW = 16

/** Tells the work on a body that nobody waits for its answer any more. */
export interface Abandonment {
  readonly aborted: boolean
}

const TOO_LARGE: RpcErrorBody = { code: RESPONSE_TOO_LARGE, message: 'response too large' }

/** Parts to be sent one after another; undefined when there is nothing to answer (notifications only). */
export type Response = Uint8Array[] | undefined

/** The response to a body: at once to a single call whose outcome is there at once, later to all others. */
export function answerBody(
  body: ParsedBody,
  dispatcher: Dispatcher,
  abandonment: Abandonment = { aborted: false },
): Response | Promise<Response> {
  if (body.kind === 'single') return answerItem(body.item, dispatcher)
  return answerBatch(body.items, dispatcher, abandonment)
}

/** One and the same error as the answer to every call of a body; undefined when there are only notifications. */
export function refuseBody(body: ParsedBody, error: RpcErrorBody): Uint8Array[] | undefined {
  const items = body.kind === 'single' ? [body.item] : body.items
  const responses = items.flatMap(({ idText }) => (idText === undefined ? [] : [encodeResponse(idText, { error })]))
  if (responses.length === 0) return undefined
  return body.kind === 'single' ? responses[0] : encodeBatch(responses)
}

function answerItem(item: RpcCall | InvalidCall, dispatcher: Dispatcher): Response | Promise<Response> {
  if (!isCall(item)) return encodeResponse(item.idText, item)
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
  abandonment: Abandonment,
): Promise<Response> {
  const answers: Response[] = []
  const running: Promise<void>[] = []
  let firstPending = 0 // answers before it are known and fit
  let size = 0
  let fits = true
  const slice = (dispatcher.slices ?? createTimeSlices()).join()
  const settle = () => {
    while (fits && firstPending in answers) {
      size += sizeOf(answers[firstPending] ?? [])
      if (size > MAX_BATCH_RESPONSE_BYTES) fits = false
      else firstPending++
    }
  }
  for (let i = 0; i < items.length && fits && !abandonment.aborted; i++) {
    const settleWith = (answer: Response) => {
      answers[i] = answer
      settle()
    }
    const turn = slice.wait()
    if (turn !== undefined) await turn
    const answer = answerItem(items[i], dispatcher)
    if (answer instanceof Promise) running.push(answer.then(settleWith))
    else settleWith(answer)
    if (running.length >= BATCH_WINDOW) {
      slice.leave()
      await running.shift()
    }
  }
  slice.leave()
  await Promise.all(running)
  if (fits && firstPending === items.length) return joinAnswers(answers)
  const refused = items.map(({ idText }, i) => {
    if (i < firstPending) return answers[i]
    return idText === undefined ? undefined : encodeResponse(idText, { error: TOO_LARGE })
  })
  return joinAnswers(refused)
}

function joinAnswers(answers: readonly Response[]): Response {
  const present = answers.filter((answer) => answer !== undefined)
  return present.length === 0 ? undefined : encodeBatch(present)
}
