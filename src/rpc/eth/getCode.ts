import { formatData } from '../../lib/hex.js'
import { requireStateBlock } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { data } from '../core/params.js'
import { accountParam, stateBlockParam } from './commonParams.js'
import { STATE_ERRORS } from './schemas.js'

export const getCode = defineMethod({
  name: 'eth_getCode',
  summary: 'Code of an account after a block; `0x` when it has none.',
  description: 'For a delegating account (EIP-7702): the delegation designator.',
  cost: 'point',
  params: [accountParam, stateBlockParam],
  result: { name: 'code', schema: data.schema },
  errors: STATE_ERRORS,
  handler: ({ chain, state }, address, id) => formatData(state.code(address, requireStateBlock(chain, id))),
})
