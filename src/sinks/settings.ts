import { messageOf, UsageError } from '../lib/errors.js'
import { MAX_SECRET_FILE_BYTES, readOptionText } from '../lib/optionFile.js'
import type { NatsSettings } from '../replication/nats/connection.js'
import { parseSinkFilter, type SinkFilter } from './filter.js'

/** Where messages go. Plain data. */
export type SinkTarget =
  | { readonly kind: 'webhook'; readonly url: string; readonly secret: Uint8Array }
  | { readonly kind: 'nats'; readonly nats: NatsSettings; readonly subject: string }

/** A sink. Plain data: can be sent to a thread. */
export interface SinkSettings {
  readonly datadir: string
  readonly target: SinkTarget
  readonly filter: SinkFilter
  /** First block of a sink without a cursor; default: the one after the newest. */
  readonly from?: number
}

const MIN_SECRET_BYTES = 24
const MAX_SECRET_BYTES = 64
const MAX_FILTER_FILE_BYTES = 16 * 2 ** 20

/** Reads the secret of a webhook: `whsec_` and base64 of 24 to 64 bytes, as Standard Webhooks has it.
 *  @throws UsageError, which does not show the secret */
export function readSinkSecret(path: string): Uint8Array {
  const [, base64] =
    /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(readOptionText('--sink-secret', path, MAX_SECRET_FILE_BYTES).trim()) ?? []
  const secret = Buffer.from(base64 ?? '', 'base64')
  if (secret.length < MIN_SECRET_BYTES || secret.length > MAX_SECRET_BYTES) {
    throw new UsageError(`--sink-secret ${path}: expected whsec_ and base64 of 24 to 64 bytes, got something else`)
  }
  return new Uint8Array(secret)
}

/** Reads a filter. @throws UsageError */
export function readSinkFilter(path: string): SinkFilter {
  const text = readOptionText('--sink-filter', path, MAX_FILTER_FILE_BYTES)
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    throw new UsageError(`--sink-filter ${path}: invalid JSON: ${messageOf(error)}`)
  }
  return parseSinkFilter(json, `--sink-filter ${path}`)
}

/** Splits `nats://HOST:PORT/SUBJECT` into server and subject. @throws UsageError without a subject */
export function parseNatsTarget(text: string): { server: string; subject: string } {
  const url = new URL(text)
  const subject = decodeURIComponent(url.pathname.slice(1))
  if (!/^[^\s.*>/]+(\.[^\s.*>/]+)*$/.test(subject)) {
    throw new UsageError('--sink: expected nats://HOST:PORT/SUBJECT, with a subject such as cairn.events')
  }
  url.pathname = ''
  return { server: url.href, subject }
}
