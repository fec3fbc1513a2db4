import { equalBytes } from '../../lib/bytes.js'
import { type Deadline, DeadlineExceeded } from '../../lib/deadline.js'
import { CairnError } from '../../lib/errors.js'
import { createDataVersion } from '../../store/commitWatch.js'
import type { Database } from '../../store/database.js'
import type { ChainReader, StoredBlock } from '../../store/rows/types.js'
import { createSparseCheck } from '../../store/state/sparseState.js'
import type { StateReader } from '../../store/state/stateReader.js'
import { createStateTrieTable } from '../../store/state/stateTrieTable.js'
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
 *  the earliest stored trie or from that of the previous request: each account and slot that changed in between is
 *  unwound, which takes time in proportion to their number. If the newest stored trie is of a block before the head,
 *  tries of later blocks are built from it in memory in the same way. */
export interface PastTries {
  /** Returns the trie after the block and keeps it for the next request. A caller that changes it must call `discard`.
   *  @throws StateUnavailable; ListedTrieUnavailable; PastTrieTooFar if the deadline passes first */
  after(block: StoredBlock, deadline: Deadline): StateRoot
}

// Clean pages in memory.
const PAGE_BYTES = 32 * 2 ** 20
// Accounts and slots hashed between two deadline checks: some milliseconds.
const STEP = 500
// Restoring aborts before the deadline, so that the client gets its error and not that of a timed-out thread.
const RESERVE_MS = 50

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
  let held: { headHash: Uint8Array; version: number; number: number; trie: StateRoot } | undefined

  const restore = (block: StoredBlock, head: StoredBlock, deadline: Deadline): StateRoot => {
    const { number, stateRoot } = block.header
    const stored = findTrieBlock(newest, chain)
    if (stored === undefined) throw new StateUnavailable(number)
    const listed = chain.coverage()?.listedStates?.find(({ last }) => number < last && last <= stored.number)
    if (listed) throw new ListedTrieUnavailable(listed)
    const reserveMs = Math.min(RESERVE_MS, deadline.limitMs / 10)
    const check = () => {
      deadline.check()
      if (deadline.remainingMs() < reserveMs) throw new DeadlineExceeded(deadline.limitMs)
    }
    const { trie, number: from } = startOf(number, stored.number, head.hash)
    held = undefined // until the trie is restored
    const apply = (account: TouchedAccount) => {
      for (const part of partsOf(account)) {
        trie.note([part])
        if (trie.pending < STEP) continue
        trie.root()
        check()
      }
    }
    for (const changed of touchedAbove.take({ above: number, upTo: from }, check)) {
      apply(toTouched(touchedAbove.restored(changed, number, check)))
    }
    for (let next = from + 1; next <= number; next++) {
      check()
      blockChanges ??= createBlockChanges(db, reader)
      for (const account of blockChanges.of(next)) apply(account)
    }
    trie.commit()
    if (chain.commitsToState(number) && !equalBytes(trie.root(), stateRoot)) throw new RestoredTrieDiffers(number)
    held = { headHash: head.hash, version: dataVersion(), number, trie }
    return trie
  }
  /** Returns the trie to start from for a block; `newestStored` is the block of the newest stored trie. */
  const startOf = (number: number, newestStored: number, headHash: Uint8Array) => {
    // A partial trie knows most nodes in its newest form: those of keys that were needed since.
    const from = isSparse() ? newestStored : Math.min(Math.max(number, history.from(newestStored)), newestStored)
    // Any commit invalidates the kept trie: a reorg and another one back leave other pages below the same head.
    const isCurrent = held?.version === dataVersion() && equalBytes(held!.headHash, headHash)
    const isBetween = held && Math.min(number, from) <= held.number && held.number <= Math.max(number, from)
    return isBetween && isCurrent
      ? held!
      : { trie: createStateRoot(history.at(from, newestStored), PAGE_BYTES), number: from }
  }

  return {
    after: (block, deadline) => {
      const head = chain.blockByNumber(chain.head()!)!
      try {
        return restore(block, head, deadline)
      } catch (error) {
        if (!(error instanceof DeadlineExceeded)) throw error
        throw new PastTrieTooFar(block.header.number, head.header.number, deadline.limitMs)
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
