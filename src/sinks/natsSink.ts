import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../lib/errors.js'
import type { Logger } from '../lib/logger.js'
import { connectNats, type NatsLink, type NatsSettings, requireNatsSettings } from '../replication/nats/connection.js'
import type { MessageLimits } from './messages.js'
import { DeliveryFailed, type SinkTransport } from './webhook.js'

/** Creates a transport that publishes messages to a subject of a JetStream, and connects with the first one. The stream
 *  acknowledges a message once it has stored it, and drops a repeated attempt by its id. @throws UsageError for an
 *  invalid file of credentials */
export function createNatsSink(
  { nats, subject }: { nats: NatsSettings; subject: string },
  { log, signal }: { log: Logger; signal: AbortSignal },
): SinkTransport {
  requireNatsSettings(nats)
  let link: NatsLink | undefined
  let problem: string | null = null
  let connecting: Promise<NatsLink> | undefined
  const connect = async () => {
    connecting ??= connectNats(nats, {
      log,
      signal,
      onProblem: (text) => {
        problem = text
      },
    })
    link = await Promise.race([connecting, failAfter(ACK_MS, () => problem)])
    return link
  }
  return {
    async send({ id, body }) {
      const { publisher, maxPayload } = link ?? (await connect())
      if (body.length + HEADER_BYTES > maxPayload) {
        throw new DeliveryFailed(`a message has ${body.length} bytes, and NATS takes ${maxPayload}: raise max_payload`)
      }
      try {
        await publisher.publish(subject, body, { msgID: id, timeout: ACK_MS })
      } catch (cause) {
        signal.throwIfAborted()
        throw new DeliveryFailed(problem ?? `NATS: no stream stored a message of ${subject}: ${messageOf(cause)}`, {
          cause,
        })
      }
    },
    close: async () => void (await link?.close()),
  }
}

const ACK_MS = 5_000
const HEADER_BYTES = 1_024

/** Limits of messages: half of what NATS takes by default, since one event may exceed them. */
export const NATS_LIMITS: MessageLimits = { maxEvents: 1_000, maxBytes: 512 * 1024 }

/** Rejects after a while with the problem of the connection, which otherwise waits without limit. */
async function failAfter(ms: number, problem: () => string | null): Promise<never> {
  await sleep(ms, undefined, { ref: false })
  throw new DeliveryFailed(problem() ?? 'NATS: no connection yet')
}
