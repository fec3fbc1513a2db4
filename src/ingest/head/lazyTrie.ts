import { type ChainSpec, commitsToState } from '../../chain/eth/forks.js'
import { toTouched } from '../../evm/transition/blockExecutor.js'
import { equalBytes } from '../../lib/bytes.js'
import { formatData } from '../../lib/hex.js'
import type { StateChanges } from '../../store/chain/stateChanges.js'
import type { ChainReader } from '../../store/chain/types.js'
import type { Database } from '../../store/database.js'
import { createStateReader } from '../../store/state/stateReader.js'
import type { TrieBlock } from '../../store/state/stateTrieTable.js'
import { createTouchedAbove } from '../../store/state/touchedAbove.js'
import { createRecordedTrieTable } from '../../store/state/trieHistory.js'
import { createBlockChanges } from '../../trie/blockChanges.js'
import { createChangeNotes } from '../../trie/changeNotes.js'
import { createStateRoot } from '../../trie/stateRoot.js'
import { findTrieBlock } from '../../trie/trieBlock.js'
import type { HeadState } from './chainHead.js'
import { StateRootDiffers } from './errors.js'
import { isRecorded, requireRootAfterRemoval, setTrieBack } from './executedState.js'

/** The state trie of a chain whose blocks come with their state changes. It follows the rows when it is told to, and may be
 *  some blocks behind the head between two transactions. */
export interface LazyTrie extends HeadState {
  /** The block whose state the trie is. */
  readonly block: TrieBlock
  /** Takes the changes of a block on top of the last one that was taken, so that `advance` need not read their rows. Others, and
   *  those in a transaction that `advance` was called in, are left to the rows.
   *  @throws StorageOfOtherIncarnation; the transaction must then be rolled back */
  note(blockNumber: number, changes: StateChanges): void
  /** Number of the last block whose changes it has or noted. */
  readonly noted: number
  /** The trie can be set back to the blocks before `block`, as long as blocks are added one by one. */
  readonly isRecorded: boolean
  /** So much was noted that the next `advance` should not wait. */
  readonly isFull: boolean
  /** Brings it to a stored block, at least to the last one noted, within the caller's transaction; the root is compared with the
   *  header of that block.
   *  @throws StateRootDiffers, StorageOfOtherIncarnation; the transaction must then be rolled back */
  advance(to: number): void
}

// Room for noted accounts, and for as many slots.
const NOTES_ROOM = 2 ** 20
// Accounts and slots together, in about 130 MB, from which on the notes are full. The room that is left takes the last block.
const FULL_NOTES = 800_000

/** The stored trie of an open chain, with about `cacheBytes` in memory. @throws Error when no trie of the chain is stored */
export function createLazyTrie(
  db: Database,
  { chain, spec, cacheBytes }: { chain: ChainReader; spec: ChainSpec; cacheBytes: number },
): LazyTrie {
  const table = createRecordedTrieTable(db)
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
  let wasSetBack = false
  const notes = createChangeNotes(reader, NOTES_ROOM)
  /** The last block whose changes are in the trie or in the notes. */
  let noted = block.number

  const forgetNotes = () => {
    notes.forget()
    noted = block.number
  }
  const settleAt = (at: TrieBlock) => {
    root.settle()
    block = at
    forgetNotes()
  }
  const compare = (from: number, to: number) => {
    const { hash, header } = chain.blockByNumber(to)!
    const computed = root.root()
    if (commitsToState(spec, to) && !equalBytes(computed, header.stateRoot)) {
      throw new StateRootDiffers({ from, to, computed, inHeader: header.stateRoot })
    }
    settleAt({ number: to, hash: formatData(hash) })
  }
  return {
    get block() {
      return block
    },
    get noted() {
      return noted
    },
    get isRecorded() {
      return table.recordedFrom() !== undefined
    },
    get isFull() {
      return notes.size >= FULL_NOTES
    },
    note: (blockNumber, stateChanges) => {
      if (noted !== blockNumber - 1 || block !== saved) return
      if (notes.note(blockNumber, stateChanges)) noted = blockNumber
    },
    advance: (wanted) => {
      const from = block.number + 1
      const to = Math.max(wanted, noted)
      if (noted > block.number) root.apply(notes.updates())
      for (let number = noted + 1; number <= to; number++) root.note(changes.of(number))
      if (to >= from) compare(from, to)
    },
    beforeRemoval: (ancestor, upTo) => {
      const { header, hash } = ancestor
      forgetNotes()
      if (block.number <= header.number) return () => {}
      if (isRecorded(table, header)) {
        return () => {
          setTrieBack({ table, root, spec }, ancestor)
          block = { number: header.number, hash: formatData(hash) }
          saved = block
          noted = block.number
        }
      }
      const touched = touchedAbove.take({ above: header.number, upTo: Math.min(block.number, upTo) })
      return () => {
        const reverted = root.update(touched.map((each) => toTouched(touchedAbove.restored(each))))
        requireRootAfterRemoval(spec, header, reverted)
        settleAt({ number: header.number, hash: formatData(hash) })
        wasSetBack = true
      }
    },
    beforeCommit: () => {
      if (block === saved) return
      table.recorded(block, !wasSetBack && block.number === saved.number + 1, () => root.save())
      saved = block
      wasSetBack = false
    },
    afterRollback: () => {
      table.forget()
      root.reset()
      block = findBlock()
      saved = block
      forgetNotes()
      wasSetBack = false
    },
  }
}

// So few blocks are added to the trie one by one, so that the tries before the head are readable.
const FEW_BLOCKS = 8
// Blocks that are hashed together otherwise: their changes lie in memory. A trie that is recorded stays so: it takes as long one by
// one as to make the tries before the head again.
const MOST_BLOCKS = 64

/** How far to bring a trie that is to follow the chain up to `head` in the next transaction. */
export function nextTrieBlock({ block: { number }, isRecorded }: LazyTrie, head: number): number {
  const few = isRecorded ? MOST_BLOCKS : FEW_BLOCKS
  return head - number <= few ? Math.min(number + 1, head) : Math.min(number + MOST_BLOCKS, head)
}
