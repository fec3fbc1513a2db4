import { padLeft } from '../../lib/bytes.js'
import { BLOCK_UNAVAILABLE, HASH_UNAVAILABLE, STATE_UNAVAILABLE } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { blockId, boolean, data, integerBetween, optional, required } from '../core/params.js'
import {
  DUMP_BLOCK_ERROR,
  DUMP_RESULT,
  dumpState,
  MAX_DUMPED_ACCOUNTS,
  requireDumpBlock,
  STORAGE_TOO_LARGE,
  trieTooFar,
} from './stateDump.js'

export const accountRange = defineMethod({
  name: 'debug_accountRange',
  summary: 'Accounts of the state after a block, ordered by the hashes of their addresses.',
  description:
    'A page is shorter where its accounts have more than 50,000 slots together. `next`, if there are more accounts, is the start of the ' +
    'next page. Every address of the database is hashed for each page, up to `--call-timeout`.',
  cost: 'evm',
  classes: ['state'],
  params: [
    required('block', blockId, 'block number, tag, hash, or EIP-1898 object'),
    optional('start', data, 'the lowest hash of an address; shorter data has leading zeros', new Uint8Array(32)),
    optional(
      'maxResults',
      integerBetween(-(2 ** 31), 2 ** 31),
      `at most ${MAX_DUMPED_ACCOUNTS}, also for 0 and less`,
      MAX_DUMPED_ACCOUNTS,
    ),
    optional('nocode', boolean, 'leave out code', false),
    optional('nostorage', boolean, 'leave out storage', false),
    optional('incompletes', boolean, 'no effect: the address of every account is known', false),
  ],
  result: DUMP_RESULT,
  errors: [
    DUMP_BLOCK_ERROR,
    BLOCK_UNAVAILABLE,
    HASH_UNAVAILABLE,
    STATE_UNAVAILABLE,
    trieTooFar('debug_accountRange', '5s'),
    { ...STORAGE_TOO_LARGE, when: 'a contract has more slots' },
  ],
  handler: async (context, id, start, maxResults, nocode, nostorage, _incompletes) => {
    const limit = maxResults > 0 ? Math.min(maxResults, MAX_DUMPED_ACCOUNTS) : MAX_DUMPED_ACCOUNTS
    const from = padLeft(start.subarray(Math.max(0, start.length - 32)), 32)
    const terms = { start: from, limit, withCode: !nocode, withStorage: !nostorage }
    return dumpState(context, requireDumpBlock(context, id), terms)
  },
})
