import { BLOCK_UNAVAILABLE, STATE_UNAVAILABLE } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { blockNumberParam } from '../eth/commonParams.js'
import {
  DUMP_BLOCK_ERROR,
  DUMP_RESULT,
  dumpState,
  MAX_DUMPED_ACCOUNTS,
  requireDumpBlock,
  STORAGE_TOO_LARGE,
  trieTooFar,
} from './stateDump.js'

export const dumpBlock = defineMethod({
  name: 'debug_dumpBlock',
  summary: 'The first accounts of the state after a block, with code and storage.',
  description:
    `At most ${MAX_DUMPED_ACCOUNTS}, those with the lowest hashes of their addresses, as in geth; \`debug_accountRange\` has the others, from ` +
    '`next` on. `pending` is the head.',
  cost: 'evm',
  classes: ['state'],
  params: [blockNumberParam],
  result: DUMP_RESULT,
  errors: [
    DUMP_BLOCK_ERROR,
    BLOCK_UNAVAILABLE,
    STATE_UNAVAILABLE,
    trieTooFar('debug_dumpBlock', '5s'),
    { ...STORAGE_TOO_LARGE, when: 'a contract has more slots' },
  ],
  handler: async (context, id) => {
    const terms = { start: new Uint8Array(32), limit: MAX_DUMPED_ACCOUNTS, withCode: true, withStorage: true }
    return dumpState(context, requireDumpBlock(context, id), terms)
  },
})
