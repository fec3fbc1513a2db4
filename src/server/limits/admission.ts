import type { Metrics } from '../../lib/metrics.js'
import type { ParsedBody } from '../../rpc/core/envelope.js'
import { isCall } from '../../rpc/core/envelope.js'
import { LIMIT_EXCEEDED, SERVER_BUSY } from '../../rpc/core/errors.js'
import type { CostClass } from '../../rpc/core/method.js'
import { type Caller, clientOf, type Refusal } from '../access/access.js'
import { clientOfAddress } from '../access/addresses.js'
import { type ByteBudget, createByteBudget } from './byteBudget.js'
import type { ServerLimits } from './limits.js'
import { createOutputBudget, type Lane, type OutputBudget, type Room, SMALL_ANSWER_BYTES } from './outputBudget.js'

/** A request that asks to be worked on. */
export interface Applicant {
  readonly caller: Caller
  readonly lane: Lane
  readonly remoteAddress: string | undefined
  readonly text: string
  readonly body: ParsedBody
  /** True when nobody waits for the answer any more. */
  isGone(): boolean
  /** Work may begin; `room` is to be settled and released. */
  begin(room: Room): void
  refuse(refusal: Refusal): void
}

/** Lets requests in as far as there is memory for them and for their answers. */
export interface Admission {
  /** Bodies that are received, wait or are worked on. */
  readonly bodies: ByteBudget
  /** Answers that are made or not yet taken. */
  readonly output: OutputBudget
  /** False for a single call that is answered on the spot: it needs no admission. */
  isNeeded(body: ParsedBody): boolean
  /** Begins the work now or later, or refuses it: with 429 where the key or address has too many requests under way, with 503
   *  where there is no memory. */
  enter(applicant: Applicant): void
}

/** What a client is told whose request there is no memory for. */
export const BUSY: Refusal = { status: 503, reason: 'memory', error: SERVER_BUSY, retryAfterSeconds: 1 }

const TOO_MANY_IN_FLIGHT: Refusal = {
  status: 429,
  reason: 'in_flight',
  error: { code: LIMIT_EXCEEDED, message: 'too many requests under way' },
  retryAfterSeconds: 1,
}

/** What the answer of a log query is taken for until it is there: 10,000 logs have 6 MB, most queries far less. */
const SCAN_ANSWER_BYTES = 1_000_000

/** What a parsed value takes beside its text. `{}` is 64 bytes, `[]` 40, an element 8 to 32. */
const VALUE_BYTES = 64

/** Admission by the limits of a server. `costOf` tells the cost class of a method by its name. */
export function createAdmission(
  limits: ServerLimits,
  costOf: (method: string) => CostClass | undefined,
  metrics: Metrics,
): Admission {
  const bodies = createByteBudget(limits.bodyBytes)
  const output = createOutputBudget({ totalBytes: limits.outputBytes, connectionBytes: limits.connectionOutputBytes })
  /** Requests under way by key id or client. */
  const inFlight = new Map<number | string, number>()

  registerBudgetMetrics(metrics, limits, { bodies, output })
  const leave = (owner: number | string) => {
    const left = inFlight.get(owner)! - 1
    if (left === 0) inFlight.delete(owner)
    else inFlight.set(owner, left)
  }
  return {
    bodies,
    output,
    isNeeded: (body) => body.kind === 'batch' || (isCall(body.item) && isLong(costOf(body.item.method))),
    enter(applicant) {
      const { caller, lane, body } = applicant
      let owner: number | string | undefined = caller.keyId
      if (owner === undefined) {
        lane.client ??= clientOfAddress(applicant.remoteAddress)
        owner = lane.client
      }
      const count = inFlight.get(owner) ?? 0
      if (count >= limits.maxInFlight) return applicant.refuse(TOO_MANY_IN_FLIGHT)
      const holding = bodies.open()
      if (!holding.resize(parsedBytes(applicant.text, body))) return applicant.refuse(BUSY)
      inFlight.set(owner, count + 1)
      const end = () => {
        holding.release()
        leave(owner)
      }
      output.reserve(lane, clientOf(caller, lane), answerBytes(body, costOf), {
        begin: (room) => applicant.begin(withEnd(room, end)),
        giveUp() {
          end()
          applicant.refuse(BUSY)
        },
        isGone: () => applicant.isGone(),
      })
    },
  }
}

function registerBudgetMetrics(
  metrics: Metrics,
  limits: ServerLimits,
  { bodies, output }: Pick<Admission, 'bodies' | 'output'>,
): void {
  metrics.gauge('cairn_memory_budget_used_bytes', 'Memory taken by request bodies, and by answers.', () => [
    [{ budget: 'bodies' }, bodies.usedBytes()],
    [{ budget: 'answers' }, output.usedBytes()],
  ])
  metrics.gauge('cairn_memory_budget_limit_bytes', 'Memory that request bodies, and answers, may take.', () => [
    [{ budget: 'bodies' }, limits.bodyBytes],
    [{ budget: 'answers' }, limits.outputBytes],
  ])
}

/** The room, which also ends something when it is released first. */
function withEnd(room: Room, end: () => void): Room {
  let isReleased = false
  return {
    wait: room.wait,
    hold: room.hold,
    settle: room.settle,
    release() {
      if (isReleased) return
      isReleased = true
      end()
      room.release()
    },
  }
}

/** Whether calls of that cost are handed to threads. */
function isLong(cost: CostClass | undefined): boolean {
  return cost === 'evm' || cost === 'scan'
}

/** What is reserved for the answer. That of a batch grows as its answers come. */
function answerBytes(body: ParsedBody, costOf: (method: string) => CostClass | undefined): number {
  const isScan = body.kind === 'single' && isCall(body.item) && costOf(body.item.method) === 'scan'
  return isScan ? SCAN_ANSWER_BYTES : SMALL_ANSWER_BYTES
}

/** About the memory that a body takes while it is worked on. */
function parsedBytes({ length }: string, { values }: ParsedBody): number {
  return values === undefined ? length * SHORT_FACTOR : length + values * VALUE_BYTES
}

/** A character and a third of the largest value, `{}` with its comma. */
const SHORT_FACTOR = 22
