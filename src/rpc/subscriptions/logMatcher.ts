import type { LogCriteria } from '../core/session.js'
import { type LogValues, wantsLog } from './logCriteria.js'

/** A listener with criteria for logs. */
interface WithCriteria {
  readonly topic: { readonly criteria: LogCriteria }
}

/** Finds the listeners of a log among thousands. Each is indexed under the values of one clause of its criteria, the
 *  one whose values index the fewest others: a log is compared only with the listeners found by its address and
 *  topics. */
export interface LogMatcher<L extends WithCriteria> {
  add(listener: L): void
  remove(listener: L): void
  /** Calls `take` once for each listener whose criteria match the log. Ignores the block. */
  match(log: LogValues, take: (listener: L) => void): void
  size(): number
}

/** The column of an address; topics follow by position. */
const ADDRESS = 0
const COLUMNS = 5
/** The most selective ones first, to break ties: a topic after the first tends to be an account. */
const PREFERENCE = [2, 3, 4, ADDRESS, 1]

/** An empty matcher. */
export function createLogMatcher<L extends WithCriteria>(): LogMatcher<L> {
  const columns = Array.from({ length: COLUMNS }, () => new Map<string, Set<L>>())
  /** Listeners without any clause. */
  const others = new Set<L>()
  const places = new Map<L, number | undefined>()

  const crowdOf = (column: number, values: ReadonlySet<string>) => {
    let most = 0
    for (const value of values) most = Math.max(most, columns[column].get(value)?.size ?? 0)
    return most
  }
  const chooseColumn = (criteria: LogCriteria) => {
    let [best, least] = [undefined as number | undefined, Number.POSITIVE_INFINITY]
    for (const column of PREFERENCE) {
      const values = clauseOf(criteria, column)
      const crowd = values && crowdOf(column, values)
      if (crowd === undefined || crowd >= least) continue
      best = column
      least = crowd
    }
    return best
  }
  const matchAmong = (listeners: ReadonlySet<L> | undefined, log: LogValues, take: (listener: L) => void) => {
    if (listeners === undefined) return
    for (const listener of listeners) if (wantsLog(listener.topic.criteria, log)) take(listener)
  }
  return {
    add(listener) {
      const column = chooseColumn(listener.topic.criteria)
      places.set(listener, column)
      if (column === undefined) return void others.add(listener)
      const index = columns[column]
      for (const value of clauseOf(listener.topic.criteria, column)!) {
        const listeners = index.get(value)
        if (listeners === undefined) index.set(value, new Set([listener]))
        else listeners.add(listener)
      }
    },
    remove(listener) {
      if (!places.has(listener)) return
      const column = places.get(listener)
      places.delete(listener)
      if (column === undefined) return void others.delete(listener)
      const index = columns[column]
      for (const value of clauseOf(listener.topic.criteria, column)!) {
        const listeners = index.get(value)!
        listeners.delete(listener)
        if (listeners.size === 0) index.delete(value)
      }
    },
    match(log, take) {
      matchAmong(others, log, take)
      matchAmong(columns[ADDRESS].get(log.address), log, take)
      for (const [i, topic] of log.topics.entries()) matchAmong(columns[i + 1].get(topic), log, take)
    },
    size: () => places.size,
  }
}

function clauseOf({ addresses, topics }: LogCriteria, column: number): ReadonlySet<string> | undefined {
  return column === ADDRESS ? addresses : topics[column - 1]
}
