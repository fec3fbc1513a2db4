import { AckPolicy, DeliverPolicy, JetStreamError, type JsMsg, ReplayPolicy } from '@nats-io/jetstream'
import { nanos } from '@nats-io/transport-node'
import { type Clock, systemClock } from '../../sources/upstream/clock.js'
import { ReplicationGap } from '../errors.js'
import type { NatsLink } from './connection.js'
import { decodeHead } from './messageHead.js'
import { describeFailure, isPassing, untilAborted } from './passing.js'
import type { ChainStream, StreamMessage } from './stream.js'

/** Which messages are read. */
export interface ReadOptions {
  /** The first sequence. */
  readonly from: number
  /** Without their bodies. */
  readonly headersOnly?: boolean
  readonly signal: AbortSignal
  /** Told why nothing comes, and null when something comes. */
  onProblem?(problem: string | null): void
  /** Time and timers, for tests. */
  readonly clock?: Clock
}

// Messages that are asked for at once, of at most 1 MB each.
const BATCH = 32
const WAIT_MS = 2500
/** A server that says nothing for twice this time has lost the consumer. */
const HEARTBEAT_MS = 1000
/** The server forgets a consumer that asks for nothing. */
const FORGET_MS = 60_000
/** A batch that was asked for has ended by then, also when it was empty. */
const SILENCE_MS = WAIT_MS + 2 * HEARTBEAT_MS
const RETRY_MS = 250

/** The messages of a stream from a sequence on, in order, without end: each once, none is left out. Connections and consumers that are
 *  lost are made again. Ends when the signal aborts.
 *  @throws ReplicationGap when the next one is not held any more, StreamReplaced */
export async function* readStream(
  link: NatsLink,
  stream: ChainStream,
  options: ReadOptions,
): AsyncGenerator<StreamMessage> {
  const { from, signal, onProblem = () => {}, clock = systemClock } = options
  let next = from
  while (!signal.aborted) {
    try {
      await untilAborted(requireHeld(stream, next), signal)
      for await (const message of readConsumer(link, stream, { ...options, from: next })) {
        // What a consumer leaves out is either gone, or another one gives it.
        if (message.sequence > next) await requireMessage(stream, next, message.sequence)
        if (message.sequence > next) break
        if (message.sequence < next) continue
        onProblem(null)
        next++
        yield message
      }
    } catch (error) {
      if (signal.aborted) return
      if (!isPassing(error)) throw error
      onProblem(`stream ${stream.stream}: ${describeFailure(error)}`)
      await clock.sleep(RETRY_MS, signal).catch(() => {})
    }
  }
}

/** A consumer that is asked for a sequence below the first one begins with that, without an error. */
async function requireHeld(stream: ChainStream, sequence: number): Promise<void> {
  const { first } = await stream.range()
  if (sequence < first) throw new ReplicationGap(`stream ${stream.stream}`, sequence, first)
}

async function requireMessage(stream: ChainStream, sequence: number, given: number): Promise<void> {
  if ((await stream.message(sequence)) !== undefined) return
  throw new ReplicationGap(`stream ${stream.stream}`, sequence, given)
}

/** What one consumer gives. The library's ordered consumer would be made again by itself, also behind messages that are gone. */
async function* readConsumer(
  { manager, publisher }: NatsLink,
  { stream, range }: ChainStream,
  { from, headersOnly = false, signal }: ReadOptions,
): AsyncGenerator<StreamMessage> {
  const adding = manager.consumers.add(stream, {
    ack_policy: AckPolicy.None,
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: from,
    replay_policy: ReplayPolicy.Instant,
    inactive_threshold: nanos(FORGET_MS),
    headers_only: headersOnly,
    mem_storage: true,
    num_replicas: 1,
  })
  const info = await untilAborted(adding, signal)
  const consumer = publisher.consumers.getConsumerFromInfo(info)
  let given = from - 1
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
      // nats-server 2.9 may keep a consumer through a restart that then gives nothing.
      if (given === before && !signal.aborted && given < (await untilAborted(range(), signal)).last) {
        throw new JetStreamError(`nothing came after message ${given}`)
      }
      if (isSilent) throw new JetStreamError(`the server said nothing for ${SILENCE_MS / 1000} s`)
    }
  } finally {
    manager.consumers.delete(stream, info.name).catch(() => {}) // else the server forgets it
  }
}

function describeMessage({ seq, subject, headers, data }: JsMsg): StreamMessage {
  return { sequence: seq, subject, id: headers?.get('Nats-Msg-Id') ?? '', head: () => decodeHead(headers), data }
}
