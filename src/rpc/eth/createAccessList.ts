import { formatQuantity } from '../../lib/hex.js'
import { findBlock, requireStateBlock } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { quantity64, text } from '../core/params.js'
import {
  BLOB_FEE_WITHOUT_BLOBS,
  CALL_LIMIT_ERRORS,
  CALL_REFUSED,
  CALL_REQUEST_ERRORS,
  callParam,
  overriddenRequest,
  requireBlobsForFee,
} from './callObject.js'
import { stateBlockParam } from './commonParams.js'
import { FEE_ERRORS, fillFees, hasFees } from './fillFees.js'
import { formatAccess } from './format/transaction.js'
import { ACCESS_LIST_SCHEMA, STATE_ERRORS } from './schemas.js'
import { stateOverridesParam } from './stateOverrides.js'

export const createAccessList = defineMethod({
  name: 'eth_createAccessList',
  summary: 'The access list (EIP-2930) of a message call, and the gas that it uses with it.',
  description:
    'Accounts and slots that the call accesses, those of failed frames too. Sender, recipient, precompiles and authorities are ' +
    'listed only with slots, because they are warm anyway. A call that fails has its error in `error`. Of a call with fees, ' +
    'the others are filled in as by `eth_fillTransaction`, at its block.',
  cost: 'evm',
  classes: ['calls'],
  takesCall: true,
  params: [callParam, stateBlockParam, stateOverridesParam],
  result: {
    name: 'access list, gas used, and error',
    schema: {
      type: 'object',
      properties: { accessList: ACCESS_LIST_SCHEMA, gasUsed: quantity64.schema, error: text.schema },
      required: ['accessList', 'gasUsed'],
    },
  },
  errors: [
    CALL_REFUSED,
    ...CALL_LIMIT_ERRORS,
    ...CALL_REQUEST_ERRORS,
    ...FEE_ERRORS,
    BLOB_FEE_WITHOUT_BLOBS,
    ...STATE_ERRORS,
  ],
  handler: (context, object, id, accounts) => {
    const { chain, evm, limits, deadline } = context
    requireBlobsForFee(object.request)
    const number = requireStateBlock(chain, id)
    const fees = hasFees(object.request) ? fillFees(context, object.request, findBlock(chain, number)!) : {}
    const filled = { ...object, request: { ...object.request, ...fees } }
    const request = overriddenRequest(chain, filled, { accounts })
    const { accessList, failure, gasUsed } = evm.createAccessList(request, number, limits, deadline)
    return {
      accessList: accessList.map(formatAccess),
      error: failure,
      gasUsed: formatQuantity(gasUsed),
    }
  },
})
