import { type ChainMark, EVERYTHING } from '../../store/rows/chainFollower.js'
import { LIMIT_EXCEEDED, RpcError } from '../core/errors.js'
import type { Subscriber, Topic } from '../core/session.js'
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
  /** Starts the subscriptions created since the last call: their responses are sent. */
  begin(): void
  /** Ends all subscriptions. */
  close(): void
  /** True while there are subscriptions. */
  isActive(): boolean
}

/** A connection with notifications to send. */
interface Outgoing {
  flush(): void
  cutOff(reason: string): void
}

/** All connections with subscriptions. */
interface Subscribers {
  connect(client: Client, link: Link): ConnectedSubscriber
  /** Connections with notifications queued since the last call. */
  takeOutgoing(): Outgoing[]
  /** Disconnects all connections that listen to the Ethereum chain. */
  cutOff(reason: string): void
  count(): number
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

/** Subscribers of the feeds, whose subscriptions count against `memory`. */
export function createSubscribers(
  { registry, mark, l2 }: Feeds,
  { limits, memory }: { limits: SubscriptionLimits; memory: ListenerMemory },
): Subscribers {
  const countByClient = new Map<number | string, number>()
  const outgoing = new Set<Outgoing>()
  const listening = new Set<Outgoing>()
  let total = 0

  const count = ({ countedAs }: Client, change: 1 | -1) => {
    const left = (countByClient.get(countedAs) ?? 0) + change
    if (left === 0) countByClient.delete(countedAs)
    else countByClient.set(countedAs, left)
    total += change
  }
  const connect = (client: Client, link: Link): ConnectedSubscriber => {
    const own = new Map<string, Subscription>()
    /** Subscriptions whose responses are not sent yet. */
    let made: Subscription[] = []
    let messages: Buffer[] = []
    let bytes = 0
    const flush = () => {
      outgoing.delete(sender)
      if (messages.length === 0) return
      const now = messages
      messages = []
      bytes = 0
      link.send(now)
    }
    const sender: Outgoing = { flush, cutOff: (reason) => link.cutOff(reason) }
    const send = (id: string, prefix: Buffer, json: Buffer) => {
      if (!own.has(id)) return
      const message = Buffer.concat([prefix, json, SUFFIX])
      messages.push(message)
      bytes += message.length
      outgoing.add(sender)
      if (bytes >= FLUSHED_BYTES) flush()
    }
    const end = (subscription: Subscription) => {
      own.delete(subscription.id)
      subscription.end()
      count(client, -1)
      memory.resize(client.countedAs, -subscription.sizeBytes)
      if (own.size === 0) listening.delete(sender)
    }
    const subscribeToChain = (id: string, topic: Topic): Subscription => {
      const prefix = prefixOf('eth_subscription', 'subscription', id)
      const listener: Listener = {
        ...{ topic, mark: EVERYTHING },
        takeHead: (head) => send(id, prefix, head.json()),
        takeLog: (log) => send(id, prefix, log.json()),
        takeReceipts: (json) => send(id, prefix, json),
      }
      return {
        id,
        sizeBytes: LISTENER_BYTES + ('criteria' in topic ? topic.criteria.sizeBytes : 0),
        begin() {
          listener.mark = mark()
          registry.add(listener)
          listening.add(sender)
          // geth also notifies a new subscriber that the synchronisation is done.
          if (topic.kind === 'syncing') send(id, prefix, FALSE)
        },
        end: () => registry.remove(listener),
      }
    }
    const subscribeToL2 = (id: string, fromBlock: number | undefined): Subscription => {
      const listener: L2Listener = {
        take: ({ method, json }) => send(id, prefixOf(method, 'subscription_id', id), json),
        hasRoom: link.hasRoom,
      }
      return {
        id,
        sizeBytes: LISTENER_BYTES,
        begin: () => l2().add(listener, fromBlock),
        end: () => l2().remove(listener),
      }
    }
    return {
      subscribe(topic) {
        if (own.size >= limits.connectionSubscriptions) {
          throw tooMany(`the limit of a connection is ${limits.connectionSubscriptions}`)
        }
        if ((countByClient.get(client.countedAs) ?? 0) >= limits.clientSubscriptions) {
          throw tooMany(`the limit is ${limits.clientSubscriptions}`)
        }
        const id = randomId()
        const subscription = topic.kind === 'l2Heads' ? subscribeToL2(id, topic.fromBlock) : subscribeToChain(id, topic)
        if (!memory.resize(client.countedAs, subscription.sizeBytes)) {
          memory.resize(client.countedAs, -subscription.sizeBytes)
          throw tooMany('there is no memory for another')
        }
        own.set(id, subscription)
        made.push(subscription)
        count(client, 1)
        return id
      },
      unsubscribe(id) {
        const subscription = own.get(id)
        if (subscription !== undefined) end(subscription)
        return subscription !== undefined
      },
      begin() {
        if (made.length === 0) return
        const begun = made.filter(({ id }) => own.has(id))
        made = []
        for (const subscription of begun) subscription.begin()
        flush()
      },
      close() {
        for (const subscription of own.values()) end(subscription)
        messages = []
        outgoing.delete(sender)
      },
      isActive: () => own.size > 0,
    }
  }
  return {
    connect,
    takeOutgoing() {
      const all = [...outgoing]
      outgoing.clear()
      return all
    },
    cutOff(reason) {
      for (const sender of [...listening]) sender.cutOff(reason)
    },
    count: () => total,
  }
}

/** The part of a notification before its result. */
function prefixOf(method: string, idName: string, id: string): Buffer {
  return Buffer.from(`{"jsonrpc":"2.0","method":"${method}","params":{"${idName}":"${id}","result":`)
}

function tooMany(reason: string): RpcError {
  return new RpcError(TOO_MANY_SUBSCRIPTIONS.code, `${TOO_MANY_SUBSCRIPTIONS.message}: ${reason}`)
}
