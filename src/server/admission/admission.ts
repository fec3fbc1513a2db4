import type { Metrics } from '../../lib/metrics.js'
import type { ParsedBody } from '../../rpc/core/envelope.js'
import { isCall } from '../../rpc/core/envelope.js'
import { LIMIT_EXCEEDED, SERVER_BUSY } from '../../rpc/core/errors.js'
import type { CostClass, Method } from '../../rpc/core/method.js'
import { type Caller, clientOf, type Refusal } from '../access/access.js'
import { clientOfAddress } from '../access/addresses.js'
import { type ByteBudget, createByteBudget } from './byteBudget.js'
import type { ServerLimits } from './limits.js'
import { OutputBudget, type OutputShare, type Reservation, SMALL_ANSWER_BYTES } from './outputBudget.js'

/** The owner of a request. */
export interface RequestOwner {
  readonly caller: Caller
  readonly outputShare: OutputShare
  readonly remoteAddress: string | undefined
}

/** A request that waits for admission. */
export interface PendingRequest extends RequestOwner {
  readonly text: string
  readonly body: ParsedBody
  /** True when the client no longer waits for the response. */
  isGone(): boolean
  /** Work may start. Call `resize` and `release` on `reservation`. */
  begin(reservation: Reservation): void
  refuse(refusal: Refusal): void
}

/** Admits requests while there is memory for them and their responses. */
export interface Admission {
  /** Budget of bodies that are received, queued or processed. */
  readonly bodies: ByteBudget
  /** Budget of responses that are being built or not yet read by the client. */
  readonly output: OutputBudget
  /** False for a single call that is answered immediately. */
  isNeeded(body: ParsedBody): boolean
  /** Starts the work now or later, or refuses it: 429 when the key or address has too many requests in flight, 503 when
   *  there is no memory. */
  admit(pending: PendingRequest): void
  /** Takes a slot in flight and `bytes` of the budget of bodies. @returns a function that releases both, or the
   *  refusal, as for `admit` */
  takeSlot(owner: RequestOwner, bytes: number): (() => void) | Refusal
  /** The same for a request that is one call of its key, such as an SQL query. */
  takeCallSlot(owner: RequestOwner, bytes: number): (() => void) | Refusal
}

/** The part of the method table that admission reads. */
type CostTable = ReadonlyMap<string, Pick<Method, 'cost'>>

/** Refusal when there is no memory for a request. */
export const BUSY: Refusal = { status: 503, reason: 'memory', error: SERVER_BUSY, retryAfterSeconds: 1 }

const TOO_MANY_IN_FLIGHT: Refusal = {
  status: 429,
  reason: 'in_flight',
  error: { code: LIMIT_EXCEEDED, message: 'too many requests under way' },
  retryAfterSeconds: 1,
}

/** Estimated response size of a log query until it is known: 10,000 logs take 6 MB, most queries far less. */
const SCAN_ANSWER_BYTES = 1_000_000

/** Memory of a parsed value besides its text: `{}` 64 bytes, `[]` 40, an element 8 to 32. */
const VALUE_BYTES = 64

