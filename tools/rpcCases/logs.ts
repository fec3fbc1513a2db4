import {
  ABSENT_ACCOUNT,
  ALICE,
  BOB,
  CAROL,
  CHILD,
  COUNTER,
  EMITTER,
  ETHER_TRANSFERS,
  HEAD,
  NUMBERED_TOPIC,
  TOKEN,
  TRANSFER_TOPIC,
} from '../../test/support/chains/fixtureChain.js'
import { type CasesByMethod, type FixtureHashes, largeCases, positional, quantity, UNKNOWN_HASH, word } from './case.js'

// The cursor of 'first-page' with another MAC. Cursors are valid in one database only, so no recorded case continues
// with one.
const CURSOR =
  'aeWQvo800iwAAAAAABMAAAAAADwAAAAAABeTZ81dCjVzfy2HRCAVkoZT1pDqpSPtjokV8ZGlHF7NNUTY2rRwAipZLvr1HYjFSof2LButxK8vF82anQD8Gb8z28H9_RYQ7VA4drxra6TTqy-szzxypqMpfCmjtncK49A'

// Times, and what lies in a thread's memory, differ from call to call.
const LASTING = [
  'outcome',
  'plan',
  'results',
  'maxResults',
  'answerBytes',
  'range',
  'minTopics',
  'clauses',
  'segments',
  'rows',
  'overflow',
]

/** Cases of `eth_getLogs`, its paged form and its explanation. Before block 54 the chain has few logs; from there on
 *  2,100 in each of five blocks. */
