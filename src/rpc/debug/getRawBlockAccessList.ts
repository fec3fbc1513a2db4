import { encodeBlockAccessList } from '../../chain/eth/blockAccessList.js'
import { formatData } from '../../lib/hex.js'
import { BLOCK_UNAVAILABLE, findBlock, STATE_UNAVAILABLE } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { data } from '../core/params.js'
import { orNull } from '../eth/schemas.js'
import { rawBlockParam } from './rawBlockParam.js'

export const getRawBlockAccessList = defineMethod({
  name: 'debug_getRawBlockAccessList',
  summary: "RLP of a block's access list (EIP-7928), or null.",
  description:
    'Null before Amsterdam. A list that is not stored (`--block-access-lists`) is found by executing the block again, on the ' +
    'state of its parent.',
  cost: 'evm',
  params: [rawBlockParam],
  result: { name: 'RLP', schema: orNull(data.schema) },
  errors: [BLOCK_UNAVAILABLE, { ...STATE_UNAVAILABLE, when: 'blocks were imported with `--state none`' }],
  handler: ({ chain, evm, deadline }, id) => {
    const block = findBlock(chain, id)
    if (!block) return null
    const stored = chain.blockAccessList(block.header.number)
    if (stored) return formatData(stored)
    const list = evm.blockAccessList(block.header.number, deadline)
    return list === undefined ? null : formatData(encodeBlockAccessList(list))
  },
})
