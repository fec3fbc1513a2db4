import type { Decoder } from '../../decoding/decoder.js'
import { describeCallFailure } from '../../decoding/failures.js'
import { type DecodedErrorJson, describeInput, formatDecodedError } from '../../decoding/formatDecoded.js'
import { StateUnavailable } from '../../evm/errors.js'
import { formatData } from '../../lib/hex.js'
import { HASH_UNAVAILABLE, requireNoGap } from '../core/blockId.js'
import type { RpcContext } from '../core/context.js'
import { defineMethod } from '../core/method.js'
import { TRACE_ERRORS } from '../debug/traceErrors.js'
import { transactionHashParam } from '../eth/commonParams.js'
import { createReceiptFormat } from '../eth/format/receipt.js'
import { orNull } from '../eth/schemas.js'
import { traceTransactionCalls } from '../ots/tracedCalls.js'
import { DECODED_CALL_SCHEMA, DECODED_LOG_SCHEMA, FAILURE_SCHEMA } from './decodedSchemas.js'
import { addDecoded } from './getDecodedLogs.js'

const properties = {
  function: DECODED_CALL_SCHEMA,
  failure: FAILURE_SCHEMA,
  logs: { type: 'array', items: DECODED_LOG_SCHEMA },
}

export const getDecodedTransaction = defineMethod({
  name: 'cairn_getDecodedTransaction',
  summary: 'The decoded input, logs and error of the transaction with that hash, or null.',
  description:
    'A Cairn extension. `function` is null for contract creations, plain transfers, unknown functions and input that does not ' +
    'encode the call. Logs are those of the receipt, decoded as by `cairn_getDecodedLogs`. `failure` is null if the transaction ' +
    'succeeded; otherwise it is executed again for its error and revert data, whose `decoded` is `Error(string)`, `Panic(uint256)`, ' +
    'an error of ERC-6093 or one of an ABI added with `cairn abi add`, else null. `reason` says it in one line. Where ' +
    'the state is not available, `error`, `data` and `reason` are null.',
  cost: 'evm',
  classes: ['traces'],
  isTrace: true,
  params: [transactionHashParam],
  result: {
    name: 'decodedTransaction',
    schema: orNull({ title: 'DecodedTransaction', type: 'object', properties, required: Object.keys(properties) }),
  },
  errors: [HASH_UNAVAILABLE, ...TRACE_ERRORS.slice(0, 3)],
  handler: async (context, hash) => {
    const { chain, transactions, decoder } = context
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
      function: to ? describeInput(current, { to, input }, location.blockNumber) : null,
      failure:
        stored.receipt.status === 1
          ? null
          : await findFailure(context, hash, { decoder: current, blockNumber: location.blockNumber }),
      logs: createReceiptFormat(chain, block)(stored, transaction, location.index).logs.map((log) =>
        addDecoded(log, current),
      ),
    }
  },
})

/** Why a transaction failed. */
interface Failure {
  /** Outcome reported by the EVM; null if the state is not available. */
  readonly error: string | null
  readonly data: string | null
  readonly decoded: DecodedErrorJson | null
  /** One line; null if the state is not available. */
  readonly reason: string | null
}

/** Null for a transaction that succeeded. Receipts before Byzantium do not record it. */
async function findFailure(
  context: RpcContext,
  hash: Uint8Array,
  { decoder, blockNumber }: { decoder: Decoder; blockNumber: number },
): Promise<Failure | null> {
  try {
    const { root } = await traceTransactionCalls(context, hash)
    const failure = describeCallFailure(root, decoder, { blockNumber })
    if (failure === null) return null
    const { error, data, decoded, guess, reason } = failure
    return { error, data: formatData(data), decoded: formatDecodedError(decoded, guess), reason }
  } catch (error) {
    if (error instanceof StateUnavailable) return { error: null, data: null, decoded: null, reason: null }
    throw error
  }
}
