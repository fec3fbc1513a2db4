import { DEFAULT_SUBSCRIPTION_LIMITS } from '../../rpc/subscriptions/limits.js'
import { DEFAULT_SERVER_LIMITS } from '../../server/admission/limits.js'
import type { Option } from './option.js'
import { maybeNumber, number, parseSwitch } from './rows.js'

/** Options under the heading "Threads and memory". */
export const memoryOptions = {
  bodyMemory: number('body-memory', 'MB', DEFAULT_SERVER_LIMITS.bodyBytes / 1e6, ['serve'], {
    min: 16,
    max: 65_536,
    unit: 'MB',
    doc: 'Memory for request bodies being received, queued or processed; beyond it, requests get 503.',
  }),
  outputMemory: number('output-memory', 'MB', DEFAULT_SERVER_LIMITS.outputBytes / 1e6, ['serve'], {
    min: 64,
    max: 65_536,
    unit: 'MB',
    doc: 'Memory for responses that clients have not read yet; beyond it, requests wait, then get 503.',
  }),
  subscriptionQueue: number('subscription-queue', 'MB', DEFAULT_SERVER_LIMITS.notificationBytes / 1e6, ['serve'], {
    min: 1,
    max: 65_536,
    unit: 'MB',
    doc: 'Notifications that a WebSocket client may leave unread; beyond it, its connection is closed.',
  }),
  filterMemory: number('filter-memory', 'MB', DEFAULT_SUBSCRIPTION_LIMITS.filterBytes / 1e6, ['serve'], {
    min: 1,
    max: DEFAULT_SUBSCRIPTION_LIMITS.totalFilterBytes / 1e6,
    unit: 'MB',
    doc:
      'Memory for the filters and subscriptions of a key, or of an address without keys; beyond it, new ones are refused, ' +
      'and a filter that grows is removed.',
  }),
  scanThreads: maybeNumber('scan-threads', 'N', ['serve'], {
    min: 1,
    max: 64,
    doc: 'Most reader threads for log queries, started when requests wait; one more answers short ones.',
    defaultText: 'half of the cores, 2 to 8',
  }),
  evmThreads: maybeNumber('evm-threads', 'N', ['serve'], {
    min: 1,
    max: 64,
    doc: 'Most reader threads for calls, started when requests wait; one more is kept as a spare.',
    defaultText: 'half of the cores, 2 to 8',
  }),
  responseCache: number('response-cache', 'MIB', 64, ['serve'], {
    min: 0,
    max: 65_536,
    unit: 'MiB',
    doc: 'Memory of the response cache for log queries and calls, errors included; 0 disables it.',
  }),
  inlineCalls: {
    flag: 'inline-calls',
    placeholder: 'on|off',
    default: true,
    defaultText: 'on',
    doc:
      'Run small calls on the main thread, which is several times as fast; longer ones are rerun in a reader thread. ' +
      'Not with --evm reference.',
    commands: ['serve'],
    parse: parseSwitch('inline-calls'),
  },
  pageReads: {
    flag: 'page-reads',
    placeholder: 'on|off',
    default: true,
    defaultText: 'on',
    doc:
      'Read the logs of streams and of log queries without conditions from the pages of the database file, up to the last ' +
      'checkpoint; off: all by SQL. Not on Windows.',
    commands: ['serve'],
    parse: parseSwitch('page-reads'),
  },
} as const satisfies { [key: string]: Option<unknown> }
