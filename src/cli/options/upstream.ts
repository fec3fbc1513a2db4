import { UsageError } from '../../lib/errors.js'
import type { Option } from './option.js'
import { flag, parseWords } from './rows.js'

/** Options under the heading "Upstream". */
export const upstreamOptions = {
  upstream: {
    flag: 'upstream',
    placeholder: 'URL',
    default: [] as readonly string[],
    defaultText: 'none',
    repeatable: true,
    doc:
      'Node to follow, to record from, or to check: its http, https, ws or wss URL. May be given more than once: the healthiest is asked, the others when it ' +
      'fails. The environment variable takes several URLs separated by spaces, and keeps keys out of the process list.',
    commands: ['sync', 'serve', 'record', 'doctor'],
    parse: parseWords('upstream'),
  },
  upstreamHeader: {
    flag: 'upstream-header',
    placeholder: "'NAME: VALUE'",
    default: [] as readonly UpstreamHeaderLine[],
    defaultText: 'none',
    repeatable: true,
    doc:
      'HTTP header sent to every upstream, such as a token. May be given more than once; one a line in the environment ' +
      'variable.',
    commands: ['sync', 'serve', 'record', 'verify', 'doctor'],
    parse: parseHeaderLines('upstream-header'),
  },
  pending: flag(
    'pending',
    ['serve'],
    "Serve the upstream's pending block with its transactions as `pending`, where it has one; otherwise an empty block.",
  ),
  forwardTransactions: flag(
    'forward-transactions',
    ['serve'],
    'Forward eth_sendRawTransaction and eth_sendRawTransactionSync to the upstream. Without it Cairn takes no transactions.',
  ),
} as const satisfies { [key: string]: Option<unknown> }

/** A header of requests to upstreams. */
export interface UpstreamHeaderLine {
  readonly name: string
  readonly value: string
}

/** Returns a parser of headers, one per line. The values are secret and never part of a message. */
export function parseHeaderLines(flag: string) {
  return (value: string): readonly UpstreamHeaderLine[] => {
    const lines = value.split('\n').filter((line) => line.trim() !== '')
    return lines.map((line) => {
      const [, name, text] = /^([^\s:]+):\s*(.*\S)\s*$/.exec(line.trim()) ?? []
      if (name === undefined) throw new UsageError(`--${flag}: expected 'Name: value', got something else`)
      return { name, value: text }
    })
  }
}
