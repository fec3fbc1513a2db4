import { HEAD } from '../../test/support/chains/fixtureChain.js'
import { type CasesByMethod, type FixtureHashes, largeCases, positional, quantity, UNKNOWN_HASH } from './case.js'

/** Cases of the methods that read blocks and uncles. Uncles are in blocks 2, 13 and 23. */
export function blockCases(hashes: FixtureHashes): CasesByMethod {
  const at = quantity
  return {
    eth_blockNumber: { head: positional(), 'no-params': { params: undefined }, 'too-many': positional('latest') },
    eth_getBlockAccessList: {
      ...largeCases((large) => positional(large)),

      'amsterdam-fork': positional(at(61)),
      refunds: positional(at(65)),
      'by-hash': positional(hashes.block(69)),
      'no-transactions': positional('latest'),
      'before-amsterdam': positional(at(60)),
      'unknown-hash': positional(UNKNOWN_HASH),
      'beyond-head': positional(at(HEAD + 1)),
      'no-params': positional(),
      'too-many': positional(at(53), 1),
    },
    debug_executionWitness: {
      'first-block': positional(at(1)),
      'token-transfer': positional(at(22)),
      'with-keys': positional(at(22), { keys: true }),
      'without-keys': positional(at(1), { keys: false }),
      'canonical-of-reth': positional(at(1), 'canonical'),
      'legacy-of-reth': positional(at(1), 'legacy'),
      'unknown-option': positional(at(1), { key: true }),
      'wrong-option': positional(at(1), { keys: 1 }),
      pending: positional('pending'),
      genesis: positional('0x0'),
      'unknown-hash': positional(UNKNOWN_HASH),
      'no-params': positional(),
    },
    debug_getRawBlockAccessList: {
      ...largeCases((large) => positional(large)),

      'amsterdam-fork': positional(at(61)),
      refunds: positional(at(65)),
      'by-hash': positional(hashes.block(69)),
      'no-transactions': positional('latest'),
      'before-amsterdam': positional(at(60)),
      'unknown-hash': positional(UNKNOWN_HASH),
      'bad-block': positional('0xzz'),
      'too-many': positional(at(53), 1),
    },
    eth_getBlockByNumber: {
      ...largeCases((large) => positional(large, false)),

      genesis: positional('0x0', false),
      earliest: positional('earliest', true),
      'frontier-full': positional(at(1), true),
      'with-uncle': positional(at(2), false),
      'access-list-full': positional(at(22), true),
      'london-full': positional(at(25), true),
      'last-proof-of-work': positional(at(29), false),
      'merge-full': positional(at(30), true),
      'shanghai-withdrawals': { ...positional(at(33), false), example: true },
      'cancun-blobs-full': positional(at(37), true),
      'prague-delegation-full': positional(at(40), true),
      'prague-requests': positional(at(43), false),
      'many-logs': positional(at(54), false),
      'last-of-osaka': positional(at(60), false),
      'amsterdam-full': positional(at(61), true),
      'amsterdam-refunds': positional(at(65), false),
      'amsterdam-large-code': positional(at(66), false),
      'amsterdam-requests': positional(at(70), false),
      'amsterdam-delegation-full': positional(at(71), true),
      latest: positional('latest', false),
      safe: positional('safe', false),
      finalized: positional('finalized', false),
      // Its time is that of the call.
      pending: { params: ['pending', true], drop: ['timestamp'] },
      'beyond-head': positional(at(HEAD + 1), false),
      'by-name': { params: { block: at(8), fullTransactions: false } },
      'missing-flag': positional(at(1)),
      'bad-flag': positional(at(1), 'yes'),
      'bad-number': positional('0x01', false),
      'bad-tag': positional('newest', false),
      'no-params': positional(),
    },
    eth_getBlockByHash: {
      byzantium: positional(hashes.block(11), false),
      'two-creations-full': positional(hashes.block(15), true),
      unknown: positional(UNKNOWN_HASH, false),
      'short-hash': positional('0x1234', false),
    },
    eth_getHeaderByNumber: {
      ...largeCases((large) => positional(large)),

      genesis: positional('earliest'),
      'with-uncle': positional(at(2)),
      amsterdam: { ...positional(at(71)), example: true },
      latest: positional('latest'),
      pending: positional('pending'),
      'beyond-head': positional(at(HEAD + 1)),
      'bad-number': positional('0x01'),
      'no-params': positional(),
      'too-many': positional(at(2), false),
    },
    eth_getHeaderByHash: {
      byzantium: positional(hashes.block(11)),
      prague: positional(hashes.block(43)),
      unknown: positional(UNKNOWN_HASH),
      'short-hash': positional('0x1234'),
    },
    debug_printBlock: {
      transfer: positional(22),
      'hex-number': positional(at(2)),
      'beyond-head': positional(HEAD + 1),
      'bad-number': positional('latest'),
      'no-params': positional(),
    },
    debug_getBadBlocks: { none: positional(), 'too-many': positional('bad.json') },
    eth_getBlockTransactionCountByHash: {
      five: positional(hashes.block(21)),
      none: positional(hashes.block(10)),
      unknown: positional(UNKNOWN_HASH),
    },
    eth_getBlockTransactionCountByNumber: {
      ...largeCases((large) => positional(large)),

      five: positional(at(21)),
      genesis: positional('earliest'),
      pending: positional('pending'),
      'beyond-head': positional(at(HEAD + 1)),
      'bad-number': positional(21),
    },
    eth_getUncleByBlockHashAndIndex: {
      ...largeCases((large) => positional(hashes.block(2), large)),

      frontier: positional(hashes.block(2), '0x0'),
      'no-such-index': positional(hashes.block(2), '0x1'),
      'block-without': positional(hashes.block(1), '0x0'),
      unknown: positional(UNKNOWN_HASH, '0x0'),
      'missing-index': positional(hashes.block(2)),
      'bad-index': positional(hashes.block(2), '0'),
    },
    eth_getUncleByBlockNumberAndIndex: {
      ...largeCases((large) => positional(large, '0x0')),
      'large-index': positional(at(13), '0xffffffffffffffff'),

      byzantium: positional(at(13), '0x0'),
      berlin: positional(at(23), '0x0'),
      'no-such-index': positional(at(13), '0x1'),
      'beyond-head': positional(at(HEAD + 1), '0x0'),
    },
    eth_getUncleCountByBlockHash: {
      one: positional(hashes.block(2)),
      none: positional(hashes.block(1)),
      unknown: positional(UNKNOWN_HASH),
    },
    eth_getUncleCountByBlockNumber: {
      ...largeCases((large) => positional(large)),

      one: positional(at(23)),
      'proof-of-stake': positional('latest'),
      'beyond-head': positional(at(HEAD + 1)),
    },
    debug_getRawBlock: {
      ...largeCases((large) => positional(large)),

      genesis: positional('0x0'),
      'with-uncle': positional(at(13)),
      withdrawals: positional(at(33)),
      'by-hash': positional(hashes.block(1)),
      amsterdam: positional(at(71)),
      'beyond-head': positional(at(HEAD + 1)),
      'bad-block': positional('1'),
    },
    debug_getRawHeader: {
      ...largeCases((large) => positional(large)),

      genesis: positional('earliest'),
      london: positional(at(25)),
      'last-of-osaka': positional(at(60)),
      amsterdam: positional(at(61)),
      latest: positional('latest'),
      'beyond-head': positional(at(HEAD + 1)),
    },
    debug_getRawReceipts: {
      ...largeCases((large) => positional(large)),

      'pre-byzantium': positional(at(5)),
      failures: positional(at(21)),
      'blob-and-dynamic-fee': positional(at(37)),
      none: positional(at(10)),
      amsterdam: positional(at(64)),
      'beyond-head': positional(at(HEAD + 1)),
    },
  }
}
