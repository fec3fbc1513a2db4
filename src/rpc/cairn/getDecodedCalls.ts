import { isCreation } from '../../chain/eth/callOpcodes.js'
import type { Decoder } from '../../decoding/decoder.js'
import { describeCallFailure } from '../../decoding/failures.js'
import { type DecodedErrorJson, describeInput, formatDecodedError } from '../../decoding/formatDecoded.js'
import type { TracedCall } from '../../evm/tracing/callTree.js'
import type { Deadline } from '../../lib/deadline.js'
import { HASH_UNAVAILABLE } from '../core/blockId.js'
import { createJsonOutput } from '../core/jsonOutput.js'
import { defineMethod } from '../core/method.js'
import { TRACE_ERRORS, TRANSACTION_ERROR } from '../debug/traceErrors.js'
import { formatCallFrame } from '../debug/tracers/callFrames.js'
import { transactionHashParam } from '../eth/commonParams.js'
import { traceTransactionCalls } from '../ots/tracedCalls.js'
import { DECODED_CALL_SCHEMA, DECODED_ERROR_SCHEMA } from './decodedSchemas.js'

/** Maximum bytes of inputs and revert data decoded per transaction; decoded texts take several times their size. */
const MAX_DECODED_BYTES = 4_194_304

export const getDecodedCalls = defineMethod({
  name: 'cairn_getDecodedCalls',
  summary: 'The calls of a transaction as a tree, with decoded functions and errors.',
  description:
    "A Cairn extension. Frames are those of geth's `callTracer`, and each has `function`, the decoded input, and `decodedError`, the " +
    'decoded revert data, as in `cairn_getDecodedTransaction`; null where nothing is known, and after 4 MiB of input and revert data.',
  cost: 'evm',
  classes: ['traces'],
  isTrace: true,
  params: [transactionHashParam],
  result: {
    name: 'calls',
    schema: {
      title: 'DecodedCallFrame',
      type: 'object',
      properties: { function: DECODED_CALL_SCHEMA, decodedError: DECODED_ERROR_SCHEMA },
      required: ['function', 'decodedError'],
    },
  },
  errors: [TRANSACTION_ERROR, HASH_UNAVAILABLE, ...TRACE_ERRORS],
  handler: async (context, hash) => {
    const { root, applied } = await traceTransactionCalls(context, hash)
    const { chain, transactions, decoder, deadline } = context
    const location = transactions.locate(hash)!
    const { gasLimit } = chain.transaction(chain.blockByNumber(location.blockNumber)!, location.index)!
    const frames = createDecodedFrames(decoder(), location.blockNumber, deadline)
    const out = createJsonOutput(context.sendPart)
    out.write(JSON.stringify(frames({ ...root, gas: gasLimit, gasUsed: applied.gasUsed })))
    return out.end()
  },
})

function createDecodedFrames(decoder: Decoder, blockNumber: number, deadline: Deadline): (call: TracedCall) => object {
  let left = MAX_DECODED_BYTES
  const mayDecode = (bytes: Uint8Array) => {
    if (bytes.length > left) return false
    left -= bytes.length
    return true
  }
  const format = (call: TracedCall): object => {
    deadline.check()
    const { input, output, calls } = call
    return {
      ...formatCallFrame({ ...call, calls: [] }, 0),
      function: !isCreation(call) && mayDecode(input) ? describeInput(decoder, call, blockNumber) : null,
      decodedError: call.failure !== undefined && mayDecode(output) ? errorOf(call, decoder, blockNumber) : null,
      ...(calls.length > 0 && { calls: calls.map(format) }),
    }
  }
  return format
}

function errorOf(call: TracedCall, decoder: Decoder, blockNumber: number): DecodedErrorJson | null {
  const failure = describeCallFailure(call, decoder, { blockNumber })
  return failure && formatDecodedError(failure.decoded, failure.guess)
}
