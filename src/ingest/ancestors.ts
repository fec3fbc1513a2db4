import type { Block } from '../chain/eth/types.js'
import type { ChainReader } from '../store/chain/types.js'
import type { Ancestors, ParentBlock } from './verify.js'

/** The chain before a block, where the newest blocks are in memory. */
export interface RecentAncestors extends Ancestors {
  /** Takes a block that was accepted as the newest one, in the place of a block of that number that was given up. */
  add(block: Pick<Block, 'hash' | 'header'>, uncleHashes: Uint8Array[]): void
  /** Forgets what lies in memory: after a rollback. */
  forget(): void
}

// As many as the uncles of a block are compared with: seven. To read a block from the database takes longer than all other
// checks of a header.
const KEPT = 8

/** Ancestors of the block at hand. Of those that `add` was not told of, the database is asked. Numbers above that of the
 *  block before the one at hand are not to be asked for. */
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
    forget: () => recent.clear(),
  }
}
