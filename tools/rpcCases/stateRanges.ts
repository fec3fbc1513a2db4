import { keccak256 } from '../../src/chain/crypto.js'
import { formatData, parseHex } from '../../src/lib/hex.js'
import { ALICE, BOB, COUNTER, TOKEN } from '../../test/support/chains/fixtureChain.js'
import { PARTIAL_FIRST } from '../../test/support/exampleServers.js'
import { type CasesByMethod, type FixtureHashes, positional, quantity, UNKNOWN_HASH, word } from './case.js'

const hashOf = (data: string) => formatData(keccak256(parseHex(data)))

/** Cases of the methods that read states in the order of their tries. */
export function stateRangeCases(hashes: FixtureHashes): CasesByMethod {
  return {
    debug_storageRangeAt: {
      'two-slots': { ...positional(quantity(22), 0, TOKEN, '0x', 2), example: true },
      rest: positional(hashes.block(22), 0, TOKEN, '0x80', 100),
      'after-a-transaction': positional(quantity(21), 1, TOKEN, '0x', 100),
      nothing: positional(quantity(22), 0, TOKEN, '0x', 0),
      'no-storage': positional(quantity(22), 0, BOB, '0x80', 10),
      'past-the-end': positional(quantity(22), 0, TOKEN, `0x${'ff'.repeat(32)}`, 10),
      'index-out-of-range': positional(quantity(22), 9, TOKEN, '0x', 10),
      genesis: positional('0x0', 0, TOKEN, '0x', 10),
      unknown: positional(UNKNOWN_HASH, 0, TOKEN, '0x', 10),
      'bad-index': positional(quantity(22), -1, TOKEN, '0x', 10),
      'bad-limit': positional(quantity(22), 0, TOKEN, '0x', 'all'),
      missing: positional(quantity(22), 0, TOKEN, '0x'),
      'too-many': positional(quantity(22), 0, TOKEN, '0x', 10, false),
    },
    debug_accountRange: {
      two: { ...positional(quantity(22), '0x', 2), example: true },
      'without-code-and-storage': positional(hashes.block(45), '0x80', 3, true, true, true),
      all: positional(quantity(5)),
      'past-the-end': positional('latest', `0x${'ff'.repeat(32)}`, 10),
      unknown: positional(UNKNOWN_HASH),
      'beyond-head': positional(quantity(0xffffff)),
      'bad-start': positional('latest', '0x1'),
      'bad-flag': positional('latest', '0x', 2, 'yes'),
      missing: positional(),
      'too-many': positional('latest', '0x', 2, false, false, false, false),
    },
    debug_dumpBlock: {
      genesis: positional('0x0'),
      early: positional(quantity(7)),
      'beyond-head': positional(quantity(0xffffff)),
      'a-hash': positional(hashes.block(22)),
      missing: positional(),
    },
    debug_getModifiedAccountsByNumber: {
      'one-block': positional(22),
      'two-blocks': positional(5, quantity(7)),
      genesis: positional(0),
      reversed: positional(7, 5),
      'unknown-start': positional(0xffffff),
      'unknown-end': positional(5, 0xffffff),
      'a-tag': positional('latest'),
      missing: positional(),
    },
    debug_getModifiedAccountsByHash: {
      'one-block': positional(hashes.block(22)),
      'two-blocks': positional(hashes.block(5), hashes.block(7)),
      genesis: positional(hashes.block(0)),
      reversed: positional(hashes.block(7), hashes.block(5)),
      'unknown-start': positional(UNKNOWN_HASH),
      'unknown-end': positional(hashes.block(5), UNKNOWN_HASH),
      missing: positional(),
    },
    debug_intermediateRoots: {
      five: positional(hashes.block(21)),
      'before-byzantium': positional(hashes.block(5)),
      one: positional(hashes.block(1)),
      genesis: positional(hashes.block(0)),
      unknown: positional(UNKNOWN_HASH),
      'bad-timeout': positional(hashes.block(21), { timeout: 'soon' }),
      missing: positional(),
    },
    debug_preimage: {
      address: positional(hashOf(ALICE)),
      slot: positional(hashOf(word(2))),
      unknown: positional(UNKNOWN_HASH),
      short: positional('0x1234'),
      missing: positional(),
    },
  }
}

/** Those of what a server does not hold. */
export function stateRangeServerCases(hashes: FixtureHashes): CasesByMethod {
  const [below, held] = [quantity(PARTIAL_FIRST - 35), quantity(PARTIAL_FIRST + 5)]
  const cases = (below: unknown, held: unknown, ...more: unknown[]) => ({
    'not-held': { params: [below, ...more], on: 'partial' },
    'state-not-held': { params: [held, ...more], on: 'partial' },
  })
  const filling = (...params: unknown[]) => ({ 'not-fetched': { params, on: 'filling' } })
  const [parent, recent] = [hashes.block(PARTIAL_FIRST - 1), hashes.block(PARTIAL_FIRST + 5)]
  return {
    debug_storageRangeAt: {
      ...cases(below, held, 0, COUNTER, '0x', 10),
      ...filling(UNKNOWN_HASH, 0, COUNTER, '0x', 10),
    },
    debug_accountRange: { ...cases(below, held), ...filling(UNKNOWN_HASH) },
    debug_dumpBlock: cases(below, held),
    debug_getModifiedAccountsByNumber: cases(below, held),
    debug_getModifiedAccountsByHash: { ...cases(parent, recent), ...filling(UNKNOWN_HASH) },
    debug_intermediateRoots: { ...cases(parent, recent), ...filling(UNKNOWN_HASH) },
  }
}
