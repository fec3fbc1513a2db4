import type { Block } from '../../chain/eth/types.js'
import type { ChainReader } from '../../store/rows/types.js'
import type { Ancestors, ParentBlock } from './header.js'

/** The chain before a block, with the newest blocks cached in memory. */
export interface RecentAncestors extends Ancestors {
  /** Adds an accepted block as the newest one; replaces a reverted block with the same number. */
  add(block: Pick<Block, 'hash' | 'header'>, uncleHashes: Uint8Array[]): void
  /** Clears the cache. Call it after a rollback. */
  clear(): void
}

// Uncles are compared with seven ancestors. Reading a block from the database takes longer than all other header
// checks.
const KEPT = 8

/** Creates the ancestors of the current block, from the cache, else from the database. Do not ask for numbers above the
 *  current block's parent. */
export function createAncestors(reader: ChainReader): RecentAncestors {
  const recent = new Map<number, ParentBlock & { uncleHashes: Uint8Array[] }>()
  return {
    header: (number) => {
      const held = recent.get(number)
      if (held) return held
      const block = reader.blockByNumber(number)
      return block && { hash: block.hash, header: block.header }
    },
    uncleHashes: (number) => recent.get(number)?.uncleHashes ?? reader.uncleHashes(number),
    add: ({ hash, header }, uncleHashes) => {
      const { number } = header
      if (!recent.has(number - 1)) recent.clear()
      recent.delete(number - KEPT)
      recent.set(number, { hash, header, uncleHashes })
    },
    clear: () => recent.clear(),
  }
}