export function logCases(hashes: FixtureHashes): CasesByMethod {
  const range = (from: number, to: number) => ({ fromBlock: quantity(from), toBlock: quantity(to) })
  const logs = (filter: object) => positional(filter)
  const explained = (filter: object, more: string[] = []) => ({ params: [filter], keep: [...LASTING, ...more] })
  return {
    eth_getLogs: {
      ...largeCases((large) => logs({ fromBlock: '0x0', toBlock: large })),
      'large-bounds': logs({ fromBlock: '0x20000000000000', toBlock: '0xffffffffffffffff' }),
      'large-from-reversed': logs({ fromBlock: '0xffffffffffffffff', toBlock: '0x1' }),
      'one-topic-each': logs(range(3, 3)),
      'no-topics': logs({ address: EMITTER, ...range(5, 5) }),
      'two-contracts-in-a-block': logs(range(5, 5)),
      'by-block-hash': logs({ blockHash: hashes.block(9) }),
      'by-blockhash-spelling': logs({ blockhash: hashes.block(9) }),
      'spelled-as-go-reads-it': logs({ FromBlock: '0x3', ToBlock: '0x3', Address: EMITTER }),
      'unknown-member': logs({ fromBlok: '0x3' }),
      'block-without-logs': logs({ blockHash: hashes.block(10) }),
      'default-range-is-latest': logs({}),
      'any-of-addresses': logs({ address: [COUNTER, CHILD], ...range(0, 53) }),
      'transfers-to-bob': { ...logs({ topics: [TRANSFER_TOPIC, null, word(BOB)], ...range(0, 60) }), example: true },
      'transfers-from-alice-or-carol': logs({
        address: TOKEN,
        topics: [TRANSFER_TOPIC, [word(ALICE), word(CAROL)]],
        ...range(0, 60),
      }),
      'minting-from-zero-address': logs({ topics: [TRANSFER_TOPIC, word(0)], ...range(0, 60) }),
      'four-topics-before-54': logs({ topics: [null, null, null, null], ...range(0, 53) }),
      'number-7-of-bob-in-many': logs({ topics: [NUMBERED_TOPIC, word(7), word(BOB)], ...range(0, 60) }),
      'long-data': logs({ topics: [null, null, null, word(77)], ...range(0, 60) }),
      'empty-data': logs(range(28, 28)),
      'null-in-a-list-is-any': logs({ topics: [[TRANSFER_TOPIC, null], word(ALICE)], ...range(0, 53) }),
      'ether-transfers': logs({ address: ETHER_TRANSFERS, ...range(0, HEAD) }),
      'ether-to-bob': logs({ address: ETHER_TRANSFERS, topics: [TRANSFER_TOPIC, null, word(BOB)], ...range(0, HEAD) }),
      'amsterdam-probe': logs(range(63, 63)),
      'builder-requests': logs(range(70, 70)),
      'nothing-matches': logs({ address: ABSENT_ACCOUNT, ...range(0, 60) }),
      'tags-as-bounds': logs({ address: TOKEN, fromBlock: 'earliest', toBlock: 'finalized' }),
      'more-than-10000': logs(range(54, 58)),
      'unknown-block-hash': logs({ blockHash: UNKNOWN_HASH }),
      'block-hash-and-range': logs({ blockHash: hashes.block(9), fromBlock: '0x1' }),
      'reversed-range': logs(range(5, 4)),
      'beyond-head': logs(range(59, HEAD + 1)),
      'five-topics': logs({ topics: [null, null, null, null, null] }),
      'short-topic': logs({ topics: ['0x12'] }),
      'short-address': logs({ address: ['0x12'] }),
      'not-an-object': logs([]),
      'no-params': positional(),
    },
    eth_getLogsWithCursor: {
      'first-page': { params: [{ address: TOKEN, ...range(0, 60) }, null, 2], drop: ['cursor'] },
      'altered-cursor': positional({ address: TOKEN, ...range(0, 60) }, CURSOR, 2),
      'all-in-one-page': positional({ address: COUNTER, ...range(0, 60) }),
      'nothing-matches': positional({ address: ABSENT_ACCOUNT, ...range(0, 60) }),
      'unknown-block-hash': positional({ blockHash: UNKNOWN_HASH }),
      'block-hash-and-range': positional({ blockHash: hashes.block(9), fromBlock: '0x1' }),
      'reversed-range': positional(range(5, 4)),
      'five-topics': positional({ topics: [null, null, null, null, null] }),
      'cursor-of-another-filter': positional({ address: COUNTER, ...range(0, 60) }, CURSOR),
      'no-cursor-at-all': positional({}, 'nonsense'),
      'limit-too-large': positional({}, null, 10_001),
      'limit-not-whole': positional({}, null, 1.5),
      'large-bound': positional({ fromBlock: '0x0', toBlock: '0xffffffffffffffff' }),
      'beyond-head': positional(range(59, HEAD + 1)),
    },
    cairn_getDecodedLogs: {
      'transfers-to-bob': {
        ...logs({ address: TOKEN, topics: [TRANSFER_TOPIC, null, word(BOB)], ...range(0, 60) }),
        example: true,
      },
      'unknown-events': logs(range(3, 5)),
      'ether-to-bob': logs({ address: ETHER_TRANSFERS, topics: [TRANSFER_TOPIC, null, word(BOB)], ...range(0, HEAD) }),
      'nothing-matches': logs({ address: ABSENT_ACCOUNT, ...range(0, 60) }),
      'more-than-10000': logs(range(54, 58)),
      'unknown-block-hash': logs({ blockHash: UNKNOWN_HASH }),
      'block-hash-and-range': logs({ blockHash: hashes.block(9), fromBlock: '0x1' }),
      'reversed-range': logs(range(5, 4)),
      'beyond-head': logs(range(59, HEAD + 1)),
      'five-topics': logs({ topics: [null, null, null, null, null] }),
      'short-topic': logs({ topics: ['0x12'] }),
      'no-params': positional(),
    },
    cairn_explainLogs: {
      'unknown-block-hash': positional({ blockHash: UNKNOWN_HASH }),
      'block-hash-and-range': positional({ blockHash: hashes.block(9), fromBlock: '0x1' }),
      'reversed-range': positional(range(5, 4)),
      'five-topics': positional({ topics: [null, null, null, null, null] }),
      'large-bound': positional({ fromBlock: '0x0', toBlock: '0xffffffffffffffff' }),
      'transfers-to-bob': explained({ topics: [TRANSFER_TOPIC, null, word(BOB)], ...range(0, 60) }),
      'one-block': explained(range(5, 5), ['advice']),
      'nothing-matches': explained(
        { address: [ABSENT_ACCOUNT, COUNTER], topics: [[word(1), word(2)]], ...range(0, 60) },
        ['advice'],
      ),
      'more-than-10000': explained({ topics: [null, null, null], ...range(0, 60) }),
      everything: explained(range(0, 60), ['advice']),
      'default-range-is-latest': explained({}, ['advice']),
      'beyond-head': positional(range(59, HEAD + 1)),
      'short-topic': positional({ topics: ['0x12'] }),
    },
  }
}
