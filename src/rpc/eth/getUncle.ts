import { formatQuantity } from '../../lib/hex.js'
import type { ChainReader, StoredBlock } from '../../store/rows/types.js'
import { BLOCK_UNAVAILABLE, findBlock, HASH_UNAVAILABLE } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { index } from '../core/params.js'
import { blockHashParam, blockNumberParam, uncleIndexParam } from './commonParams.js'
import { formatUncle } from './format/block.js'
import { orNull, UNCLE_SCHEMA } from './schemas.js'

export const getUncleByBlockHashAndIndex = defineMethod({
  name: 'eth_getUncleByBlockHashAndIndex',
  summary: 'The uncle at that index of the block with that hash, or null.',
  cost: 'point',
  classes: ['blocks'],
  params: [blockHashParam, uncleIndexParam],
  result: { name: 'uncle', schema: orNull(UNCLE_SCHEMA) },
  errors: [BLOCK_UNAVAILABLE, HASH_UNAVAILABLE],
  handler: ({ chain }, hash, index) => {
    const block = findBlock(chain, { hash, requireCanonical: false })
    return block ? uncleOfBlock(chain, block, index) : null
  },
})

export const getUncleByBlockNumberAndIndex = defineMethod({
  name: 'eth_getUncleByBlockNumberAndIndex',
  summary: 'The uncle at that index of the block with that number, or null.',
  description: 'The pending block has no uncles.',
  cost: 'point',
  classes: ['blocks'],
  params: [blockNumberParam, uncleIndexParam],
  result: { name: 'uncle', schema: orNull(UNCLE_SCHEMA) },
  errors: [BLOCK_UNAVAILABLE],
  handler: ({ chain }, id, index) => {
    const block = id === 'pending' ? undefined : findBlock(chain, id)
    return block ? uncleOfBlock(chain, block, index) : null
  },
})

export const getUncleCountByBlockHash = defineMethod({
  name: 'eth_getUncleCountByBlockHash',
  summary: 'Number of uncles in the block with that hash, or null.',
  cost: 'point',
  classes: ['blocks'],
  params: [blockHashParam],
  result: { name: 'count', schema: orNull(index.schema) },
  errors: [BLOCK_UNAVAILABLE, HASH_UNAVAILABLE],
  handler: ({ chain }, hash) => {
    const block = findBlock(chain, { hash, requireCanonical: false })
    return block ? formatQuantity(chain.uncleHashes(block.header.number).length) : null
  },
})

export const getUncleCountByBlockNumber = defineMethod({
  name: 'eth_getUncleCountByBlockNumber',
  summary: 'Number of uncles in the block with that number, or null.',
  description: 'The pending block is empty.',
  cost: 'point',
  classes: ['blocks'],
  params: [blockNumberParam],
  result: { name: 'count', schema: orNull(index.schema) },
  errors: [BLOCK_UNAVAILABLE],
  handler: ({ chain }, id) => {
    const block = findBlock(chain, id)
    return block ? formatQuantity(id === 'pending' ? 0 : chain.uncleHashes(block.header.number).length) : null
  },
})

/** The uncle object at an index, or null. Its total difficulty is its parent's plus its own. */
function uncleOfBlock(chain: ChainReader, block: StoredBlock, index: number) {
  const uncle = chain.uncle(block.header.number, index)
  if (!uncle) return null
  const parentNumber = chain.blockNumberByHash(uncle.parentHash)
  const parent = parentNumber === undefined ? undefined : chain.blockByNumber(parentNumber)
  return formatUncle(uncle, parent?.totalDifficulty)
}
