import { UsageError } from '../../lib/errors.js'
import { DEFAULT_SUBSCRIPTION_LIMITS } from '../../rpc/subscriptions/limits.js'
import { parseMethodPatterns } from '../../server/access/methodPatterns.js'
import { DEFAULT_SERVER_LIMITS } from '../../server/admission/limits.js'
import type { Option } from './option.js'
import { flag, maybeNumber, maybeText, number } from './rows.js'

function parseMethods(text: string): string {
  const patterns = parseMethodPatterns(text)
  if (patterns !== undefined) return patterns.join(',')
  throw new UsageError(
    `--methods: expected names of methods joined by commas, like 'eth_*,!logs', got ${JSON.stringify(text)}`,
  )
}

/** Options under the heading "Access". */
export const accessOptions = {
  open: flag('open', ['serve'], 'Serve without an API key.'),
  rateLimit: number('rate-limit', 'RPS', 0, ['serve'], {
    min: 0,
    max: 1_000_000,
    unit: 'calls per second',
    doc: 'Requests per second and key; each request of a batch counts; 0: no limit.',
  }),
  rate: maybeNumber('rate', 'RPS', ['keys'], {
    min: 0,
    max: 1_000_000,
    unit: 'calls per second',
    doc: "Calls per second of the key, instead of the server's limit; 0: that of the server.",
    defaultText: 'that of the server',
  }),
  maxConcurrent: maybeNumber('max-concurrent', 'N', ['keys'], {
    min: 0,
    max: 1_000_000,
    doc:
      'Most log queries, calls and traces of the key that may run at once, over all connections. Further requests get 429; a ' +
      'batch takes what is left. 0: no limit.',
    defaultText: 'no limit',
  }),
  methods: {
    ...maybeText(
      'methods',
      'LIST',
      ['keys'],
      'Methods that the key may call, joined by commas: names, or the classes logs, calls, traces, state, blocks, stream, send, abi, node, ' +
        "sql, bulk and replication. '*' stands for any text, '!' excludes: 'eth_*,net_*,!logs'. '*': all.",
      'all methods',
    ),
    parse: parseMethods,
  },
  days: number('days', 'N', 30, ['keys'], { min: 1, max: 3650, doc: 'Days of usage to show, with today (UTC).' }),
  usageDays: number('usage-days', 'N', 90, ['serve'], {
    min: 0,
    max: 3650,
    doc: 'Days for which the usage of keys is kept, in usage.db; 0: it is not counted.',
  }),
  cursorSecretFile: maybeText(
    'cursor-secret-file',
    'FILE',
    ['serve'],
    'File with a secret of 32 to 4,096 bytes that authenticates the cursors of eth_getLogsWithCursor. Servers of one chain with the ' +
      "same secret take each other's cursors.",
    'a secret of the database',
  ),
  maxConnections: maybeNumber('max-connections', 'N', ['serve'], {
    min: 1,
    max: 1_000_000,
    doc: 'Most open connections, HTTP and WebSocket together; beyond it, the longest idle one is closed (those with subscriptions last), or the new one gets 503.',
    defaultText: '10,000, at most the open-file limit less 500',
  }),
  maxInFlight: number('max-in-flight', 'N', DEFAULT_SERVER_LIMITS.maxInFlight, ['serve'], {
    min: 1,
    max: 1_000_000,
    doc: 'Most concurrent requests per key, or per address without keys; a batch is one request. Further ones get 429.',
  }),
  maxSubscriptions: number('max-subscriptions', 'N', DEFAULT_SUBSCRIPTION_LIMITS.connectionSubscriptions, ['serve'], {
    min: 1,
    max: 100_000,
    doc: 'Most subscriptions per WebSocket connection.',
  }),
  maxKeySubscriptions: number(
    'max-key-subscriptions',
    'N',
    DEFAULT_SUBSCRIPTION_LIMITS.clientSubscriptions,
    ['serve'],
    { min: 1, max: 1_000_000, doc: 'Most subscriptions per key, or per address without keys.' },
  ),
  maxFilters: number('max-filters', 'N', DEFAULT_SUBSCRIPTION_LIMITS.filters, ['serve'], {
    min: 1,
    max: 1_000_000,
    doc: 'Most filters (eth_newFilter) per key, or per address without keys.',
  }),
  filterTimeout: number('filter-timeout', 'SECONDS', DEFAULT_SUBSCRIPTION_LIMITS.filterTimeoutMs / 1e3, ['serve'], {
    min: 1,
    max: 86_400,
    unit: 'seconds',
    doc: 'A filter that is not polled for so long is removed.',
  }),
} as const satisfies { [key: string]: Option<unknown> }
