import { JetStreamApiError, JetStreamError } from '@nats-io/jetstream'
import { errors } from '@nats-io/transport-node'
import { CairnError, messageOf } from '../../lib/errors.js'
import { type Clock, systemClock } from '../../sources/upstreams/clock.js'

/** True for what the network, a server or the cluster does, after which an attempt can succeed. */
export function isTransientError(error: unknown): boolean {
  if (error instanceof CairnError) return false
  if (error instanceof JetStreamError || error instanceof JetStreamApiError) return true
  if (NETWORK.some((kind) => error instanceof kind)) return true
  if (error instanceof Error && error.name === 'JetStreamNotEnabled') return true
  return typeof (error as NodeJS.ErrnoException | null)?.code === 'string'
}

const NETWORK = [
  ...[errors.ConnectionError, errors.RequestError, errors.NoRespondersError, errors.TimeoutError],
  ...[errors.ProtocolError, errors.PermissionViolationError, errors.AuthorizationError],
  ...[errors.UserAuthenticationExpiredError, errors.ClosedConnectionError, errors.DrainingConnectionError],
]

/** True where the server refused a request for lack of rights. Then it is refused until its configuration is another one. */
export function isDenied(error: unknown): boolean {
  const cause = error instanceof errors.RequestError ? error.cause : error
  return cause instanceof errors.PermissionViolationError
}

/** Why a server did not do what it was asked. */
export function describeFailure(error: unknown): string {
  return error instanceof Error && error.message === '' ? error.name : messageOf(error)
}

/** The result, or the reason of the signal as soon as it aborts: the work goes on unheard. */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  work.catch(() => {})
  signal.throwIfAborted()
  let onAbort = () => {}
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/** An answer that takes longer is asked for once more. */
const ASK_AGAIN_MS = 250

/** What the first attempt gives that is answered, or the error with which one fails first. A request that reached a frozen server, or
 *  a cluster without a leader, is never answered: another attempt begins every 250 ms beside those that are under way. `ask` has to be
 *  safe to repeat, and to end by a time-out of its own. */
export async function firstAnswer<T>(ask: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  try {
    return await new Promise<T>((resolve, reject) => {
      const attempt = () => void ask().then(resolve, reject)
      timer = setInterval(attempt, ASK_AGAIN_MS)
      attempt()
    })
  } finally {
    clearInterval(timer)
  }
}

/** What is told while an answer is waited for. */
export interface AnswerOptions {
  readonly signal: AbortSignal
  /** Told why there is no answer yet, and null with the answer. */
  onProblem(problem: string | null): void
  /** Time and timers, for tests. */
  readonly clock?: Clock
}

const RETRY_MS = 500

/** What `work` gives, which is tried until the servers answer. An attempt that is under way when the signal aborts is waited for. @throws the reason of the signal, and what `isTransientError` does not name */
export async function untilAnswered<T>(
  work: () => Promise<T>,
  { signal, onProblem, clock = systemClock }: AnswerOptions,
): Promise<T> {
  for (;;) {
    signal.throwIfAborted()
    try {
      const answer = await work()
      onProblem(null)
      return answer
    } catch (error) {
      signal.throwIfAborted()
      if (!isTransientError(error)) throw error
      onProblem(describeFailure(error))
    }
    await clock.sleep(RETRY_MS, signal)
  }
}
