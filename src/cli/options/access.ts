import { DEFAULT_SUBSCRIPTION_LIMITS } from '../../rpc/subscriptions/limits.js'
import { DEFAULT_SERVER_LIMITS } from '../../server/limits/limits.js'
import type { Option } from './option.js'
import { flag, maybeNumber, number } from './rows.js'

/** Options under the heading "Access". */
export const accessOptions = {
  open: flag('open', ['serve'], 'Serve without an API key.'),
  rateLimit: number('rate-limit', 'RPS', 0, ['serve'], {
    min: 0,
    max: 1_000_000,
    unit: 'calls per second',
    doc: 'Requests per second and key; each request of a batch counts; 0: no limit.',
  }),
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
