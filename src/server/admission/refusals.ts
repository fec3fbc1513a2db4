import type { Metrics } from '../../lib/metrics.js'

/** Why a request, message or handshake was refused. */
export type RefusalReason =
  | 'unauthorized'
  | 'key_guesses'
  | 'rate_limit'
  | 'in_flight'
  | 'memory'
  | 'keys_unreadable'
  | 'too_large'
  | 'too_slow'
  | 'bad_method'
  | 'bad_type'
  | 'bad_host'
  | 'bad_origin'
  | 'bad_path'
  | 'stopping'
  | 'unread'
  | 'behind'
  | 'bad_min_block'

/** Counts refusals. */
export interface RefusalCounter {
  count(reason: RefusalReason): void
}

/** A counter exported as `cairn_requests_refused_total`. */
export function createRefusalCounter(metrics: Metrics): RefusalCounter {
  const counts = new Map<RefusalReason, number>()
  metrics.counter(
    'cairn_requests_refused_total',
    'Requests, messages and handshakes that were refused as a whole, by reason.',
    () => [...counts].map(([reason, count]) => [{ reason }, count]),
  )
  return { count: (reason) => void counts.set(reason, (counts.get(reason) ?? 0) + 1) }
}
