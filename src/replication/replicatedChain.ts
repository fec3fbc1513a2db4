import { createByteLru } from '../lib/byteLru.js'
import { equalBytes, keyOfBytes } from '../lib/bytes.js'
import { createDataVersion } from '../store/commitWatch.js'
import type { Database } from '../store/database.js'
import { createMetaTable, META_FINALITY } from '../store/meta.js'
import { createStoredBlocks } from '../store/replication/blockReader.js'
import type { StateEntry } from '../store/replication/stateLog.js'
import { createChainReader } from '../store/rows/chainReader.js'
import { createRemovedBlocks } from '../store/rows/removedBlocks.js'
import type { Finality } from '../store/rows/types.js'
import type { BlockRef } from '../sync/head/events.js'
import { encodeReplicatedBlock } from './codec/message.js'
import { encodeStateMessage } from './codec/stateMessage.js'
import type { EncodedBlock, ReplicationUnit } from './codec/types.js'
import { NoCommonBlockInStream } from './errors.js'
import { createStateEntries, type StateCursor } from './stateEntries.js'

/** The changes of a stored chain, for replicas at different blocks. */
export interface ReplicatedChain {
  /** Changes with every commit of another connection. */
  version(): number
  chainId(): bigint
  /** Number of the newest block; undefined for an empty chain. */
  head(): number | undefined
  /** Hash of a stored block, 32 bytes. */
  hash(number: number): Uint8Array | undefined
  /** True when the state of the chain is sparse. */
  isSparse(): boolean
  /** With sparse state: the last entry before those that follow a block. */
  stateAt(blockNumber: number): number
  /** With sparse state: the newest entry that the state has, and the first block after which all entries are available.
   *  Undefined without. */
  stateBounds(): { readonly newest: number; readonly last: number; readonly firstBlock: number } | undefined
  /** Returns the next changes, from one commit, for a replica with these blocks, newest first; the first is its head.
   *  Empty when there is no change to report. The last change set may end below the head of the chain.
   *  @throws NoCommonBlock; StateEntriesMissing */
  next(held: HeldChain, sentFinality: Finality | undefined): ReplicationUnit[]
}

/** What a replica has. */
export interface HeldChain {
  /** Blocks, newest first; the first is its head. Empty for a replica without blocks. */
  readonly locator: readonly BlockRef[]
  /** The newest entry of sparse state; undefined for a replica that keeps none. */
  readonly state?: number
}

/** Max new blocks of a reorg in one change set. A longer branch follows block by block, so readers may temporarily
 *  see a lower head than before. */
const MAX_BRANCH = 128
/** Reading blocks from one snapshot stops after the block that exceeds this size. */
const SNAPSHOT_BYTES = 2 ** 20
/** Replicas at the head request the same blocks. */
const CACHE_BYTES = 32 * 2 ** 20

/** Creates a feed over a read-only connection. */
export function createReplicatedChain(db: Database): ReplicatedChain {
  const reader = createChainReader(db)
  const stored = createStoredBlocks(db, reader)
  const meta = createMetaTable(db)
  const removedBlocks = createRemovedBlocks(db)
  const encoded = createByteLru<EncodedBlock>({
    maxBytes: CACHE_BYTES,
    sizeOf: (_, { payload }) => 500 + payload.length,
  })

  const log = createStateEntries(db)
  const encode = (number: number, entries?: readonly StateEntry[]): EncodedBlock => {
    const ids = entries?.map(({ id, kind }) => `${id}${kind[0]}`).join() ?? 'none'
    const key = `${keyOfBytes(reader.blockHash(number)!)} ${ids}`
    const known = encoded.get(key)
    if (known !== undefined) return known
    const withEntries = entries && { entries: entries.map(log.withCodes) }
    const block = encodeReplicatedBlock({ ...stored.read(number)!, ...withEntries })
    encoded.set(key, block)
    return block
  }
  const isCanonical = ({ number, hash }: BlockRef) => {
    const held = reader.blockHash(number)
    return held !== undefined && equalBytes(held, hash)
  }
  /** Returns the last common block with a branch that was removed from this chain; undefined when it is not known
   *  any more. */
  const findAncestor = (head: BlockRef): BlockRef | undefined => {
    const parents = new Map<string, Uint8Array>()
    for (const { hash, parentHash } of removedBlocks.after(0)) parents.set(keyOfBytes(hash), parentHash)
    let at: BlockRef | undefined = head
    while (at !== undefined && !isCanonical(at)) {
      const hash = parents.get(keyOfBytes(at.hash))
      at = hash && { number: at.number - 1, hash }
    }
    return at
  }
  const blocksAfter = (number: number, head: number, state: StateCursor, finality: Finality | undefined) => {
    const units: ReplicationUnit[] = []
    for (let next = number + 1, bytes = 0; next <= head && bytes < SNAPSHOT_BYTES; next++) {
      const { entries, range } = state.take(next)
      const block = encode(next, entries)
      bytes += block.payload.length
      units.push({ kind: 'blocks', blocks: [block], finality, ...range })
    }
    return units
  }
  const reorg = ({ locator }: HeldChain, head: number, state: StateCursor, finality: Finality | undefined) => {
    let ancestor = findAncestor(locator[0])
    if (ancestor === undefined) {
      // A server behind the replica cannot know which branch is right.
      if (head < locator[0].number) return []
      ancestor = locator.find(isCanonical)
    }
    if (ancestor === undefined) throw new NoCommonBlockInStream()
    const { number, hash } = ancestor
    const count = Math.min(head - number, MAX_BRANCH)
    const before = state.position
    state.removeAbove(number)
    const blocks = Array.from({ length: count }, (_, i) => encode(number + 1 + i, state.take(number + 1 + i).entries))
    const range = before === undefined ? {} : { state: { before, after: state.position! } }
    const unit: ReplicationUnit = { kind: 'blocks', ancestor: { number, hash }, blocks, finality, ...range }
    return [unit]
  }
  /** Returns what was added to sparse state since the newest block. */
  const additions = (head: BlockRef, state: StateCursor): ReplicationUnit[] =>
    state.each(head.number + 1).map(({ entry, range }) => {
      const payload = encodeStateMessage(log.withCodes(entry))
      return { kind: 'state', head, payload, state: range }
    })
  const next = db.transaction((held: HeldChain, sentFinality: Finality | undefined): ReplicationUnit[] => {
    const head = reader.head()
    if (head === undefined) return []
    const state = log.cursor(held.state)
    const finality = meta.get<Finality>(META_FINALITY)
    const [top] = held.locator
    if (top === undefined) return blocksAfter(reader.coverage()!.first - 1, head, state, finality)
    if (!isCanonical(top)) return reorg(held, head, state, finality)
    if (head > top.number) return blocksAfter(top.number, head, state, finality)
    const added = additions(top, state)
    if (added.length > 0) return added
    const isSent =
      finality === undefined || (finality.safe === sentFinality?.safe && finality.finalized === sentFinality.finalized)
    return isSent ? [] : [{ kind: 'finality', finality, ...state.range() }]
  })
  return {
    ...{ version: createDataVersion(db), chainId: reader.chainId, head: reader.head, hash: reader.blockHash, next },
    ...{ isSparse: log.isSparse, stateAt: log.positionAt, stateBounds: log.bounds },
  }
}
