import { ABSENT_ACCOUNT, ALICE, CHILD, COUNTER, DELEGATOR, TOKEN } from '../../test/support/chains/fixtureChain.js'
import { type CasesByMethod, type FixtureHashes, positional, quantity, UNKNOWN_HASH } from './case.js'

/** Cases of the methods of Otterscan. */
export function otsCases(hashes: FixtureHashes): CasesByMethod {
  const transfer = hashes.transaction(22)
  return {
    erigon_getHeaderByNumber: {
      'by-number': { ...positional(22), example: true },
      'in-hex': positional(quantity(61)),
      latest: positional('latest'),
      'beyond-head': positional(1_000_000),
      missing: positional(),
    },
    ots_getApiLevel: { level: positional(), 'too-many': positional(1) },
    ots_hasCode: {
      contract: positional(TOKEN, 'latest'),
      'before-creation': positional(TOKEN, 3),
      'no-contract': positional(ALICE),
      delegation: positional(DELEGATOR, quantity(41)),
      'beyond-head': positional(TOKEN, 1_000_000),
      missing: positional(),
    },
    ots_getBlockDetails: {
      genesis: positional(0),
      'by-number': positional(22),
      'in-hex': positional(quantity(22)),
      'beyond-head': positional(1_000_000),
      missing: positional(),
    },
    ots_getBlockDetailsByHash: {
      'by-hash': positional(hashes.block(22)),
      unknown: positional(UNKNOWN_HASH),
      missing: positional(),
    },
    ots_getBlockTransactions: {
      'first-page': positional(22, 0, 2),
      'page-beyond': positional(22, 1_000, 2),
      'beyond-head': positional(1_000_000, 0, 2),
      'page-too-big': positional(22, 0, 1_001),
      'negative-page': positional(22, -1, 2),
      missing: positional(22),
    },
    ots_searchTransactionsBefore: {
      'newest-page': positional(ALICE, 0, 2),
      'next-page': positional(TOKEN, 22, 3),
      'in-hex': positional(CHILD, quantity(20), 25),
      'never-appears': positional(ABSENT_ACCOUNT, 0, 25),
      'page-too-big': positional(ALICE, 0, 26),
      missing: positional(ALICE, 0),
    },
    ots_searchTransactionsAfter: {
      'oldest-page': positional(ALICE, 0, 2),
      'page-before': positional(TOKEN, 22, 3),
      'beyond-head': positional(ALICE, 1_000_000, 25),
      'empty-page': positional(ALICE, 0, 0),
      missing: positional(ALICE, 0),
    },
    ots_getTransactionBySenderAndNonce: {
      first: positional(ALICE, 0),
      'in-hex': positional(ALICE, '0x1'),
      'not-sent': positional(ABSENT_ACCOUNT, 0),
      missing: positional(ALICE),
    },
    ots_getContractCreator: {
      contract: positional(TOKEN),
      'by-factory': positional(CHILD),
      destroyed: positional(COUNTER),
      'no-contract': positional(ALICE),
      missing: positional(),
    },
    ots_getTransactionError: {
      none: positional(transfer),
      unknown: positional(UNKNOWN_HASH),
      missing: positional(),
    },
    ots_getInternalOperations: {
      none: positional(transfer),
      create2: positional(hashes.transaction(17)),
      unknown: positional(UNKNOWN_HASH),
      missing: positional(),
    },
    ots_traceTransaction: {
      transfer: positional(transfer),
      create2: positional(hashes.transaction(17)),
      unknown: positional(UNKNOWN_HASH),
      missing: positional(),
    },
  }
}
