import { formatData } from '../../lib/hex.js'
import { BLOCK_UNAVAILABLE, findBlock, STATE_UNAVAILABLE } from '../core/blockId.js'
import { RpcError, SERVER_ERROR } from '../core/errors.js'
import { defineMethod } from '../core/method.js'
import { data } from '../core/params.js'
import { orNull } from '../eth/schemas.js'
import { rawBlockParam } from './getRaw.js'

const NO_PARENT = { code: SERVER_ERROR, message: 'block 0 is not executed, it has no witness' } as const
const items = { type: 'array', items: data.schema }

export const executionWitness = defineMethod({
  name: 'debug_executionWitness',
  summary: 'What executes a block with no other state: trie nodes, codes and headers; or null.',
  description:
    '`state`: RLP of nodes of the tries of the parent state, with those that move up where the block deletes. `codes`: code that the ' +
    'block runs or reads. `keys`: the addresses and slots that it accesses. `headers`: RLP of the headers up to the parent, down to ' +
    'the earliest whose hash the block reads. `state` and `codes` are sorted. The block is executed again for it.',
  cost: 'evm',
  params: [rawBlockParam],
  result: {
    name: 'witness',
    schema: orNull({
      type: 'object',
      properties: { state: items, codes: items, keys: items, headers: items },
      required: ['state', 'codes', 'keys', 'headers'],
    }),
  },
  errors: [BLOCK_UNAVAILABLE, STATE_UNAVAILABLE, NO_PARENT],
  handler: ({ chain, evm, deadline }, id) => {
    const block = findBlock(chain, id)
    if (!block) return null
    if (block.header.number === 0) throw new RpcError(NO_PARENT.code, NO_PARENT.message)
    const { state, codes, keys, headers } = evm.executionWitness(block.header.number, deadline)
    return {
      // In this order, as geth and execution-apis#847 have them.
      state: state.map(formatData).sort(),
      codes: codes.map(formatData).sort(),
      keys: keys.map(formatData),
      headers: headers.map(formatData),
    }
  },
})
