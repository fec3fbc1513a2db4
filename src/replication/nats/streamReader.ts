import {
  AckPolicy,
  type ConsumerInfo,
  DeliverPolicy,
  JetStreamError,
  type JetStreamManager,
  type JsMsg,
  ReplayPolicy,
} from '@nats-io/jetstream'
import { nanos, nuid } from '@nats-io/transport-node'
import { type Clock, systemClock } from '../../sources/upstreams/clock.js'
import { ReplicationGap } from '../errors.js'
import type { NatsLink } from './connection.js'
import { StreamDiverged } from './errors.js'
import { decodeHead } from './messageHead.js'
import type { ChainStream, StreamMessage, StreamRange } from './stream.js'
import { describeFailure, firstAnswer, isTransientError, untilAborted } from './transientError.js'

/** Which messages to read. */
export interface ReadOptions {
  /** The first sequence. */
  readonly from: number
  /** Reads the messages without their bodies. */
  readonly headersOnly?: boolean
  readonly signal: AbortSignal
  /** Called with the reason when nothing arrives, null when something does. */
  onProblem?(problem: string | null): void
  /** Called for every message, and when the stream is seen to have no more. */
  onActivity?(): void
  /** Time and timers, for tests. */
  readonly clock?: Clock
}

// Messages requested at once, of at most 1 MB each.
const BATCH = 32
const WAIT_MS = 2000
/** A server that is silent for twice this time has lost the consumer. */
const HEARTBEAT_MS = 1000
/** The server deletes a consumer that requests nothing for this long. */
const FORGET_MS = 60_000
/** A requested batch has ended by then, even if it was empty. */
const SILENCE_MS = WAIT_MS + 2 * HEARTBEAT_MS
const RETRY_MS = 250

/** Yields the messages of a stream from a sequence on, in order, each exactly once, without end. Replaces lost
 *  connections and consumers. Ends when the signal aborts.
 *  @throws ReplicationGap when the next message is not available any more, StreamDiverged, StreamReplaced */
export async function* readStream(
  link: NatsLink,
  stream: ChainStream,
  options: ReadOptions,
): AsyncGenerator<StreamMessage> {
  const { from, signal, onProblem = () => {}, onActivity = () => {}, clock = systemClock } = options
  let next = from
  let newest: StreamMessage | undefined
  while (!signal.aborted) {
    try {
      for await (const message of readConsumer(link, stream, { ...options, from: next, newest })) {
        // A message that a consumer skips is either gone, or another consumer returns it.
        if (message.sequence > next) await requireMessage(stream, next, message.sequence)
        if (message.sequence > next) break
        if (message.sequence < next) continue
        onProblem(null)
        onActivity()
        next++
        newest = message
        yield message
      }
    } catch (error) {
      if (signal.aborted) return
      if (!isTransientError(error)) throw error
      onProblem(`stream ${stream.stream}: ${describeFailure(error)}`)
      await clock.sleep(RETRY_MS, signal).catch(() => {})
    }
  }
}

/** Where a consumer starts. */
interface ConsumerOptions extends ReadOptions {
  /** The message before, if it was read. */
  readonly newest: StreamMessage | undefined
}

/** Requires that the stream still continues from the message before: a consumer for a sequence below the first one
 *  starts with that, without an error, and one after the last one waits. @throws ReplicationGap, StreamDiverged,
 *  StreamReplaced */
async function requireAvailable(stream: ChainStream, { from, newest }: ConsumerOptions): Promise<void> {
  const { first, last } = await stream.range()
  if (from > last + 1) throw new StreamDiverged(stream.stream, from - 1, `${last} as the last one`)
  if (from < first) throw new ReplicationGap(`stream ${stream.stream}`, from, first)
  if (newest === undefined || newest.sequence < first) return
  const held = await stream.message(newest.sequence)
  if (held?.id !== newest.id) throw new StreamDiverged(stream.stream, newest.sequence, 'another one')
}

async function requireMessage(stream: ChainStream, sequence: number, given: number): Promise<void> {
  if ((await stream.message(sequence)) !== undefined) return
  throw new ReplicationGap(`stream ${stream.stream}`, sequence, given)
}

/** Opens a consumer of a stream that has its first message. */
async function openConsumer(link: NatsLink, stream: ChainStream, options: ConsumerOptions): Promise<ConsumerInfo> {
  // In parallel: after the loss of a server, each of them may have to wait for the election of a leader.
  const adding = addConsumer(link, stream, options)
  adding.catch(() => {})
  try {
    await requireAvailable(stream, options)
  } catch (error) {
    adding.then(({ name }) => forgetConsumer(link.manager, stream.stream, name)).catch(() => {})
    throw error
  }
  return await adding
}

