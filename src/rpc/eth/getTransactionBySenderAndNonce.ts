import { parseHex } from '../../lib/hex.js'
import { defineMethod } from '../core/method.js'
import { quantity64, required } from '../core/params.js'
import { getTransactionBySenderAndNonce as otsMethod } from '../ots/getTransactionBySenderAndNonce.js'
import { accountParam } from './commonParams.js'
import { getTransactionByHash } from './getTransaction.js'
import { orNull, TRANSACTION_SCHEMA } from './schemas.js'

export const getTransactionBySenderAndNonce = defineMethod({
  name: 'eth_getTransactionBySenderAndNonce',
  summary: 'The transaction that an account sent with a nonce, or null.',
  description: "reth's method, which `cast tx --from --nonce` calls. Found as by `ots_getTransactionBySenderAndNonce`.",
  cost: 'scan',
  classes: ['blocks'],
  params: [accountParam, required('nonce', quantity64, 'nonce of the transaction')],
  result: { name: 'transaction', schema: orNull(TRANSACTION_SCHEMA) },
  errors: otsMethod.errors,
  handler: async (context, address, nonce) => {
    const hash = (await otsMethod.handler(context, address, Number(nonce))) as string | null
    return hash === null ? null : getTransactionByHash.handler(context, parseHex(hash))
  },
})
