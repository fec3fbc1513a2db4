import { randomInt } from 'node:crypto'
import { equalBytes } from '../lib/bytes.js'
import { type IndexSettings, readIndexSettings } from '../segments/indexSettings.js'
import { createKeyHasher, type KeySecret } from '../segments/keyHash.js'
import { createKeyLookup } from '../segments/keyLookup.js'
import { CHUNK_BITS, CHUNK_SIZE, decodeGaps } from '../segments/postings.js'
import { createTransactionHashes, type TransactionLocation } from '../store/chain/transactionHashes.js'
import { createDataVersion } from '../store/commitWatch.js'
import type { Database } from '../store/database.js'
import { createSegmentStore, type Segment, sealedChunks } from '../store/segments/segmentStore.js'
import { createHashTail } from './hashTail.js'
import { HASH_POSITION, TRANSACTION_INDEX } from './transactionIndex.js'

/** Finds transactions by their hashes, over one connection. */
export interface TransactionFinder {
  /** Undefined when no transaction of that hash, 32 bytes, is held. */
  locate(hash: Uint8Array): TransactionLocation | undefined
  /** Takes transactions that the index does not have yet into memory, for about `budgetMs`; false when there is more to
   *  take. `locate` does so too, without a bound: about 1 µs for each transaction that came since the last time. */
  refresh(budgetMs: number): boolean
}

/** A finder through statements prepared once for the connection. */
export function createTransactionFinder(db: Database): TransactionFinder {
  const store = createSegmentStore(db, TRANSACTION_INDEX.tables)
  const rows = createTransactionHashes(db)
  // Changes with every commit of another connection. One that may write does not see its own commits in it.
  const dataVersion = db.readonly ? createDataVersion(db) : undefined
  let memory = createMemory(db, undefined)
  let known: { version: number | undefined; segments: Segment[] } | undefined
  /** Live segments, the oldest first, with all that is behind them in the tail; undefined when time ended first. */
  const refresh = (budgetMs: number): Segment[] | undefined => {
    const version = dataVersion?.()
    if (known && version !== undefined && version === known.version) return known.segments
    known = undefined
    const settings = memory.settings ? undefined : readIndexSettings(db)
    if (settings) memory = createMemory(db, settings)
    const live = store.segments('live')
    const sealed = sealedChunks(live)
    if (!memory.tail.refresh(sealed * memory.chunkSize, rows.count(), budgetMs)) return undefined
    known = { version, segments: live.filter(({ firstChunk }) => firstChunk < sealed) }
    return known.segments
  }
  const rowOf = (id: number, hash: Uint8Array): TransactionLocation | undefined => {
    const row = rows.locate(id)
    // Other hashes may share the bits that the index looks at.
    return row && equalBytes(row.hash, hash) ? { blockNumber: row.blockNumber, index: row.index } : undefined
  }
  const idsIn = (segment: Segment, high: number, low: number, chunkSize: number): number[] => {
    const entry = createKeyLookup(store, segment)({ high, low })
    if (!entry || 'big' in entry) return []
    const positions: number[] = []
    decodeGaps(entry.postings, 0, entry.postings.length, 0, positions)
    return positions.map(
      (position) => (segment.firstChunk + Math.floor(position / CHUNK_SIZE)) * chunkSize + (position % CHUNK_SIZE),
    )
  }
  const locate = (hash: Uint8Array): TransactionLocation | undefined => {
    const segments = refresh(Number.POSITIVE_INFINITY)!
    const { hasher, tail, chunkSize } = memory
    hasher.hashBytes(HASH_POSITION, hash)
    const { high, low } = hasher
    for (const id of tail.find(high)) {
      const found = rowOf(id, hash)
      if (found) return found
    }
    // The newest first: they are asked for most.
    for (let i = segments.length - 1; i >= 0; i--) {
      for (const id of idsIn(segments[i], high, low, chunkSize).reverse()) {
        const found = rowOf(id, hash)
        if (found) return found
      }
    }
    return undefined
  }
  // Segments, tail and rows are looked at in one snapshot: a merge would take them away in between.
  const locateInSnapshot = db.transaction(locate)
  const refreshInSnapshot = db.transaction((budgetMs: number) => refresh(budgetMs) !== undefined)
  return { locate: (hash) => locateInSnapshot(hash), refresh: (budgetMs) => refreshInSnapshot(budgetMs) }
}

/** `settings` undefined: no index was begun, and all transactions are in the tail. */
function createMemory(db: Database, settings: IndexSettings | undefined) {
  const secret: KeySecret = settings?.secret ?? [randomInt(2 ** 32), randomInt(2 ** 32)]
  const hasher = createKeyHasher(secret)
  const tail = createHashTail(db, (hash) => {
    hasher.hashBytes(HASH_POSITION, hash)
    return hasher.high
  })
  return { settings, hasher, tail, chunkSize: 2 ** (settings?.chunkBits ?? CHUNK_BITS) }
}
