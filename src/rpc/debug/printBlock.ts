import { BLOCK_UNAVAILABLE, findBlock } from '../core/blockId.js'
import { RpcError, SERVER_ERROR } from '../core/errors.js'
import { defineMethod } from '../core/method.js'
import { indexOrDecimal, required, text } from '../core/params.js'
import { formatBlock } from '../eth/format/block.js'

export const printBlock = defineMethod({
  name: 'debug_printBlock',
  summary: 'A block as text for people.',
  description:
    'The block object of `eth_getBlockByNumber` with whole transactions, indented. geth prints its own data structures, with ' +
    'addresses of its memory: no program can depend on either.',
  cost: 'point',
  classes: ['blocks'],
  params: [required('number', indexOrDecimal, 'block number, a JSON number as in geth or a quantity')],
  result: { name: 'text', schema: text.schema },
  errors: [{ code: SERVER_ERROR, message: 'block #N not found' }, BLOCK_UNAVAILABLE],
  handler: ({ chain }, number) => {
    const block = findBlock(chain, number)
    if (!block) throw new RpcError(SERVER_ERROR, `block #${number} not found`)
    return JSON.stringify(formatBlock(chain, block, true), undefined, 2)
  },
})
