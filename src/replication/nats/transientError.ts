import { JetStreamApiError, JetStreamError } from '@nats-io/jetstream'
import { errors } from '@nats-io/transport-node'
import { CairnError, messageOf } from '../../lib/errors.js'
import { type Clock, systemClock } from '../../sources/upstreams/clock.js'

/** True for failures of the network, a server or the cluster after which a retry can succeed. */
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

/** True when the server denied a request for lack of rights. It does so until its configuration changes. */
export function isDenied(error: unknown): boolean {
  const cause = error instanceof errors.RequestError ? error.cause : error
  return cause instanceof errors.PermissionViolationError
}

/** Describes why a server did not do what was requested. */
export function describeFailure(error: unknown): string {
  return error instanceof Error && error.message === '' ? error.name : messageOf(error)
}

/** Returns the result, or throws the reason of the signal as soon as it aborts: the result is then discarded. */
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

/** A request without an answer is repeated after this. */
const ASK_AGAIN_MS = 250

/** Returns the result of the first attempt that is answered, or throws the first error. A request that reached a
 *  frozen server, or a cluster without a leader, is never answered: another attempt starts every 250 ms in parallel
 *  to the pending ones. `ask` must be safe to repeat, and have a timeout of its own. */
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

/** What to report while waiting for an answer. */
export interface AnswerOptions {
  readonly signal: AbortSignal
  /** Called with the reason while there is no answer, null with the answer. */
  onProblem(problem: string | null): void
  /** Time and timers, for tests. */
  readonly clock?: Clock
}

const RETRY_MS = 500

/** Retries `work` until the servers answer. On abort, waits for the attempt in flight. @throws the reason of the
 *  signal, and errors that `isTransientError` does not name */
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
