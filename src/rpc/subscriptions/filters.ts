import type { ChainMark } from '../../store/rows/chainFollower.js'
import { LIMIT_EXCEEDED, RpcError, SERVER_ERROR } from '../core/errors.js'
import type { ClientFilters, Topic } from '../core/session.js'
import type { SubscriptionLimits } from './limits.js'
import { LISTENER_BYTES, type ListenerMemory } from './listenerMemory.js'
import { randomId } from './randomId.js'
import type { Listener, SubscriptionRegistry } from './subscriptionRegistry.js'

/** Error for an id that no filter of the client has: it was never issued, has expired, or was removed. */
export const FILTER_NOT_FOUND = { code: SERVER_ERROR, message: 'filter not found' } as const
/** Error beyond the limit of filters. */
export const TOO_MANY_FILTERS = { code: LIMIT_EXCEEDED, message: 'too many filters' } as const

/** Owner of filters and subscriptions. */
export interface Client {
  /** Undefined on an open server. */
  readonly keyId: number | undefined
  /** The quota they count against: the key's, else the address's. */
  readonly countedAs: number | string
}

/** Filters whose changes clients poll. */
interface Filters {
  of(client: Client): ClientFilters
  /** Removes filters that were not polled for too long. */
  sweep(): void
  /** Removes all filters on the chain: some of their changes are unknown. */
  clear(): void
  /** Filters of all clients. */
  count(): number
}

interface Filter extends Listener {
  readonly client: Client
  readonly request: object | undefined
  /** JSON values that were not polled yet. */
  entries: string[]
  sizeBytes: number
  polledMs: number
}

/** Memory of an entry besides its text. */
const ENTRY_BYTES = 50

/** Filters that listen in the registry `registry` and count against `memory`; `mark` marks the current chain. `now`
 *  returns milliseconds. */
export function createFilters(
  registry: SubscriptionRegistry,
  {
    limits,
    memory,
    mark,
    now = () => performance.now(),
  }: { limits: SubscriptionLimits; memory: ListenerMemory; mark(): ChainMark; now?: () => number },
): Filters {
  const filters = new Map<string, Filter>()
  const countByClient = new Map<number | string, number>()

  const resize = (filter: Filter, bytes: number) => {
    const change = bytes - filter.sizeBytes
    filter.sizeBytes = bytes
    return memory.resize(filter.client.countedAs, change)
  }
  const remove = (id: string, filter: Filter) => {
    const { countedAs } = filter.client
    const left = countByClient.get(countedAs)! - 1
    resize(filter, 0)
    if (left === 0) countByClient.delete(countedAs)
    else countByClient.set(countedAs, left)
    filters.delete(id)
    registry.remove(filter)
  }
  const find = (client: Client, id: string) => {
    const filter = filters.get(id)
    if (filter === undefined || filter.client.keyId !== client.keyId) return undefined
    if (now() - filter.polledMs <= limits.filterTimeoutMs) return filter
    remove(id, filter)
    return undefined
  }
  const require = (client: Client, id: string) => {
    const filter = find(client, id)
    if (filter === undefined) throw new RpcError(FILTER_NOT_FOUND.code, FILTER_NOT_FOUND.message)
    filter.polledMs = now()
    return filter
  }
  const open = (client: Client, topic: Topic, request: object | undefined) => {
    const id = randomId()
    /** Removes a filter without polls before it fills the memory. */
    const take = (entry: string) => {
      if (!filters.has(id)) return
      filter.entries.push(entry)
      if (!resize(filter, filter.sizeBytes + entry.length + ENTRY_BYTES)) remove(id, filter)
    }
    const filter: Filter = {
      ...{ client, topic, request, mark: mark(), entries: [], sizeBytes: 0, polledMs: now() },
      takeHead: (head) => take(`"${head.hash()}"`),
      takeLog: (log) => take(log.json().toString('latin1')),
    }
    return { id, filter }
  }
  const fixedBytes = ({ topic }: Filter) => LISTENER_BYTES + ('criteria' in topic ? topic.criteria.sizeBytes : 0)
  return {
    of: (client) => ({
      add(topic, request) {
        const count = countByClient.get(client.countedAs) ?? 0
        if (count >= limits.filters) throw tooManyFilters(`the limit is ${limits.filters}`)
        countByClient.set(client.countedAs, count + 1)
        const { id, filter } = open(client, topic, request)
        filters.set(id, filter)
        registry.add(filter)
        if (resize(filter, fixedBytes(filter))) return id
        remove(id, filter)
        throw tooManyFilters('there is no memory for another')
      },
      poll(id) {
        const filter = require(client, id)
        const text = `[${filter.entries.join(',')}]`
        filter.entries = []
        resize(filter, fixedBytes(filter))
        return Buffer.from(text, 'latin1')
      },
      requestOf(id) {
        const { request } = require(client, id)
        if (request === undefined) throw new RpcError(FILTER_NOT_FOUND.code, FILTER_NOT_FOUND.message)
        return request
      },
      remove(id) {
        const filter = find(client, id)
        if (filter !== undefined) remove(id, filter)
        return filter !== undefined
      },
    }),
    sweep() {
      for (const [id, filter] of filters) if (now() - filter.polledMs > limits.filterTimeoutMs) remove(id, filter)
    },
    clear() {
      for (const [id, filter] of filters) if (filter.topic.kind !== 'newPendingTransactions') remove(id, filter)
    },
    count: () => filters.size,
  }
}

function tooManyFilters(reason: string): RpcError {
  return new RpcError(TOO_MANY_FILTERS.code, `${TOO_MANY_FILTERS.message}: ${reason}`)
}
