import { formatData } from '../lib/hex.js'
import type { ChainReader } from '../store/rows/types.js'
import type { StateTrieTable, TrieBlock } from '../store/state/stateTrieTable.js'

/** Returns the block whose state the stored trie has: the head, or an earlier one if the trie is updated later, as on a
 *  replica. Undefined when no trie is stored, or only one of a block outside the chain. */
export function findTrieBlock(table: StateTrieTable, chain: ChainReader): TrieBlock | undefined {
  const held = table.head()
  const head = chain.head()
  if (held === undefined || held.building || head === undefined) return undefined
  /** The block with that number, if it has that hash (any if undefined) and the root of the trie. */
  const ofBlock = (number: number, wanted: string | undefined): TrieBlock | undefined => {
    const block = chain.blockByNumber(number)
    if (block === undefined) return undefined
    const [hash, root] = [block.hash, block.header.stateRoot].map(formatData)
    const hasRoot = held.root === root || !chain.commitsToState(number)
    return hasRoot && (wanted ?? hash) === hash ? { number, hash } : undefined
  }
  // Falls back to the head: an unwind may have removed the block if it changed nothing.
  return (held.block && ofBlock(held.block.number, held.block.hash)) ?? ofBlock(head, undefined)
}