/** Creates a consumer. Each is on one server, chosen at random among those of the stream, even a frozen one. */
async function addConsumer(
  { manager }: NatsLink,
  { stream }: ChainStream,
  { from, headersOnly = false }: ReadOptions,
): Promise<ConsumerInfo> {
  const names: string[] = []
  let info: ConsumerInfo | undefined
  try {
    info = await firstAnswer(() => {
      const name = nuid.next()
      names.push(name)
      return manager.consumers.add(stream, {
        name,
        ack_policy: AckPolicy.None,
        deliver_policy: DeliverPolicy.StartSequence,
        opt_start_seq: from,
        replay_policy: ReplayPolicy.Instant,
        inactive_threshold: nanos(FORGET_MS),
        headers_only: headersOnly,
        mem_storage: true,
        num_replicas: 1,
      })
    })
    return info
  } finally {
    for (const name of names) if (name !== info?.name) forgetConsumer(manager, stream, name)
  }
}

/** Deletes a consumer; if that fails, the server does. */
function forgetConsumer(manager: JetStreamManager, stream: string, name: string): void {
  manager.consumers.delete(stream, name).catch(() => {})
}

/** Yields the messages of one consumer. The library's ordered consumer would recreate itself, even past messages
 *  that are gone. */
async function* readConsumer(
  link: NatsLink,
  stream: ChainStream,
  options: ConsumerOptions,
): AsyncGenerator<StreamMessage> {
  const { manager, publisher } = link
  const { from, signal } = options
  const info = await untilAborted(openConsumer(link, stream, options), signal)
  const consumer = publisher.consumers.getConsumerFromInfo(info)
  let given = from - 1
  const watch = watchRange(stream, options)
  try {
    while (!signal.aborted) {
      const before = given
      const batch = await consumer.fetch({
        max_messages: BATCH,
        expires: WAIT_MS,
        idle_heartbeat: HEARTBEAT_MS,
        bind: true,
      })
      const stop = () => void batch.close()
      let [isSilent, isWaiting] = [false, true]
      const timer = setTimeout(() => {
        isSilent = isWaiting
        if (isSilent) stop()
        else timer.refresh()
      }, SILENCE_MS)
      signal.addEventListener('abort', stop, { once: true })
      try {
        for await (const message of batch) {
          if (signal.aborted) return
          isWaiting = false // while the message is processed
          given = message.seq
          yield describeMessage(message)
          isWaiting = true
          timer.refresh()
        }
      } finally {
        clearTimeout(timer)
        signal.removeEventListener('abort', stop)
        stop()
      }
      if (isSilent) throw new JetStreamError(`the server said nothing for ${SILENCE_MS / 1000} s`)
      if (given === before && !signal.aborted) watch.requireNone(given + 1)
    }
  } finally {
    forgetConsumer(manager, stream.stream, info.name)
  }
}

/** Distinguishes a stream without new messages from a consumer that returns nothing. It does not wait for the
 *  stream, whose leader may be missing while the consumer works. */
function watchRange(stream: ChainStream, { clock = systemClock, onActivity = () => {} }: ReadOptions) {
  let seen: (StreamRange & { atMs: number; next: number }) | undefined
  let failure: unknown
  let isLooking = false
  const look = async (next: number) => {
    isLooking = true
    try {
      seen = { ...(await stream.range()), atMs: clock.nowMs(), next }
      if (seen.last < next) onActivity()
    } catch (error) {
      if (!isTransientError(error)) failure = error
    } finally {
      isLooking = false
    }
  }
  return {
    /** Returns when the message does not exist, as far as is known, and checks again.
     *  @throws ReplicationGap, StreamDiverged, StreamReplaced, JetStreamError */
    requireNone: (sequence: number) => {
      if (failure !== undefined) throw failure
      if (!isLooking) void look(sequence)
      if (seen?.next !== sequence) return // messages have arrived since
      const { first, last } = seen
      if (sequence > last + 1) throw new StreamDiverged(stream.stream, sequence - 1, `${last} as the last one`)
      if (sequence < first) throw new ReplicationGap(`stream ${stream.stream}`, sequence, first)
      // nats-server 2.9 may keep a consumer through a restart that then returns nothing.
      if (sequence <= last && clock.nowMs() - seen.atMs > HEARTBEAT_MS)
        throw new JetStreamError(`message ${sequence} does not come`)
    },
  }
}

function describeMessage({ seq, subject, headers, data }: JsMsg): StreamMessage {
  return { sequence: seq, subject, id: headers?.get('Nats-Msg-Id') ?? '', head: () => decodeHead(headers), data }
}
