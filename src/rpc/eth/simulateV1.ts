import type { Block } from '../../chain/eth/types.js'
import {
  MAX_SIMULATED_BLOCKS,
  MAX_SIMULATED_CALLS,
  MAX_SIMULATED_CALLS_OF_BLOCK,
  type SimulatedBlock,
  type SimulatedCall,
} from '../../evm/calls/simulation/simulation.js'
import { formatLog } from '../../index/logs/logJson.js'
import { formatData, formatQuantity } from '../../lib/hex.js'
import { requireStateBlock } from '../core/blockId.js'
import { EXECUTION_REVERTED, INVALID_PARAMS, invalidParams, revertMessage, STATE_TRIE_ERROR } from '../core/errors.js'
import { defineMethod } from '../core/method.js'
import { arrayOf, boolean, data, maybe, quantity64, required } from '../core/params.js'
import { strictObject } from '../core/strictObject.js'
import { blockOverrides } from './blockOverrides.js'
import { CALL_LIMIT_ERRORS, CALL_REFUSED, CALL_REQUEST_ERRORS, callObject } from './callObject.js'
import { stateBlockParam } from './commonParams.js'
import { formatWholeBlock } from './format/block.js'
import { BLOCK_SCHEMA, LOG_SCHEMA, STATE_ERRORS } from './schemas.js'
import { stateOverrides } from './stateOverrides.js'

const EMPTY_INPUT = { code: INVALID_PARAMS, message: 'empty input' } as const
/** Code of a simulated call that failed without a revert (geth). */
const VM_ERROR = -32015

const payload = strictObject({
  blockStateCalls: arrayOf(
    strictObject({
      blockOverrides: maybe(blockOverrides),
      stateOverrides: maybe(stateOverrides),
      calls: maybe(arrayOf(callObject)),
    }),
  ),
  traceTransfers: maybe(boolean),
  validation: maybe(boolean),
  returnFullTransactions: maybe(boolean),
})

const callSchema = {
  type: 'object',
  properties: {
    status: quantity64.schema,
    returnData: data.schema,
    gasUsed: quantity64.schema,
    maxUsedGas: quantity64.schema,
    logs: { type: 'array', items: LOG_SCHEMA },
    error: { type: 'object' },
  },
}

export const simulateV1 = defineMethod({
  name: 'eth_simulateV1',
  summary: 'Executes calls as the transactions of simulated blocks on top of a block.',
  description:
    'Each of `blockStateCalls` is a block: `stateOverrides`, `blockOverrides` and `calls`, which see what came before. Numbers ' +
    'that are left out become empty blocks; times default to 12 seconds after the block before. With `validation` nonces and base ' +
    'fees are checked as in a chain, else calls without fees are free. `traceTransfers` adds a log of ' +
    '`0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee` for each transfer of ether, up to Osaka: from Amsterdam on transfers have logs (EIP-7708). Hashes and roots of the blocks are computed; signatures ' +
    `are zero. At most ${MAX_SIMULATED_BLOCKS} blocks, ${MAX_SIMULATED_CALLS_OF_BLOCK} calls in a block, ${MAX_SIMULATED_CALLS} in all, and ` +
    '50 million gas in all (`--simulation-gas`).',
  cost: 'evm',
  classes: ['calls'],
  params: [required('payload', payload, 'blocks and how to simulate them'), stateBlockParam],
  result: {
    name: 'blocks with the outcomes of their calls',
    schema: {
      type: 'array',
      items: { allOf: [BLOCK_SCHEMA, { properties: { calls: { type: 'array', items: callSchema } } }] },
    },
  },
  errors: [
    EMPTY_INPUT,
    { code: -38010, message: 'err: nonce too low: … (supplied gas …)' },
    { code: -38011, message: 'err: nonce too high: … (supplied gas …)' },
    { code: -38012, message: 'err: max fee per gas less than block base fee: … (supplied gas …)' },
    { code: -38013, message: 'err: intrinsic gas too low: … (supplied gas …)' },
    { code: -38014, message: 'err: insufficient funds for gas * price + value: … (supplied gas …)' },
    { code: -38015, message: 'block gas limit reached: remaining: …, required: …' },
    { code: -38020, message: 'block numbers must be in order: … <= …' },
    { code: -38021, message: 'block timestamps must be in order: … <= …' },
    {
      code: -38025,
      message: 'err: max initcode size exceeded: … (supplied gas …)',
      when: 'the initcode of a creation is longer than the fork allows',
    },
    { code: -38026, message: 'too many blocks' },
    { code: -38026, message: 'too many calls', when: 'there are more calls in all blocks' },
    ...CALL_LIMIT_ERRORS.map((error) => ({ ...error, when: 'the calls together need more' })),
    ...CALL_REQUEST_ERRORS,
    CALL_REFUSED,
    { code: INVALID_PARAMS, message: 'block …: difficulty override is not allowed after the merge' },
    STATE_TRIE_ERROR,
    ...STATE_ERRORS,
  ],
  handler: ({ chain, evm, limits, deadline }, request, id) => {
    const { blockStateCalls, traceTransfers = false, validation = false, returnFullTransactions = false } = request
    if (blockStateCalls.length === 0) throw invalidParams(EMPTY_INPUT.message)
    const blocks = blockStateCalls.map((each) => ({
      block: each.blockOverrides,
      accounts: each.stateOverrides,
      calls: (each.calls ?? []).map(({ request: call, chainId }) => ({ ...call, chainId })),
    }))
    const simulation = { blocks, isValidated: validation, tracesTransfers: traceTransfers }
    const simulated = evm.simulate(simulation, requireStateBlock(chain, id), limits, deadline)
    return simulated.map((each) => formatSimulated(each, returnFullTransactions))
  },
})

function formatSimulated({ block, totalDifficulty, calls }: SimulatedBlock, fullTransactions: boolean) {
  return {
    ...formatWholeBlock(block, totalDifficulty, fullTransactions),
    calls: calls.map((each, i) => formatCall(each, block, i)),
  }
}

function formatCall(
  { status, failure, output, gasUsed, maxUsedGas, logs }: SimulatedCall,
  block: Block,
  index: number,
) {
  const position = {
    blockNumber: block.header.number,
    blockHash: block.hash,
    blockTimestamp: block.header.timestamp,
    transactionHash: block.transactions[index].hash,
    transactionIndex: index,
  }
  const reverted = () => ({ message: revertMessage(output), code: EXECUTION_REVERTED, data: formatData(output) })
  return {
    returnData: status === 'success' ? formatData(output) : '0x',
    logs: logs.map(({ log, logIndex }) => formatLog(log, { ...position, logIndex })),
    gasUsed: formatQuantity(gasUsed),
    maxUsedGas: formatQuantity(maxUsedGas),
    status: status === 'success' ? '0x1' : '0x0',
    ...(status === 'revert' ? { error: reverted() } : {}),
    ...(status === 'halt' ? { error: { message: failure, code: VM_ERROR } } : {}),
  }
}
