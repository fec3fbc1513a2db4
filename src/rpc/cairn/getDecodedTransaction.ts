import { formatDecodedCall } from '../../decoding/decoder.js'
import { HASH_NOT_HELD, requireNoGap } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { transactionHashParam } from '../eth/commonParams.js'
import { formatReceipt } from '../eth/format/receipt.js'
import { orNull } from '../eth/schemas.js'
import { DECODED_CALL_SCHEMA, DECODED_LOG_SCHEMA } from './decodedSchemas.js'
import { addDecoded } from './getDecodedLogs.js'

const properties = { function: DECODED_CALL_SCHEMA, logs: { type: 'array', items: DECODED_LOG_SCHEMA } }

export const getDecodedTransaction = defineMethod({
  name: 'cairn_getDecodedTransaction',
  summary: 'The decoded input and logs of the transaction with that hash, or null.',
  description:
    'A Cairn extension. `function` is null for contract creations, plain transfers, unknown functions and input that does not ' +
    'encode the call. Logs are those of the receipt, decoded as by `cairn_getDecodedLogs`.',
  cost: 'scan',
  params: [transactionHashParam],
  result: {
    name: 'decodedTransaction',
    schema: orNull({ title: 'DecodedTransaction', type: 'object', properties, required: Object.keys(properties) }),
  },
  errors: [HASH_NOT_HELD],
  handler: ({ chain, transactions, decoder }, hash) => {
    const location = transactions.locate(hash)
    const block = location && chain.blockByNumber(location.blockNumber)
    const transaction = block && chain.transaction(block, location.index)
    const stored = block && chain.receipt(block, location.index)
    if (!transaction || !stored) {
      requireNoGap(chain)
      return null
    }
    const current = decoder()
    const { to, input } = transaction
    return {
      function: to ? formatDecodedCall(current.decodeInput(to, input)) : null,
      logs: formatReceipt(stored, transaction, block, location.index).logs.map((log) => addDecoded(log, current)),
    }
  },
})
