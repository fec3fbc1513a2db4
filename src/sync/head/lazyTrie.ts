import { toTouched } from '../../evm/transition/blockExecutor.js'
import { equalBytes } from '../../lib/bytes.js'
import { formatData } from '../../lib/hex.js'
import type { Database } from '../../store/database.js'
import type { ChainReader } from '../../store/rows/types.js'
import { createStateReader } from '../../store/state/stateReader.js'
import type { TrieBlock } from '../../store/state/stateTrieTable.js'
import { createTouchedAbove } from '../../store/state/touchedAbove.js'
import { RecordedTrieTable } from '../../store/state/trieHistory.js'
import { createBlockChanges } from '../../trie/blockChanges.js'
import { createStateRoot } from '../../trie/stateRoot.js'
import { findTrieBlock } from '../../trie/trieBlock.js'
import type { HeadState } from './chainHead.js'
import { StateRootDiffers } from './errors.js'
import { isRecorded, requireRootAfterRemoval, unwindTrie } from './executedState.js'
import { type HashedTrie, storeHashedTrie } from './trieHasher.js'
import type { WrongRoots } from './wrongRoots.js'

/** The state trie of a chain whose blocks come with their state changes. It follows the rows on demand, and may be some
 *  blocks behind the head between two transactions. */
export interface LazyTrie extends HeadState {
  /** The block of the trie's state. */
  readonly block: TrieBlock
  /** Advances the trie to a stored block within the caller's transaction and compares the root with the header of that
   *  block.
   *  @throws StateRootDiffers, StorageOfOtherIncarnation; the transaction must then be rolled back */
  advance(to: number): void
  /** As `advance`, with a trie that was hashed elsewhere, on top of this one as committed.
   *  @throws StateRootDiffers; the transaction must then be rolled back */
  adopt(hashed: HashedTrie): void
}

/** Opens the stored trie of an open chain, with about `cacheBytes` in memory. Without `wrongRoots` only the header's
 *  root is accepted. @throws Error when no trie of the chain is stored */
export function createLazyTrie(
  db: Database,
  { chain, cacheBytes, wrongRoots }: { chain: ChainReader; cacheBytes: number; wrongRoots?: WrongRoots },
): LazyTrie {
  const table = new RecordedTrieTable(db)
  const root = createStateRoot(table, cacheBytes)
  const reader = createStateReader(db)
  const touchedAbove = createTouchedAbove(db, reader)
  const changes = createBlockChanges(db, reader)
  const findBlock = () => {
    const found = findTrieBlock(table, chain)
    if (found === undefined) throw new Error('no state trie of this chain is stored')
    return found
  }
  let block = findBlock()
  let saved = block
  let wasUnwound = false
  let adopted: HashedTrie | undefined
  const settleAt = (at: TrieBlock) => {
    root.commit()
    block = at
  }
  /** Returns the block `to`, whose root the computed one must be. */
  const requireRoot = (from: number, to: number, computed: Uint8Array): TrieBlock => {
    const { hash, header } = chain.blockByNumber(to)!
    if (chain.commitsToState(to) && !equalBytes(computed, header.stateRoot)) {
      if (!wrongRoots) throw new StateRootDiffers({ from, to, computed, inHeader: header.stateRoot })
      wrongRoots.accept(header, computed, from)
    }
    return { number: to, hash: formatData(hash) }
  }
  return {
    get block() {
      return block
    },
    advance: (to) => {
      const from = block.number + 1
      if (to < from) return
      for (let number = from; number <= to; number++) root.note(changes.of(number))
      settleAt(requireRoot(from, to, root.root()))
    },
    adopt: (hashed) => {
      block = requireRoot(block.number + 1, hashed.blockNumber, hashed.root)
      adopted = hashed
    },
    beforeRemoval: (ancestor, upTo) => {
      const { header, hash } = ancestor
      if (block.number <= header.number) return () => {}
      if (isRecorded(table, header)) {
        return () => {
          unwindTrie({ table, root, chain }, ancestor)
          block = { number: header.number, hash: formatData(hash) }
          saved = block
        }
      }
      const touched = touchedAbove.take({ above: header.number, upTo: Math.min(block.number, upTo) })
      return () => {
        const reverted = root.update(touched.map((each) => toTouched(touchedAbove.restored(each))))
        requireRootAfterRemoval(chain, header, reverted)
        settleAt({ number: header.number, hash: formatData(hash) })
        wasUnwound = true
      }
    },
    beforeCommit: () => {
      if (block === saved) return
      if (adopted) {
        const hashed = adopted
        table.recorded(block, false, () => storeHashedTrie(table, hashed))
        root.reset()
        adopted = undefined
      } else {
        table.recorded(block, !wasUnwound && block.number === saved.number + 1, () => root.save())
      }
      saved = block
      wasUnwound = false
    },
    afterRollback: () => {
      table.clear()
      root.reset()
      block = findBlock()
      saved = block
      adopted = undefined
      wasUnwound = false
    },
  }
}

// The last blocks before the head are added to the trie one by one: the root of each is compared, and the tries before
// the head are readable, which would take as long to make later. Up to this number of earlier blocks are hashed
// together: their changes are in memory.
const MOST_BLOCKS = 64

/** Returns the block to which a trie that follows the chain up to `head` advances in the next transaction. */
export function nextTrieBlock({ block: { number } }: LazyTrie, head: number): number {
  return Math.min(number + Math.max(1, Math.min(MOST_BLOCKS, head - MOST_BLOCKS - number)), head)
}
