import { equalBytes } from '../../lib/bytes.js'
import { type Deadline, DeadlineExceeded } from '../../lib/deadline.js'
import { CairnError } from '../../lib/errors.js'
import { formatData } from '../../lib/hex.js'
import { createDataVersion } from '../../store/commitWatch.js'
import type { Database } from '../../store/database.js'
import type { ChainReader, StoredBlock } from '../../store/rows/types.js'
import { createSparseCheck } from '../../store/state/sparseState.js'
import type { StateReader } from '../../store/state/stateReader.js'
import { createStateTrieTable, type TrieBlock } from '../../store/state/stateTrieTable.js'
import { createTouchedAbove } from '../../store/state/touchedAbove.js'
import { createTrieHistory } from '../../store/state/trieHistory.js'
import { type BlockChanges, createBlockChanges } from '../../trie/blockChanges.js'
import { createStateRoot, type StateRoot } from '../../trie/stateRoot.js'
import type { TouchedAccount } from '../../trie/touchedAccount.js'
import { findTrieBlock } from '../../trie/trieBlock.js'
import { ListedTrieUnavailable, PastTrieTooFar, StateUnavailable } from '../errors.js'
import { toTouched } from '../transition/blockExecutor.js'

/** The restored state trie does not match the block's header: the database is damaged. */
export class RestoredTrieDiffers extends CairnError {
  constructor(blockNumber: number) {
    super(`the state trie of block ${blockNumber}, restored from the history, does not have the root of its header`)
  }
}

/** State tries of stored blocks. The tries of the newest blocks are stored. Any older one is restored in memory from
 *  the earliest stored trie or from that of an earlier request: each account and slot that changed in between is
 *  unwound, which takes time in proportion to their number. If the newest stored trie is of a block before the head,
 *  tries of later blocks are built from it in memory in the same way. */
export interface PastTries {
  /** Returns the trie after the block and keeps it for later requests. A caller that changes it must call `discard`.
   *  @throws StateUnavailable; ListedTrieUnavailable; PastTrieTooFar if the deadline passes first */
  after(block: StoredBlock, deadline: Deadline): StateRoot
}

// Clean pages of a trie in memory.
const PAGE_BYTES = 32 * 2 ** 20
// Tries in memory, each with the pages that restoring it has changed.
const MOST_TRIES = 4
// Accounts and slots hashed between two deadline checks: some milliseconds.
const STEP = 500
// Restoring aborts before the deadline, so that the client gets its error and not that of a timed-out thread.
const RESERVE_MS = 50

/** A trie in memory. */
interface HeldTrie {
  readonly trie: StateRoot
  /** The block of its state. */
  readonly block: TrieBlock
  /** The stored trie whose pages it reads. */
  readonly stored: TrieBlock
  readonly edition: string
  readonly version: number
}

/** Creates tries over an open database, one at a time. Use them in a snapshot. */
export function createPastTries(
  db: Database,
  { chain, reader }: { chain: ChainReader; reader: StateReader },
): PastTries {
  const newest = createStateTrieTable(db)
  const history = createTrieHistory(db)
  const touchedAbove = createTouchedAbove(db, reader)
  const dataVersion = createDataVersion(db)
  const isSparse = createSparseCheck(db)
  let blockChanges: BlockChanges | undefined
  /** The one that was used last comes first. */
  let tries: HeldTrie[] = []

  const isOnChain = ({ number, hash }: TrieBlock) => {
    const found = chain.blockHash(number)
    return found !== undefined && formatData(found) === hash
  }
  /** Removes tries that cannot be used any more: of blocks that were removed, or over pages that are not kept. */
  const removeStale = (newestStored: number) => {
    const [version, from] = [dataVersion(), history.from(newestStored)]
    const isPartial = isSparse() // more of it becomes known
    tries = tries.filter(({ stored, block, ...held }) => {
      if (isPartial && held.version !== version) return false
      const isStored = from <= stored.number && history.edition(stored.number) === held.edition
      return isStored && isOnChain(stored) && isOnChain(block)
    })
  }
  /** Takes the trie to start from for a block out of the list, or makes one. */
  const startOf = (number: number, newestStored: number): Pick<HeldTrie, 'trie' | 'block' | 'stored'> => {
    removeStale(newestStored)
    // A partial trie knows most nodes in its newest form: those of keys that were needed since.
    const from = isSparse() ? newestStored : Math.min(Math.max(number, history.from(newestStored)), newestStored)
    const [low, high] = [Math.min(number, from), Math.max(number, from)]
    const distance = ({ block }: HeldTrie) => Math.abs(block.number - number)
    const between = tries.filter(({ block }) => low <= block.number && block.number <= high)
    const nearest = between.sort((a, b) => distance(a) - distance(b))[0]
    if (nearest === undefined) {
      const stored = { number: from, hash: formatData(chain.blockHash(from)!) }
      return { trie: createStateRoot(history.at(from, newestStored), PAGE_BYTES), block: stored, stored }
    }
    tries = tries.filter((each) => each !== nearest)
    return nearest
  }
  const restore = (block: StoredBlock, deadline: Deadline): StateRoot => {
    const { number, stateRoot } = block.header
    const newestStored = findTrieBlock(newest, chain)
    if (newestStored === undefined) throw new StateUnavailable(number)
    const listed = chain.coverage()?.listedStates?.find(({ last }) => number < last && last <= newestStored.number)
    if (listed) throw new ListedTrieUnavailable(listed)
    const reserveMs = Math.min(RESERVE_MS, deadline.limitMs / 10)
    const check = () => {
      deadline.check()
      if (deadline.remainingMs() < reserveMs) throw new DeadlineExceeded(deadline.limitMs)
    }
    const { trie, stored, block: from } = startOf(number, newestStored.number)
    const apply = (account: TouchedAccount) => {
      for (const part of partsOf(account)) {
        trie.note([part])
        if (trie.pending < STEP) continue
        trie.root()
        check()
      }
    }
    for (const changed of touchedAbove.take({ above: number, upTo: from.number }, check)) {
      apply(toTouched(touchedAbove.restored(changed, number, check)))
    }
    for (let next = from.number + 1; next <= number; next++) {
      check()
      blockChanges ??= createBlockChanges(db, reader)
      for (const account of blockChanges.of(next)) apply(account)
    }
    trie.commit()
    if (chain.commitsToState(number) && !equalBytes(trie.root(), stateRoot)) throw new RestoredTrieDiffers(number)
    const facts = { edition: history.edition(stored.number), version: dataVersion() }
    tries.unshift({ ...facts, trie, stored, block: { number, hash: formatData(block.hash) } })
    tries.length = Math.min(tries.length, MOST_TRIES)
    return trie
  }

  return {
    after: (block, deadline) => {
      try {
        return restore(block, deadline)
      } catch (error) {
        if (!(error instanceof DeadlineExceeded)) throw error
        throw new PastTrieTooFar(block.header.number, chain.head()!, deadline.limitMs)
      }
    },
  }
}

/** Splits the account into parts of at most `STEP` slots. */
function* partsOf(account: TouchedAccount): Generator<TouchedAccount> {
  const slots = [...account.slots.values()]
  yield { ...account, slots: slots.slice(0, STEP) }
  for (let i = STEP; i < slots.length; i += STEP) {
    yield { ...account, cleared: false, slots: slots.slice(i, i + STEP) }
  }
}
