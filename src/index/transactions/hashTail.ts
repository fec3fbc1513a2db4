import type { Database } from '../../store/database.js'
import { createTransactionHashes } from '../../store/rows/transactionHashes.js'

/** Transactions behind the last segment, in memory: ids by 32 bits of their hashes. At most 131,071 once the index is
 *  up to date: 1.5 MB. It may still have ids before its start. */
interface HashTail {
  /** Reads new rows for about `budgetMs` until it has [start, end). False if time ran out. Call it inside the snapshot
   *  in which `find` and the rows are read. */
  refresh(start: number, end: number, budgetMs: number): boolean
  /** Ids of transactions whose hashes may have these 32 bits, newest first. */
  find(prefix: number): number[]
}

// Rows read between two clock checks: about 1 ms.
const SLICE = 1_024
const FIRST_CAPACITY = 4_096
// Ids before the tail are dropped in batches of this size: two chunks.
const SLACK = 2 ** 17
// Earlier states to return to after a reorg: one per block at the head of the chain.
const CHECKPOINTS = 64

/** Creates the tail of one connection. `prefixOf` returns 32 bits of a hash, which untrusted clients must not be able
 *  to predict. */
export function createHashTail(db: Database, prefixOf: (hash: Uint8Array) => number): HashTail {
  const rows = createTransactionHashes(db)
  let from = 0
  /** Prefixes by id - from. */
  let prefixes = new Uint32Array(FIRST_CAPACITY)
  let count = 0
  /** Open addressing: index in `prefixes` + 1, or 0. Entries may be stale: the prefix there is then another one, or
   *  none. */
  let slots = new Uint32Array(FIRST_CAPACITY * 2)
  let used = 0
  let checkpoints: { end: number; blockHash: Buffer }[] = []

  const insert = (place: number) => {
    const mask = slots.length - 1
    let at = prefixes[place] & mask
    while (slots[at] !== 0) at = (at + 1) & mask
    slots[at] = place + 1
    used++
  }
  /** Drops ids before `start` and stale entries; grows if needed. */
  const rebuild = (start: number) => {
    const kept = prefixes.subarray(Math.min(start - from, count), count)
    let capacity = FIRST_CAPACITY
    while (capacity < kept.length * 2) capacity *= 2
    const moved = new Uint32Array(capacity)
    moved.set(kept)
    prefixes = moved
    count = kept.length
    from = start
    slots = new Uint32Array(capacity * 2)
    used = 0
    for (let place = 0; place < count; place++) insert(place)
  }
  const append = (hash: Uint8Array, start: number) => {
    if (count === prefixes.length || used * 2 >= slots.length) rebuild(start)
    prefixes[count] = prefixOf(hash)
    insert(count)
    count++
  }
  /** Returns to the last read block that is still canonical. */
  const dropReplaced = () => {
    for (let last = checkpoints.at(-1); last; last = checkpoints.at(-1)) {
      // After a reorg these ids belong to other transactions.
      if (rows.blockHash(last.end - 1)?.equals(last.blockHash)) break
      checkpoints.pop()
    }
    count = Math.max(0, (checkpoints.at(-1)?.end ?? from) - from)
  }
  return {
    refresh: (start, end, budgetMs) => {
      dropReplaced()
      if (start < from || start > from + count) {
        checkpoints = []
        count = 0
        rebuild(start)
      } else if (start - from > SLACK) rebuild(start)
      const deadline = performance.now() + budgetMs
      while (from + count < end) {
        const hashes = rows.list(from + count, Math.min(from + count + SLICE, end))
        if (hashes.length === 0) return true // a gap in the ids: the database is damaged
        for (const hash of hashes) append(hash, start)
        const blockHash = rows.blockHash(from + count - 1)!
        if (checkpoints.push({ end: from + count, blockHash }) > CHECKPOINTS) checkpoints.shift()
        if (performance.now() > deadline) return from + count >= end
      }
      return true
    },
    find: (prefix) => {
      const ids: number[] = []
      const mask = slots.length - 1
      for (let at = prefix & mask; slots[at] !== 0; at = (at + 1) & mask) {
        const place = slots[at] - 1
        if (place < count && prefixes[place] === prefix && !ids.includes(from + place)) ids.push(from + place)
      }
      return ids.sort((a, b) => b - a)
    },
  }
}
