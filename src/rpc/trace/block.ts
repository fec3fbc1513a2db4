import { BLOCK_UNAVAILABLE, findBlock } from '../core/blockId.js'
import { createJsonOutput } from '../core/jsonOutput.js'
import { defineMethod } from '../core/method.js'
import { blockIdOrDecimal, required } from '../core/params.js'
import { TRACE_ERRORS } from '../debug/traceErrors.js'
import { orNull } from '../eth/schemas.js'
import { visitTraces } from './flatTraces.js'
import { FLAT_TRACES_SCHEMA } from './schemas.js'

export const traceBlock = defineMethod({
  name: 'trace_block',
  summary: 'Calls of all transactions of a block, and its rewards, or null.',
  description:
    "In OpenEthereum's shape. A block of proof of work ends with its reward and those of its uncles, one of Gnosis with those of its " +
    'reward contract (`rewardType` `external`). The genesis has no traces.',
  cost: 'evm',
  classes: ['traces'],
  isTrace: true,
  params: [required('block', blockIdOrDecimal, 'block number in hex or decimal, tag, hash, or EIP-1898 object')],
  result: { name: 'traces', schema: orNull(FLAT_TRACES_SCHEMA) },
  errors: [BLOCK_UNAVAILABLE, ...TRACE_ERRORS],
  handler: async (context, id) => {
    const traces = await context.loadTraces()
    const block = findBlock(context.chain, id)
    if (block === undefined) return null
    const out = createJsonOutput(context.sendPart)
    let isFirst = true
    const write = ({ json }: { json: object }) => {
      out.write(`${isFirst ? '' : ','}${JSON.stringify(json)}`)
      isFirst = false
    }
    out.write('[')
    visitTraces(context, { traces, block }, write)
    out.write(']')
    return out.end()
  },
})
