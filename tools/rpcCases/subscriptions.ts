import { type CasesByMethod, positional, UNKNOWN_HASH } from './case.js'

/** Cases of subscriptions and filters that are answered alike over HTTP and WebSocket, and whenever they are asked. */
export function subscriptionCases(): CasesByMethod {
  const unknown = { unknown: positional('0x1'), missing: positional(), 'not-text': positional(1) }
  return {
    eth_subscribe: { missing: positional(), 'not-text': positional(1), 'too-many': positional('logs', {}, 1) },
    eth_unsubscribe: unknown,
    eth_newFilter: {
      missing: positional(),
      'bad-address': positional({ address: '0x1' }),
      reversed: positional({ fromBlock: '0x2', toBlock: '0x1' }),
      'to-a-number': positional({ toBlock: '0x1' }),
      finalized: positional({ fromBlock: 'finalized' }),
      'five-topics': positional({ topics: [null, null, null, null, null] }),
      'block-hash-and-range': positional({ blockHash: UNKNOWN_HASH, fromBlock: '0x1' }),
    },
    eth_newBlockFilter: { 'too-many': positional(1) },
    eth_newPendingTransactionFilter: { 'not-boolean': positional(1) },
    eth_getFilterChanges: unknown,
    eth_getFilterLogs: unknown,
    eth_uninstallFilter: unknown,
  }
}
