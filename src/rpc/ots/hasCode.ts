import { requireStateBlock } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { blockIdOrDecimal, optional } from '../core/params.js'
import { accountParam } from '../eth/commonParams.js'
import { STATE_ERRORS } from '../eth/schemas.js'

export const hasCode = defineMethod({
  name: 'ots_hasCode',
  summary: 'Whether an account has code after a block.',
  cost: 'point',
  classes: ['state'],
  params: [
    accountParam,
    optional('block', blockIdOrDecimal, 'block number in hex or decimal, tag, hash, or EIP-1898 object', 'latest'),
  ],
  result: { name: 'has code', schema: { type: 'boolean' } },
  errors: STATE_ERRORS,
  handler: ({ chain, state }, address, id) => state.code(address, requireStateBlock(chain, id)).length > 0,
})
