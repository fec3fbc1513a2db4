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

/** Which messages are read. */
export interface ReadOptions {
  /** The first sequence. */
  readonly from: number
  /** Without their bodies. */
  readonly headersOnly?: boolean
  readonly signal: AbortSignal
  /** Told why nothing comes, and null when something comes. */
  onProblem?(problem: string | null): void
  /** Told of every message, and when the stream is seen to hold no more. */
  onConnectionHealth?(): void
  /** Time and timers, for tests. */
  readonly clock?: Clock
}

// Messages that are asked for at once, of at most 1 MB each.
const BATCH = 32
const WAIT_MS = 2000
/** A server that says nothing for twice this time has lost the consumer. */
const HEARTBEAT_MS = 1000
/** The server forgets a consumer that asks for nothing. */
const FORGET_MS = 60_000
/** A batch that was asked for has ended by then, also when it was empty. */
const SILENCE_MS = WAIT_MS + 2 * HEARTBEAT_MS
const RETRY_MS = 250

/** The messages of a stream from a sequence on, in order, without end: each once, none is left out. Connections and consumers that are
 *  lost are made again. Ends when the signal aborts.
 *  @throws ReplicationGap when the next one is not available any more, StreamDiverged, StreamReplaced */
export async function* readStream(
  link: NatsLink,
  stream: ChainStream,
  options: ReadOptions,
): AsyncGenerator<StreamMessage> {
  const { from, signal, onProblem = () => {}, onConnectionHealth = () => {}, clock = systemClock } = options
  let next = from
  let newest: StreamMessage | undefined
  while (!signal.aborted) {
    try {
      for await (const message of readConsumer(link, stream, { ...options, from: next, newest })) {
        // What a consumer leaves out is either gone, or another one gives it.
        if (message.sequence > next) await requireMessage(stream, next, message.sequence)
        if (message.sequence > next) break
        if (message.sequence < next) continue
        onProblem(null)
        onConnectionHealth()
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

/** Where a consumer begins. */
interface ConsumerOptions extends ReadOptions {
  /** The message before, if it was read. */
  readonly newest: StreamMessage | undefined
}

/** Requires that the stream still goes on from the message before: a consumer that is asked for a sequence below the first one begins
 *  with that, without an error, and one behind the last one waits. @throws ReplicationGap, StreamDiverged, StreamReplaced */
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

/** A consumer of a stream that holds its first message. */
async function openConsumer(link: NatsLink, stream: ChainStream, options: ConsumerOptions): Promise<ConsumerInfo> {
  // Side by side: after the loss of a server, each of them may have to wait for the election of a leader.
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

/** Makes a consumer. Each lies on one server, which is chosen at random among those of the stream, also when that is frozen. */
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

/** Deletes a consumer, or else the server forgets it. */
function forgetConsumer(manager: JetStreamManager, stream: string, name: string): void {
  manager.consumers.delete(stream, name).catch(() => {})
}

/** What one consumer gives. The library's ordered consumer would be made again by itself, also behind messages that are gone. */
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
          isWaiting = false // as long as the message is worked on
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

/** Tells a stream without new messages from a consumer that gives nothing. It does not wait for the stream, whose leader may be
 *  missing while the consumer is well. */
function watchRange(stream: ChainStream, { clock = systemClock, onConnectionHealth = () => {} }: ReadOptions) {
  let seen: (StreamRange & { atMs: number; next: number }) | undefined
  let failure: unknown
  let isLooking = false
  const look = async (next: number) => {
    isLooking = true
    try {
      seen = { ...(await stream.range()), atMs: clock.nowMs(), next }
      if (seen.last < next) onConnectionHealth()
    } catch (error) {
      if (!isTransientError(error)) failure = error
    } finally {
      isLooking = false
    }
  }
  return {
    /** Returns when there is no such message, as far as is known, and looks again.
     *  @throws ReplicationGap, StreamDiverged, StreamReplaced, JetStreamError */
    requireNone: (sequence: number) => {
      if (failure !== undefined) throw failure
      if (!isLooking) void look(sequence)
      if (seen?.next !== sequence) return // messages have come since
      const { first, last } = seen
      if (sequence > last + 1) throw new StreamDiverged(stream.stream, sequence - 1, `${last} as the last one`)
      if (sequence < first) throw new ReplicationGap(`stream ${stream.stream}`, sequence, first)
      // nats-server 2.9 may keep a consumer through a restart that then gives nothing.
      if (sequence <= last && clock.nowMs() - seen.atMs > HEARTBEAT_MS)
        throw new JetStreamError(`message ${sequence} does not come`)
    },
  }
}

function describeMessage({ seq, subject, headers, data }: JsMsg): StreamMessage {
  return { sequence: seq, subject, id: headers?.get('Nats-Msg-Id') ?? '', head: () => decodeHead(headers), data }
}
