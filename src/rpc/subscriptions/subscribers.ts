import { type ChainMark, EVERYTHING } from '../../store/rows/chainFollower.js'
import { LIMIT_EXCEEDED, RpcError } from '../core/errors.js'
import type { Subscriber, SubscriptionTopic, Topic } from '../core/session.js'
import type { Client } from './filters.js'
import type { L2Feed, L2Listener } from './l2Feed.js'
import type { SubscriptionLimits } from './limits.js'
import { LISTENER_BYTES, type ListenerMemory } from './listenerMemory.js'
import { randomId } from './randomId.js'
import type { Listener, SubscriptionRegistry } from './subscriptionRegistry.js'

/** Error beyond a limit of subscriptions. */
export const TOO_MANY_SUBSCRIPTIONS = { code: LIMIT_EXCEEDED, message: 'too many subscriptions' } as const

/** The connection of a subscriber. */
export interface Link {
  /** Sends notifications, each as its own message, or disconnects a client that has not read the previous ones. */
  send(messages: readonly Buffer[]): void
  /** Closes the connection, with a reason of at most 123 bytes. */
  cutOff(reason: string): void
  /** False while much is unread. */
  hasRoom(): boolean
}

/** The subscriptions of a connection, for the server. */
export interface ConnectedSubscriber extends Subscriber {
  /** Starts the subscriptions created since the last call. Call it immediately before their responses are sent, and
   *  `flush` immediately after. */
  begin(): void
  /** Sends what is queued. */
  flush(): void
  /** Ends all subscriptions. */
  close(): void
  /** True while there are subscriptions. */
  isActive(): boolean
}

/** A connection with notifications to send. */
export interface Outgoing {
  flush(): void
  cutOff(reason: string): void
}

interface Subscription {
  readonly id: string
  readonly sizeBytes: number
  begin(): void
  end(): void
}

/** The feeds, each started before a listener is added. */
interface Feeds {
  readonly registry: SubscriptionRegistry
  /** Starts listening to the Ethereum chain. @returns a mark of the current chain */
  mark(): ChainMark
  /** The layer-2 feed, started. */
  l2(): L2Feed
}

const SUFFIX = Buffer.from('}}')
const FALSE = Buffer.from('false')

/** Notifications of a connection are sent at this size, and at the end of each block. */
const FLUSHED_BYTES = 16_384

/** All connections with subscriptions to the feeds. Subscriptions count against `memory`. */
export class Subscribers {
  readonly feeds: Feeds
  readonly limits: SubscriptionLimits
  readonly memory: ListenerMemory
  /** Connections with queued notifications. */
  readonly outgoing = new Set<Outgoing>()
  /** Connections that listen to the Ethereum chain. */
  readonly listening = new Set<Outgoing>()
  readonly #countByClient = new Map<number | string, number>()
  #total = 0

  constructor(feeds: Feeds, { limits, memory }: { limits: SubscriptionLimits; memory: ListenerMemory }) {
    this.feeds = feeds
    this.limits = limits
    this.memory = memory
  }

  connect(client: Client, link: Link): ConnectedSubscriber {
    return new Connection(this, client, link)
  }

  /** Connections with notifications queued since the last call. */
  takeOutgoing(): Outgoing[] {
    const all = [...this.outgoing]
    this.outgoing.clear()
    return all
  }

  /** Disconnects all connections that listen to the Ethereum chain. */
  cutOff(reason: string): void {
    for (const connection of [...this.listening]) connection.cutOff(reason)
  }

  /** Number of all subscriptions. */
  count(): number {
    return this.#total
  }

  /** Number of the client's subscriptions, over all its connections. */
  countOf({ countedAs }: Client): number {
    return this.#countByClient.get(countedAs) ?? 0
  }

  /** Counts a subscription of the client that was created or has ended. */
  changeCount(client: Client, change: 1 | -1): void {
    const left = this.countOf(client) + change
    if (left === 0) this.#countByClient.delete(client.countedAs)
    else this.#countByClient.set(client.countedAs, left)
    this.#total += change
  }
}

/** The subscriptions of a connection and its queued notifications. */
class Connection implements ConnectedSubscriber, Outgoing {
  readonly #all: Subscribers
  readonly #client: Client
  readonly #link: Link
  readonly #own = new Map<string, Subscription>()
  /** Subscriptions that are not begun. */
  #made: Subscription[] = []
  #messages: Buffer[] = []
  #bytes = 0