/** Admission by the server limits and the cost classes of the methods. */
export function createAdmission(limits: ServerLimits, methods: CostTable, metrics: Metrics): Admission {
  const bodies = createByteBudget(limits.bodyBytes)
  const output = new OutputBudget({ totalBytes: limits.outputBytes, connectionBytes: limits.connectionOutputBytes })
  /** Requests in flight by key id or client. */
  const inFlight = new Map<number | string, number>()
  /** Calls in flight by key id, of keys with a limit. */
  const keyCalls = new Map<number, number>()

  const takeSlot: Admission['takeSlot'] = ({ caller, outputShare, remoteAddress }, bytes) => {
    let owner: number | string | undefined = caller.keyId
    if (owner === undefined) {
      outputShare.client ??= clientOfAddress(remoteAddress)
      owner = outputShare.client
    }
    if ((inFlight.get(owner) ?? 0) >= limits.maxInFlight) return TOO_MANY_IN_FLIGHT
    const byteShare = bodies.open()
    if (!byteShare.resize(bytes)) return BUSY
    add(inFlight, owner, 1)
    return () => {
      byteShare.release()
      add(inFlight, owner, -1)
    }
  }

  const takeCallSlot: Admission['takeCallSlot'] = (owner, bytes) => {
    const { keyId, limits: own } = owner.caller
    if (keyId === undefined || own?.maxConcurrent === undefined) return takeSlot(owner, bytes)
    if ((keyCalls.get(keyId) ?? 0) >= own.maxConcurrent) return TOO_MANY_IN_FLIGHT
    const release = takeSlot(owner, bytes)
    if (typeof release !== 'function') return release
    add(keyCalls, keyId, 1)
    return () => {
      release()
      add(keyCalls, keyId, -1)
    }
  }

  registerBudgetMetrics(metrics, limits, { bodies, output })
  return {
    takeSlot,
    takeCallSlot,
    bodies,
    output,
    isNeeded: (body) => body.kind === 'batch' || (isCall(body.item) && isLong(methods.get(body.item.method)?.cost)),
    admit(pending) {
      const { caller, outputShare, body } = pending
      const calls = callsToAdmit(caller, body, keyCalls)
      if (calls === 0) return pending.refuse(TOO_MANY_IN_FLIGHT)
      const release = takeSlot(pending, parsedBytes(pending.text, body))
      if (typeof release !== 'function') return pending.refuse(release)
      if (calls !== undefined) add(keyCalls, caller.keyId!, calls)
      const end = () => {
        release()
        if (calls !== undefined) add(keyCalls, caller.keyId!, -calls)
      }
      output.reserve(outputShare, clientOf(caller, outputShare), answerBytes(body, methods), {
        request: pending,
        maxConcurrent: calls,
        onRelease: end,
        onGiveUp() {
          end()
          pending.refuse(BUSY)
        },
      })
    },
  }
}

function registerBudgetMetrics(
  metrics: Metrics,
  limits: ServerLimits,
  { bodies, output }: Pick<Admission, 'bodies' | 'output'>,
): void {
  metrics.gauge('cairn_memory_budget_used_bytes', 'Memory in use for request bodies and for responses.', () => [
    [{ budget: 'bodies' }, bodies.usedBytes()],
    [{ budget: 'answers' }, output.usedBytes()],
  ])
  metrics.gauge('cairn_memory_budget_limit_bytes', 'Memory limits for request bodies and for responses.', () => [
    [{ budget: 'bodies' }, limits.bodyBytes],
    [{ budget: 'answers' }, limits.outputBytes],
  ])
}

/** The calls of a body that may run at once under the limit of its key; undefined without a limit, 0 if none may. A
 *  batch takes the remaining ones and continues with those. */
function callsToAdmit(
  { keyId, limits }: Caller,
  body: ParsedBody,
  inFlight: ReadonlyMap<number, number>,
): number | undefined {
  if (limits?.maxConcurrent === undefined || keyId === undefined) return undefined
  const left = Math.max(0, limits.maxConcurrent - (inFlight.get(keyId) ?? 0))
  return Math.min(left, body.kind === 'single' ? 1 : body.items.length)
}

function add<K>(counts: Map<K, number>, key: K, difference: number): void {
  const count = (counts.get(key) ?? 0) + difference
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
}

/** True when calls of that cost class run in worker threads. */
function isLong(cost: CostClass | undefined): boolean {
  return cost === 'evm' || cost === 'scan'
}

/** Bytes reserved for the response. The reservation of a batch grows with its responses. */
function answerBytes(body: ParsedBody, methods: CostTable): number {
  const isScan = body.kind === 'single' && isCall(body.item) && methods.get(body.item.method)?.cost === 'scan'
  return isScan ? SCAN_ANSWER_BYTES : SMALL_ANSWER_BYTES
}

/** Approximate memory of a body while it is processed. */
function parsedBytes({ length }: string, { values }: ParsedBody): number {
  return values === undefined ? length * SHORT_FACTOR : length + values * VALUE_BYTES
}

/** Per character, a third of the most expensive value: `{}` with its comma. */
const SHORT_FACTOR = 22
