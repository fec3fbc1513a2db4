import { ALICE, BOB, CHILD, COUNTER, DELEGATOR, EMITTER, NOBODY, TOKEN } from '../../test/support/fixtureChain.js'
import { type CasesByMethod, type FixtureHashes, largeCases, positional, quantity, UNKNOWN_HASH, word } from './case.js'

/** Cases of the methods that read accounts, and what a transaction costs. The counter lives in blocks 4 to 6, the
 *  factory's child in 17 and 18 and again from 20 on. */
export function stateCases(hashes: FixtureHashes): CasesByMethod {
  const at = quantity
  return {
    eth_getBalance: {
      ...largeCases((large) => positional(ALICE, large)),
      'eip1898-large': positional(ALICE, { blockNumber: '0xffffffffffffffff' }),

      genesis: positional(ALICE, '0x0'),
      'after-first-block': positional(ALICE, '0x1'),
      latest: positional(BOB, 'latest'),
      'default-block': positional(BOB),
      'by-hash': positional(BOB, hashes.block(8)),
      'eip1898-hash': positional(BOB, { blockHash: hashes.block(8), requireCanonical: true }),
      'eip1898-number': positional(BOB, { blockNumber: at(8) }),
      'withdrawal-credited': positional(ALICE, at(33)),
      nobody: positional(NOBODY, 'latest'),
      'beyond-head': positional(ALICE, at(61)),
      'unknown-hash': positional(ALICE, UNKNOWN_HASH),
      'eip1898-both': positional(ALICE, { blockHash: hashes.block(8), blockNumber: at(8) }),
      'short-address': positional('0x1234', 'latest'),
      'no-params': positional(),
    },
    eth_getCode: {
      ...largeCases((large) => positional(COUNTER, large)),

      counter: positional(COUNTER, at(4)),
      'counter-destroyed': positional(COUNTER, at(7)),
      'child-made-again': positional(CHILD, at(20)),
      delegation: positional(DELEGATOR, at(40)),
      'delegation-taken-back': positional(DELEGATOR, at(46)),
      'before-deployment': positional(EMITTER, at(1)),
      'plain-account': positional(ALICE, 'latest'),
      'beyond-head': positional(ALICE, at(61)),
    },
    eth_getStorageAt: {
      ...largeCases((large) => positional(COUNTER, '0x0', large)),

      'counter-counted': positional(COUNTER, '0x0', at(6)),
      'counter-destroyed': positional(COUNTER, '0x0', at(7)),
      'child-before': positional(CHILD, '0x0', at(18)),
      'child-made-again': positional(CHILD, '0x0', at(20)),
      'token-supply': positional(TOKEN, word(2), 'latest'),
      'empty-slot': positional(TOKEN, word(99), 'latest'),
      'default-block': positional(TOKEN, '0x2'),
      'long-slot': positional(TOKEN, `0x${'00'.repeat(33)}`, 'latest'),
      'bad-slot': positional(TOKEN, '0xzz', 'latest'),
      'missing-slot': positional(TOKEN),
    },
    eth_getStorageValues: {
      ...largeCases((large) => positional({ [COUNTER]: ['0x0'] }, large)),

      'counter-counted': positional({ [COUNTER]: ['0x0'] }, at(6)),
      'several-accounts': positional({ [TOKEN]: [word(2), word(99)], [COUNTER]: ['0x0'], [NOBODY]: [] }, at(6)),
      'by-hash': positional({ [COUNTER]: ['0x0'] }, hashes.block(6)),
      'default-block': positional({ [TOKEN]: [word(2)] }),
      'too-many-slots': positional({ [TOKEN]: Array.from({ length: 1025 }, () => '0x2') }),
      empty: positional({}),
      'no-slots': positional({ [TOKEN]: [] }),
      'long-slot': positional({ [TOKEN]: [`0x${'00'.repeat(33)}`] }),
      'bad-slot': positional({ [TOKEN]: ['0x0', 'zz'] }),
      'not-a-list': positional({ [TOKEN]: '0x0' }),
      'short-address': positional({ '0x1234': ['0x0'] }),
      'not-an-object': positional([TOKEN]),
      'beyond-head': positional({ [TOKEN]: ['0x2'] }, at(61)),
      'missing-slots': positional(),
      'too-many': positional({ [TOKEN]: ['0x2'] }, 'latest', 1),
    },
    eth_getTransactionCount: {
      ...largeCases((large) => positional(ALICE, large)),

      genesis: positional(ALICE, '0x0'),
      latest: positional(ALICE, 'latest'),
      pending: positional(ALICE, 'pending'),
      contract: positional(COUNTER, at(5)),
      'delegated-account': positional(DELEGATOR, at(40)),
      nobody: positional(NOBODY),
      'beyond-head': positional(ALICE, at(61)),
    },
    eth_gasPrice: { latest: positional(), 'too-many': positional('latest') },
    eth_maxPriorityFeePerGas: { latest: positional(), 'too-many': positional(1) },
    eth_baseFee: { latest: positional(), 'too-many': positional(1) },
    eth_blobBaseFee: { latest: positional(), 'too-many': positional(1) },
    eth_feeHistory: {
      ...largeCases((large) => positional('0x2', large)),
      'large-count': positional('0xffffffffffffffff', at(2)),

      'last-five': positional('0x5', 'latest', [25, 75]),
      'across-london': positional('0x4', at(26), [50]),
      'across-cancun': positional('0x3', at(37)),
      'across-bpo': positional('0x6', at(52), []),
      'decimal-count': positional(2, at(30)),
      'more-than-held': positional('0x400', at(3), [0, 100]),
      'no-blocks': positional('0x0', 'latest'),
      'beyond-head': positional('0x2', at(61)),
      'falling-percentiles': positional('0x2', 'latest', [50, 20]),
      'percentile-above-100': positional('0x2', 'latest', [101]),
      'missing-newest': positional('0x2'),
    },
  }
}
