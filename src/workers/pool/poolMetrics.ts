import type { Labels, Metrics } from '../../lib/metrics.js'
import type { ScheduledJob, ScheduledThread, Scheduler } from './scheduler.js'

/** Registers the metrics of a pool: threads by class and state, lost threads, helped queries, waiting and running
 *  requests. */
export function registerPoolMetrics<J extends ScheduledJob>(
  metrics: Metrics,
  parts: { threads: ReadonlySet<ScheduledThread<J>>; scheduler: Scheduler<J>; lost: () => number; helps: () => number },
): void {
  const { threads, scheduler, lost, helps } = parts
  const costs = ['evm', 'scan', 'quick'] as const
  metrics.gauge('cairn_threads', 'Reader threads by class and state; the spare takes the place of a lost one.', () => {
    const counts = new Map<string, [Labels, number]>()
    for (const name of [...costs, 'spare'] as const) {
      for (const state of ['starting', 'idle', 'busy']) counts.set(`${name} ${state}`, [{ class: name, state }, 0])
    }
    for (const { cost, reader } of threads) {
      const state = !reader.ready ? 'starting' : reader.jobCount() === 0 ? 'idle' : 'busy'
      counts.get(`${cost ?? 'spare'} ${state}`)![1]++
    }
    return counts.values()
  })
  metrics.counter(
    'cairn_threads_lost_total',
    'Reader threads that failed, or were ended because a request did not.',
    lost,
  )
  metrics.counter('cairn_threads_helped_total', 'Log queries that a second, idle thread helped with.', helps)
  metrics.gauge('cairn_queue_requests', 'Requests that no thread was handed yet, by class.', () =>
    costs.map((cost) => [{ class: cost }, scheduler.waiting(cost)]),
  )
  metrics.gauge('cairn_thread_requests', 'Requests that threads were handed and have not answered, by class.', () =>
    costs.map((cost) => {
      const own = [...threads].filter((thread) => thread.cost === cost)
      return [{ class: cost }, own.reduce((sum, { reader }) => sum + reader.jobCount(), 0)]
    }),
  )
}
