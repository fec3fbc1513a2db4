import { CABINET } from '../../test/support/chains/cabinetChain.js'
import { ABSENT_ACCOUNT, ALICE, BOB, HEAD, TOKEN } from '../../test/support/chains/fixtureChain.js'
import { type CasesByMethod, largeCases, positional, quantity, UNKNOWN_HASH } from './case.js'

// Cursors are valid in one database only: this one is of none.
const CURSOR = 'A'.repeat(64)

/** Cases of the methods of sources and storage layouts, which the fixture does not have. */
export function contractCases(): CasesByMethod {
  const BUNDLE = { on: 'bundle', example: true } as const
  return {
    cairn_getContractSources: {
      'of-a-bundle': { ...positional(CABINET), ...BUNDLE },
      none: positional(TOKEN),
      'unknown-hash': positional(TOKEN, UNKNOWN_HASH),
      'no-params': positional(),
    },
    cairn_getStorageVariables: {
      'all-variables': { ...positional(CABINET), ...BUNDLE },
      'unknown-path': { ...positional(CABINET, 'latest', ['nothing']), on: 'bundle' },
      'no-layout': positional(TOKEN),
      'unknown-hash': positional(TOKEN, UNKNOWN_HASH),
      'path-of-17-steps': positional(TOKEN, 'latest', Array(17).fill('0')),
      'no-params': positional(),
    },
  }
}

/** Cases of the methods of tokens. Cursors of pages are left out, since each database has its own. */
export function tokenCases(): CasesByMethod {
  const range = (from: number, to: number) => ({ fromBlock: quantity(from), toBlock: quantity(to) })
  return {
    cairn_findTokens: {
      'by-symbol': { ...positional('stone'), example: true },
      'one-result': positional('CAIRN', 1),
      nothing: positional('no such token'),
      blank: positional(' '),
      'limit-too-large': positional('stone', 101),
      'no-params': positional(),
    },
    cairn_getToken: {
      token: { ...positional(TOKEN), example: true },
      'before-its-block': positional(TOKEN, '0x0'),
      'an-account': positional(ALICE),
      'unknown-hash': positional(TOKEN, UNKNOWN_HASH),
      ...largeCases((large) => positional(TOKEN, large)),
      'no-params': positional(),
    },
    cairn_getTokenTransfers: {
      'to-and-from-bob': { ...positional({ token: TOKEN, account: BOB, ...range(0, 40) }), example: true },
      'oldest-first': positional({ account: BOB, ...range(0, 40), order: 'oldest' }),
      'first-page': { params: [{ token: TOKEN, ...range(0, 60), limit: 2 }], drop: ['cursor'] },
      'no-nfts': positional({ kinds: ['erc721'], ...range(0, 40) }),
      nothing: positional({ account: ABSENT_ACCOUNT }),
      'altered-cursor': positional({ cursor: CURSOR }),
      'reversed-range': positional(range(5, 4)),
      'beyond-head': positional(range(59, HEAD + 1)),
      'unknown-kind': positional({ kinds: ['erc404'] }),
      'unknown-member': positional({ tokn: TOKEN }),
      'no-params': positional(),
    },
    cairn_getTokenBalances: {
      'of-bob': { ...positional(BOB, { block: quantity(HEAD) }), example: true },
      'of-bob-before': positional(BOB, { block: quantity(30), tokens: [TOKEN] }),
      nothing: positional(ABSENT_ACCOUNT),
      'altered-cursor': positional(BOB, { cursor: CURSOR }),
      'unknown-hash': positional(BOB, { block: UNKNOWN_HASH }),
      'limit-too-large': positional(BOB, { limit: 1_001 }),
      'no-params': positional(),
    },
    cairn_getTokenHolders: {
      'of-the-token': { ...positional(TOKEN, { block: quantity(HEAD) }), example: true },
      'of-the-token-before': positional(TOKEN, { block: quantity(30) }),
      'first-page': { params: [TOKEN, { block: quantity(HEAD), limit: 1 }], drop: ['cursor'] },
      'no-token': positional(ALICE),
      'altered-cursor': positional(TOKEN, { cursor: CURSOR }),
      'unknown-hash': positional(TOKEN, { block: UNKNOWN_HASH }),
      'no-params': positional(),
    },
  }
}
