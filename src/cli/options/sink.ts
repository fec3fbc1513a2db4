import { UsageError } from '../../lib/errors.js'
import type { Option } from './option.js'
import { maybeNumber, maybeText } from './rows.js'

/** Options under the heading "Sink". */
export const sinkOptions = {
  sink: {
    flag: 'sink',
    placeholder: 'URL',
    default: undefined as string | undefined,
    defaultText: 'none',
    doc:
      'Deliver decoded events, and blocks that reorgs remove, to an application: http(s)://HOST/PATH of a webhook, which --sink-secret signs, or ' +
      'nats://HOST:PORT/SUBJECT of a JetStream, with the options of NATS.',
    commands: ['serve'],
    parse: parseSink,
  },
  sinkSecret: maybeText(
    'sink-secret',
    'FILE',
    ['serve'],
    'Secret of the webhook: whsec_ and base64 of 24 to 64 bytes (Standard Webhooks).',
    'none',
  ),
  sinkFilter: maybeText(
    'sink-filter',
    'FILE',
    ['serve'],
    'Which events the sink has: a JSON object with addresses, topics, events and blocks (docs/sinks.md).',
    'all events that are logged',
  ),
  sinkFrom: maybeNumber('sink-from', 'BLOCK', ['serve'], {
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    doc: 'First block of a sink that has not delivered anything yet.',
    defaultText: 'the one after the newest',
  }),
} as const satisfies { [key: string]: Option<unknown> }

/** @throws UsageError */
function parseSink(text: string): string {
  const protocol = URL.canParse(text) ? new URL(text).protocol : ''
  if (['http:', 'https:', 'nats:', 'tls:'].includes(protocol)) return text
  throw new UsageError('--sink: expected http(s)://HOST/PATH or nats://HOST:PORT/SUBJECT, got something else')
}
