import type { Deadline } from '../../lib/deadline.js'
import type { Database } from '../../store/database.js'
import { createIdLookup } from '../../store/dictionary.js'
import {
  chunksOf,
  createSegmentStore,
  type Segment,
  type SegmentStore,
  sealedChunks,
} from '../../store/index/segmentStore.js'
import { createAppearanceReader, transactionsWith } from '../../store/rows/appearances.js'
import { type IndexSettings, readIndexSettings } from '../segments/indexSettings.js'
import { createKeyHasher } from '../segments/keyHash.js'
import { createKeyLookup } from '../segments/keyLookup.js'
import type { HashedKey } from '../segments/keyPairs.js'
import { appendPositions, CHUNK_BITS, CHUNK_SIZE, type ChunkPostings, decodeBigPostings } from '../segments/postings.js'
import { ADDRESS_INDEX, ADDRESS_POSITION } from './appearanceIndex.js'
import { AddressIndexMissing } from './errors.js'

/** A block with transactions in which an address appears. */
interface BlockAppearances {
  readonly blockNumber: number
  /** Indexes of the transactions in the block, ascending. */
  readonly indexes: readonly number[]
}

/** Where to search. */
export interface AppearanceRange {
  /** Both inclusive; may be outside of the chain. */
  readonly fromBlock: number
  readonly toBlock: number
  readonly newestFirst: boolean
  readonly deadline: Deadline
}

/** Finds the transactions in which an address appears, over one connection. */
export interface AppearanceFinder {
  /** True if the index reaches the head. */
  isComplete(): boolean
  /** Passes the blocks of the range with such transactions to `visit`, in order, until that returns false. One
   *  snapshot.
   *  @throws AddressIndexMissing, DeadlineExceeded */
  search(address: Uint8Array, range: AppearanceRange, visit: (block: BlockAppearances) => boolean): void
}

// Rows between two clock checks.
const CHECK_EVERY = 64

/** Creates a finder with statements prepared once per connection. */
export function createAppearanceFinder(db: Database): AppearanceFinder {
  const store = createSegmentStore(db, ADDRESS_INDEX.tables)
  const rows = createAppearanceReader(db)
  const idOf = createIdLookup(db, 'addresses')
  let settings: IndexSettings | undefined

  const isComplete = () => rows.lastBlock() === rows.head()
  /** Blocks of the tail, which have no segment. */
  function* tailBlocks(id: number, sealed: number, { fromBlock, toBlock, newestFirst, deadline }: AppearanceRange) {
    const first = rows.blockOf(sealed)
    if (first === undefined) return
    let count = 0
    for (const { number, data } of rows.blocks(Math.max(fromBlock, first.number), toBlock, newestFirst)) {
      if (++count % CHECK_EVERY === 0) deadline.check()
      const indexes = transactionsWith(data, id)
      if (indexes.length > 0) yield { blockNumber: number, indexes }
    }
  }
  /** Blocks of transactions that have the key, whole blocks. */
  function* blocksOf(id: number, ids: Iterable<number>, deadline: Deadline): Generator<BlockAppearances> {
    let [first, end] = [0, 0]
    for (const txId of ids) {
      if (txId >= first && txId < end) continue
      deadline.check()
      const block = rows.blockOf(txId)!
      first = block.firstTx
      end = first + block.txCount
      // Other ids may collide in the bits that the index has.
      const indexes = transactionsWith(rows.block(block.number)!, id)
      if (indexes.length > 0) yield { blockNumber: block.number, indexes }
    }
  }
  function* blocks(id: number, range: AppearanceRange): Generator<BlockAppearances> {
    settings ??= readIndexSettings(db)
    const chunkSize = 2 ** (settings?.chunkBits ?? 0)
    const live = settings ? store.segments('live') : []
    const covered = sealedChunks(live)
    const segments = live.filter(({ firstChunk }) => firstChunk < covered)
    if (range.newestFirst) {
      yield* tailBlocks(id, covered * chunkSize, range)
      segments.reverse()
    }
    if (settings) {
      const hasher = createKeyHasher(settings.secret)
      hasher.hashId(ADDRESS_POSITION, id)
      const key = { high: hasher.high, low: hasher.low }
      const [from, to] = rows.transactionsOf(range.fromBlock, range.toBlock)
      for (const segment of segments) {
        const first = segment.firstChunk * chunkSize
        if (first >= to || first + chunksOf(segment.level) * chunkSize <= from) continue
        range.deadline.check()
        const ids = transactionsIn(store, segment, key, { from, to, chunkSize, newestFirst: range.newestFirst })
        yield* blocksOf(id, ids, range.deadline)
      }
    }
    if (!range.newestFirst) yield* tailBlocks(id, covered * chunkSize, range)
  }
  return {
    isComplete,
    search: db.transaction(
      (address: Uint8Array, range: AppearanceRange, visit: (block: BlockAppearances) => boolean) => {
        if (!isComplete()) throw new AddressIndexMissing(rows.lastBlock(), rows.head())
        const id = idOf(address)
        if (id === undefined) return
        let last = -1
        for (const block of blocks(id, range)) {
          // A block that begins in one segment and ends in another, or in the tail, occurs twice.
          if (block.blockNumber === last) continue
          last = block.blockNumber
          if (!visit(block)) return
        }
      },
    ),
  }
}

interface IdRange {
  /** Ids [from, to). */
  readonly from: number
  readonly to: number
  readonly chunkSize: number
  readonly newestFirst: boolean
}

/** Ids of the range that a segment has for a key, in order. */
function* transactionsIn(
  store: SegmentStore,
  segment: Segment,
  key: HashedKey,
  { from, to, chunkSize, newestFirst }: IdRange,
): Generator<number> {
  const entry = createKeyLookup(store, segment)(key)
  if (!entry) return
  const postings: ChunkPostings[] =
    'big' in entry
      ? decodeBigPostings(store.bigPostings(segment.id, entry.big.ordinal))
      : [{ chunk: 0, kind: 0, payload: entry.postings }]
  for (const chunk of newestFirst ? postings.reverse() : postings) {
    const first = (segment.firstChunk + chunk.chunk) * chunkSize
    if ('big' in entry && (first >= to || first + chunkSize <= from)) continue
    const positions: number[] = []
    appendPositions(chunk, positions)
    const ids = positions
      .map((position) => (segment.firstChunk + (position >>> CHUNK_BITS)) * chunkSize + (position & (CHUNK_SIZE - 1)))
      .filter((id) => id >= from && id < to)
    yield* newestFirst ? ids.reverse() : ids
  }
}
