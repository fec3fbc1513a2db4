import { JetStreamApiCodes, JetStreamApiError } from '@nats-io/jetstream'
import { type Clock, systemClock } from '../../sources/upstreams/clock.js'
import type { NatsLink } from './connection.js'
import { Fenced, StreamWentBack } from './errors.js'
import { encodeHead } from './messageHead.js'
import type { ChainStream, StreamMessage } from './stream.js'
import { describeFailure, isTransientError, untilAborted } from './transientError.js'
import type { OutgoingMessage } from './unitMessages.js'

/* Sends one message at a time. The expected last sequence rejects the message of a writer that has lost its lease.
 * With several in flight it would not: after the first is rejected, the server accepts the second right behind the
 * message of the other writer, since its sequence is the expected one. The expected last id would reject it, but in
 * a cluster of nats-server 2.9 each server compares it by itself, and one that has just caught up does not know it. */

/** Appends messages to a stream, each exactly once. */
export interface StreamSender {
  /** Sequence of the last message in the stream. */
  readonly sequence: number
  /** Resolves when the message is in the stream right after the one before; retries without limit.
   *  @throws Fenced, StreamWentBack, StreamReplaced, the reason of the signal */
  send(message: OutgoingMessage): Promise<void>
}

/** What `createSender` needs. */
export interface SenderOptions {
  readonly link: NatsLink
  readonly stream: ChainStream
  readonly signal: AbortSignal
  /** Sequence of the last message in the stream. */
  readonly sequence: number
  onProblem?(problem: string | null): void
  /** Time and timers, for tests. */
  readonly clock?: Clock
}

/** An acknowledgement takes some ms. A frozen leader never sends it, and the next leader is elected after 4 s at the
 *  earliest. */
const ACK_MS = 2000
const RETRY_MS = 100
const MAX_RETRY_MS = 500
/** A new leader of the stream may not know the last messages at once: number of checks before they count as lost. */
const LOOKS = 5
const LOOK_MS = 500

/** Creates a sender that appends after the last message of a stream. */
export function createSender(options: SenderOptions): StreamSender {
  const { link, stream, signal, onProblem = () => {}, clock = systemClock } = options
  let { sequence } = options
  const publish = async ({ head, data }: OutgoingMessage, next: number, id: string): Promise<boolean> => {
    const ack = await link.publisher.publish(stream.subject, data, {
      headers: encodeHead(head),
      msgID: id,
      timeout: ACK_MS,
      expect: { lastSequence: next - 1, streamName: stream.stream },
    })
    return ack.seq === next
  }
  /** True when the message is in the stream, false when its sequence is unused. */
  const isStored = async (next: number, id: string): Promise<boolean> => {
    for (let look = 1; ; look++) {
      const { last } = await stream.range()
      if (last === next - 1) return false
      const found = last < next ? undefined : await stream.message(next)
      if (found?.id === id) return true
      if (found !== undefined) throw new Fenced(stream.stream, next, epochOf(found))
      if (look === LOOKS) {
        throw last < next
          ? new StreamWentBack(stream.stream, next - 1, last)
          : new Fenced(stream.stream, next, undefined)
      }
      await clock.sleep(LOOK_MS, signal)
    }
  }
  const send = async (message: OutgoingMessage): Promise<void> => {
    const next = sequence + 1
    const id = `${message.head.epoch}:${next}:${message.key}`
    let isUncertain = false
    for (let retryMs = RETRY_MS; ; retryMs = Math.min(2 * retryMs, MAX_RETRY_MS)) {
      try {
        if (isUncertain && (await untilAborted(isStored(next, id), signal))) break
        if (await untilAborted(publish(message, next, id), signal)) break
      } catch (error) {
        signal.throwIfAborted()
        if (!isTransientError(error)) throw error
        if (!isWrongSequence(error)) onProblem(`stream ${stream.stream}: ${describeFailure(error)}`)
      }
      isUncertain = true
      await clock.sleep(retryMs, signal)
    }
    if (isUncertain) onProblem(null)
    sequence = next
  }
  return {
    get sequence() {
      return sequence
    },
    send,
  }
}

function epochOf(message: StreamMessage): number | undefined {
  try {
    return message.head().epoch
  } catch {
    return undefined // not a message of Cairn
  }
}

function isWrongSequence(error: unknown): boolean {
  return error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamWrongLastSequence
}
