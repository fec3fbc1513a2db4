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

interface Filter extends Listener {
  readonly client: Client
  readonly request: object | undefined
  /** JSON values that were not polled yet. */
  entries: string[]
  sizeBytes: number
  polledMs: number
}

interface FilterOptions {
  readonly limits: SubscriptionLimits
  readonly memory: ListenerMemory
  /** Marks the current chain. */
  mark(): ChainMark
  /** Resolves when filters have the changes that the database has at the call. */
  caughtUp(): Promise<void>
  /** Returns milliseconds; default: `performance.now`. */
  now?(): number
}

/** Memory of an entry besides its text. */
const ENTRY_BYTES = 50

/** Filters whose changes clients poll: they listen in `registry` and count against `memory`. */
export class Filters {
  private readonly registry: SubscriptionRegistry
  private readonly options: FilterOptions
  private readonly filters = new Map<string, Filter>()
  private readonly countByClient = new Map<number | string, number>()

  constructor(registry: SubscriptionRegistry, options: FilterOptions) {
    this.registry = registry
    this.options = options
  }

  /** The filters of one client. */
  of(client: Client): ClientFilters {
    return {
      add: (topic, request) => this.add(client, topic, request),
      poll: async (id) => {
        this.require(client, id)
        await this.options.caughtUp()
        return this.poll(this.require(client, id))
      },
      requestOf: (id) => {
        const { request } = this.require(client, id)
        if (request === undefined) throw filterNotFound()
        return request
      },
      remove: (id) => {
        const filter = this.find(client, id)
        if (filter !== undefined) this.remove(id, filter)
        return filter !== undefined
      },
    }
  }

  /** Removes filters that were not polled for too long. */
  sweep(): void {
    for (const [id, filter] of this.filters) if (this.isExpired(filter)) this.remove(id, filter)
  }

  /** Removes all filters on the chain: some of their changes are unknown. */
  clear(): void {
    for (const [id, filter] of this.filters) {
      if (filter.topic.kind !== 'newPendingTransactions') this.remove(id, filter)
    }
  }

  /** Filters of all clients. */
  count(): number {
    return this.filters.size
  }

  private add(client: Client, topic: Topic, request: object | undefined): string {
    const { limits } = this.options
    const count = this.countByClient.get(client.countedAs) ?? 0
    if (count >= limits.filters) throw tooManyFilters(`the limit is ${limits.filters}`)
    this.countByClient.set(client.countedAs, count + 1)
    const { id, filter } = this.open(client, topic, request)
    this.filters.set(id, filter)
    this.registry.add(filter)
    if (this.resize(filter, fixedBytes(filter))) return id
    this.remove(id, filter)
    throw tooManyFilters('there is no memory for another')
  }

  private open(client: Client, topic: Topic, request: object | undefined): { id: string; filter: Filter } {
    const id = randomId()
    /** Removes a filter without polls before it fills the memory. */
    const take = (entry: string) => {
      if (!this.filters.has(id)) return
      filter.entries.push(entry)
      if (!this.resize(filter, filter.sizeBytes + entry.length + ENTRY_BYTES)) this.remove(id, filter)
    }
    const filter: Filter = {
      ...{ client, topic, request, mark: this.options.mark(), entries: [], sizeBytes: 0, polledMs: this.now() },
      takeHead: (head) => take(`"${head.hash()}"`),
      takeLog: (log) => take(log.json().toString('latin1')),
    }
    return { id, filter }
  }

  private poll(filter: Filter): Buffer {
    const text = `[${filter.entries.join(',')}]`
    filter.entries = []
    this.resize(filter, fixedBytes(filter))
    return Buffer.from(text, 'latin1')
  }

  private find(client: Client, id: string): Filter | undefined {
    const filter = this.filters.get(id)
    if (filter === undefined || filter.client.keyId !== client.keyId) return undefined
    if (!this.isExpired(filter)) return filter
    this.remove(id, filter)
    return undefined
  }

  private require(client: Client, id: string): Filter {
    const filter = this.find(client, id)
    if (filter === undefined) throw filterNotFound()
    filter.polledMs = this.now()
    return filter
  }

  private remove(id: string, filter: Filter): void {
    const { countedAs } = filter.client
    const left = this.countByClient.get(countedAs)! - 1
    this.resize(filter, 0)
    if (left === 0) this.countByClient.delete(countedAs)
    else this.countByClient.set(countedAs, left)
    this.filters.delete(id)
    this.registry.remove(filter)
  }

  private resize(filter: Filter, bytes: number): boolean {
    const change = bytes - filter.sizeBytes
    filter.sizeBytes = bytes
    return this.options.memory.resize(filter.client.countedAs, change)
  }

  private isExpired({ polledMs }: Filter): boolean {
    return this.now() - polledMs > this.options.limits.filterTimeoutMs
  }

  private now(): number {
    return this.options.now?.() ?? performance.now()
  }
}

function fixedBytes({ topic }: Filter): number {
  return LISTENER_BYTES + ('criteria' in topic ? topic.criteria.sizeBytes : 0)
}

function filterNotFound(): RpcError {
  return new RpcError(FILTER_NOT_FOUND.code, FILTER_NOT_FOUND.message)
}

function tooManyFilters(reason: string): RpcError {
  return new RpcError(TOO_MANY_FILTERS.code, `${TOO_MANY_FILTERS.message}: ${reason}`)
}
