import type { ChainReader, StoredBlock } from '../../store/rows/types.js'
import { formatUncle } from './format/block.js'

/** The uncle object at an index, or null. Its total difficulty is its parent's plus its own. */
export function uncleOfBlock(chain: ChainReader, block: StoredBlock, index: number) {
  const uncle = chain.uncle(block.header.number, index)
  if (!uncle) return null
  const parentNumber = chain.blockNumberByHash(uncle.parentHash)
  const parent = parentNumber === undefined ? undefined : chain.blockByNumber(parentNumber)
  return formatUncle(uncle, parent?.totalDifficulty)
}
