import { createHmac } from 'node:crypto'
import { CairnError } from '../lib/errors.js'
import type { SinkMessage } from './messages.js'

/** Delivers messages. */
export interface SinkTransport {
  /** Resolves when the receiver has acknowledged the message. @throws its failure; the reason of the signal */
  send(message: SinkMessage, signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

/** The receiver did not acknowledge a message. */
export class DeliveryFailed extends CairnError {}

const TIMEOUT_MS = 15_000

/** Signs a message as Standard Webhooks does: base64 of HMAC-SHA256 over id, Unix seconds and body. */
export function signWebhook(
  secret: Uint8Array,
  { id, body }: Pick<SinkMessage, 'id' | 'body'>,
  seconds: number,
): string {
  return `v1,${createHmac('sha256', secret).update(`${id}.${seconds}.`).update(body).digest('base64')}`
}

/** Creates a transport that posts messages to the URL. Any 2xx acknowledges one; redirects are failures. */
export function createWebhook(url: string, secret: Uint8Array): SinkTransport {
  const target = new URL(url)
  const { username, password, host } = target
  target.username = ''
  target.password = ''
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  const authorization: Record<string, string> =
    username === '' ? {} : { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` }
  return {
    async send({ id, body }, signal) {
      const seconds = Math.floor(Date.now() / 1_000)
      const headers: Record<string, string> = {
        ...authorization,
        'content-type': 'application/json',
        'user-agent': 'cairn',
        'webhook-id': id,
        'webhook-timestamp': String(seconds),
        'webhook-signature': signWebhook(secret, { id, body }, seconds),
      }
      const limit = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)])
      let response: Response
      try {
        response = await fetch(target, { method: 'POST', body, headers, redirect: 'manual', signal: limit })
        await response.body?.cancel()
      } catch (cause) {
        signal.throwIfAborted()
        throw new DeliveryFailed(`${host}: ${reasonOf(cause)}`, { cause })
      }
      if (!response.ok) throw new DeliveryFailed(`${host} answered ${response.status}`)
    },
    close: async () => {},
  }
}

/** fetch says only that it failed; its cause says why. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError') return `no answer in ${TIMEOUT_MS / 1_000} s`
  const { cause } = error
  return cause instanceof Error
    ? cause.message || ((cause as NodeJS.ErrnoException).code ?? error.message)
    : error.message
}