  constructor(all: Subscribers, client: Client, link: Link) {
    this.#all = all
    this.#client = client
    this.#link = link
  }

  subscribe(topic: SubscriptionTopic): string {
    const { limits, memory } = this.#all
    const { countedAs } = this.#client
    if (this.#own.size >= limits.connectionSubscriptions) {
      throw tooMany(`the limit of a connection is ${limits.connectionSubscriptions}`)
    }
    if (this.#all.countOf(this.#client) >= limits.clientSubscriptions) {
      throw tooMany(`the limit is ${limits.clientSubscriptions}`)
    }
    const id = randomId()
    const subscription = topic.kind === 'l2Heads' ? this.#createL2(id, topic.fromBlock) : this.#createChain(id, topic)
    if (!memory.resize(countedAs, subscription.sizeBytes)) {
      memory.resize(countedAs, -subscription.sizeBytes)
      throw tooMany('there is no memory for another')
    }
    this.#own.set(id, subscription)
    this.#made.push(subscription)
    this.#all.changeCount(this.#client, 1)
    return id
  }

  unsubscribe(id: string): boolean {
    const subscription = this.#own.get(id)
    if (subscription !== undefined) this.#end(subscription)
    return subscription !== undefined
  }

  begin(): void {
    if (this.#made.length === 0) return
    const begun = this.#made.filter(({ id }) => this.#own.has(id))
    this.#made = []
    for (const subscription of begun) subscription.begin()
  }

  close(): void {
    for (const subscription of this.#own.values()) this.#end(subscription)
    this.#messages = []
    this.#all.outgoing.delete(this)
  }

  isActive(): boolean {
    return this.#own.size > 0
  }

  flush(): void {
    this.#all.outgoing.delete(this)
    if (this.#messages.length === 0) return
    const messages = this.#messages
    this.#messages = []
    this.#bytes = 0
    this.#link.send(messages)
  }

  cutOff(reason: string): void {
    this.#link.cutOff(reason)
  }

  #send(id: string, prefix: Buffer, json: Buffer): void {
    if (!this.#own.has(id)) return
    const message = Buffer.concat([prefix, json, SUFFIX])
    this.#messages.push(message)
    this.#bytes += message.length
    this.#all.outgoing.add(this)
    if (this.#bytes >= FLUSHED_BYTES) this.flush()
  }

  #end(subscription: Subscription): void {
    this.#own.delete(subscription.id)
    subscription.end()
    this.#all.changeCount(this.#client, -1)
    this.#all.memory.resize(this.#client.countedAs, -subscription.sizeBytes)
    if (this.#own.size === 0) this.#all.listening.delete(this)
  }

  #createChain(id: string, topic: Topic): Subscription {
    const { registry, mark } = this.#all.feeds
    const prefix = prefixOf('eth_subscription', 'subscription', id)
    const listener: Listener = {
      ...{ topic, mark: EVERYTHING },
      takeHead: (head) => this.#send(id, prefix, head.json()),
      takeLog: (log) => this.#send(id, prefix, log.json()),
      takeReceipts: (json) => this.#send(id, prefix, json),
    }
    return {
      id,
      sizeBytes: LISTENER_BYTES + ('criteria' in topic ? topic.criteria.sizeBytes : 0),
      begin: () => {
        listener.mark = mark()
        registry.add(listener)
        this.#all.listening.add(this)
        // geth also notifies a new subscriber that the synchronisation is done.
        if (topic.kind === 'syncing') this.#send(id, prefix, FALSE)
      },
      end: () => registry.remove(listener),
    }
  }

  #createL2(id: string, fromBlock: number | undefined): Subscription {
    const { l2 } = this.#all.feeds
    const listener: L2Listener = {
      take: ({ method, json }) => this.#send(id, prefixOf(method, 'subscription_id', id), json),
      hasRoom: this.#link.hasRoom,
    }
    return {
      id,
      sizeBytes: LISTENER_BYTES,
      begin: () => l2().add(listener, fromBlock),
      end: () => l2().remove(listener),
    }
  }
}

/** The part of a notification before its result. */
function prefixOf(method: string, idName: string, id: string): Buffer {
  return Buffer.from(`{"jsonrpc":"2.0","method":"${method}","params":{"${idName}":"${id}","result":`)
}

function tooMany(reason: string): RpcError {
  return new RpcError(TOO_MANY_SUBSCRIPTIONS.code, `${TOO_MANY_SUBSCRIPTIONS.message}: ${reason}`)
}
