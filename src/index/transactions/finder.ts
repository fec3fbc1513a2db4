import { randomInt } from 'node:crypto'
import { equalBytes } from '../../lib/bytes.js'
import { createDataVersion } from '../../store/commitWatch.js'
import type { Database } from '../../store/database.js'
import { createSegmentStore, type Segment, sealedChunks } from '../../store/index/segmentStore.js'
import { createTransactionHashes, type TransactionLocation } from '../../store/rows/transactionHashes.js'
import { type IndexSettings, readIndexSettings } from '../segments/indexSettings.js'
import { createKeyHasher, type KeySecret } from '../segments/keyHash.js'
import { createKeyLookup } from '../segments/keyLookup.js'
import { CHUNK_BITS, CHUNK_SIZE, decodeGaps } from '../segments/postings.js'
import { createHashTail } from './hashTail.js'
import { HASH_POSITION, TRANSACTION_INDEX } from './transactionIndex.js'

/** Finds transactions by hash, over one connection. */
export interface TransactionFinder {
  /** Undefined if no transaction with that 32-byte hash is stored. */
  locate(hash: Uint8Array): TransactionLocation | undefined
  /** Loads transactions behind the index into memory, for about `budgetMs`. False if more are left. `locate` also does
   *  this, without a limit: about 1 µs per new transaction. */
  refresh(budgetMs: number): boolean
}

/** Creates a finder with statements prepared once per connection. */
export function createTransactionFinder(db: Database): TransactionFinder {
  const store = createSegmentStore(db, TRANSACTION_INDEX.tables)
  const rows = createTransactionHashes(db)
  // Changes with every commit of another connection; a writer does not see its own commits in it.
  const dataVersion = db.readonly ? createDataVersion(db) : undefined
  let memory = createMemory(db, undefined)
  let known: { version: number | undefined; segments: Segment[] } | undefined
  /** Live segments, oldest first, with everything behind them in the tail; undefined if time ran out. */
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
    // Other hashes may collide in the bits that the index has.
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
    // Newest first: they are requested most.
    for (let i = segments.length - 1; i >= 0; i--) {
      for (const id of idsIn(segments[i], high, low, chunkSize).reverse()) {
        const found = rowOf(id, hash)
        if (found) return found
      }
    }
    return undefined
  }
  // Segments, tail and rows are read in one snapshot, because a merge could remove segments in between.
  const locateInSnapshot = db.transaction(locate)
  const refreshInSnapshot = db.transaction((budgetMs: number) => refresh(budgetMs) !== undefined)
  return { locate: (hash) => locateInSnapshot(hash), refresh: (budgetMs) => refreshInSnapshot(budgetMs) }
}

/** `settings` undefined: there is no index, and all transactions are in the tail. */
function createMemory(db: Database, settings: IndexSettings | undefined) {
  const secret: KeySecret = settings?.secret ?? [randomInt(2 ** 32), randomInt(2 ** 32)]
  const hasher = createKeyHasher(secret)
  const tail = createHashTail(db, (hash) => {
    hasher.hashBytes(HASH_POSITION, hash)
    return hasher.high
  })
  return { settings, hasher, tail, chunkSize: 2 ** (settings?.chunkBits ?? CHUNK_BITS) }
}
