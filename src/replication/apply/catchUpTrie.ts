import { messageOf } from '../../lib/errors.js'
import type { Logger } from '../../lib/logger.js'
import type { LazyTrie } from '../../sync/head/lazyTrie.js'
import type { HashedTrie } from '../../sync/head/trieHasher.js'

/** A trie hasher in another thread. It handles calls in order. */
export interface RemoteTrieHasher {
  /** Starts from the stored trie, as committed, which is that of a block. Drops the results of earlier calls. */
  begin(blockNumber: number): void
  /** Adds the changes of the next block; as in `DecodedBlock`. */
  note(blockNumber: number, encodedState: Uint8Array): void
  /** Number of blocks passed to `note` and not processed yet. */
  readonly waiting: number
  /** Number of accounts and slots that were noted. */
  readonly size: number
  /** Resolves when a queued block was noted, or the thread failed. */
  progress(): Promise<void>
  /** Hashes the noted changes. Rejects when a block could not be noted, or the thread ended; `begin` must follow.
   *  Never resolves or rejects after `begin`. */
  hash(): Promise<HashedTrie>
  /** Reports that the result of `hash` is committed. */
  stored(): void
}

/** The state trie of a replica that is behind. Another thread collects the changes of the blocks as they are
 *  applied, and hashes those of many blocks at once while more are applied. */
export interface CatchUpTrie {
  /** True while the blocks after that of the trie, up to the last one noted, go to the thread. */
  readonly isActive: boolean
  /** Number of the last block noted; that of the trie when not active. */
  readonly noted: number
  /** Starts at the block of the trie, which must be committed. */
  begin(): void
  note(blockNumber: number, encodedState: Uint8Array): void
  /** Call between two blocks: waits while too many are queued, and starts hashing when enough was noted. */
  keepPace(): Promise<void>
  /** Hashes what is left, at the end of catching up. */
  finish(): void
  /** Returns a hashed trie, once: for `LazyTrie.adopt` and a commit, then `stored`. */
  take(): HashedTrie | undefined
  stored(): void
  /** Resolves when `take` may have a result, or the catch-up trie is no longer active. */
  caughtUp(): Promise<void>
  /** Drops what was noted: blocks were removed, or the transaction was rolled back. */
  clear(): void
}

// Number of accounts and slots together, about 130 MB, at which hashing starts. The remaining space fits the last
// block.
const FULL_NOTES = 800_000
// Max blocks that wait to be noted, about 40 MB.
const MAX_WAITING = 512

/** Creates the trie over `hasher`. When the thread fails, the catch-up trie is no longer active, and the trie follows
 *  the rows.
 *  @param interval max blocks that are hashed at once */
export function createCatchUpTrie(
  trie: LazyTrie,
  hasher: RemoteTrieHasher,
  { interval, log }: { interval: number; log: Logger },
): CatchUpTrie {
  let isActive = false
  let noted = -1
  /** The last block that was hashed, or is being hashed. */
  let hashedTo = -1
  let hashing: Promise<void> | undefined
  let result: HashedTrie | undefined
  let generation = 0

  const clear = () => {
    generation++
    isActive = false
    hashing = undefined
    result = undefined
  }
  const hash = () => {
    const own = generation
    hashedTo = noted
    hashing = hasher
      .hash()
      .then((hashed) => {
        if (own === generation) result = hashed
      })
      .catch((error: unknown) => {
        if (own !== generation) return
        log.warn(
          { problem: messageOf(error) },
          'the thread that hashes the state trie failed; the trie follows the rows',
        )
        clear()
      })
  }
  return {
    get isActive() {
      return isActive
    },
    get noted() {
      return isActive ? noted : trie.block.number
    },
    begin: () => {
      clear()
      isActive = true
      noted = trie.block.number
      hashedTo = noted
      hasher.begin(noted)
    },
    note: (blockNumber, encodedState) => {
      hasher.note(blockNumber, encodedState)
      noted = blockNumber
    },
    keepPace: async () => {
      while (isActive && hasher.waiting > MAX_WAITING && result === undefined) {
        await Promise.race(hashing ? [hasher.progress(), hashing] : [hasher.progress()])
      }
      if (!isActive || hashing || noted === hashedTo) return
      if (hasher.size >= FULL_NOTES || noted - hashedTo >= interval) hash()
    },
    finish: () => {
      if (!isActive || hashing) return
      if (noted === trie.block.number) clear()
      else if (noted > hashedTo) hash()
    },
    take: () => {
      const taken = result
      result = undefined
      return taken
    },
    stored: () => {
      hashing = undefined
      hasher.stored()
    },
    caughtUp: async () => {
      await hashing
    },
    clear,
  }
}
