import { createByteLru } from '../lib/byteLru.js'
import { equalBytes, keyOfBytes } from '../lib/bytes.js'
import { createDataVersion } from '../store/commitWatch.js'
import type { Database } from '../store/database.js'
import { createMetaTable, META_FINALITY } from '../store/meta.js'
import { createStoredBlocks } from '../store/replication/blockReader.js'
import { createChainReader } from '../store/rows/chainReader.js'
import { createRemovedBlocks } from '../store/rows/removedBlocks.js'
import type { Finality } from '../store/rows/types.js'
import type { BlockRef } from '../sync/head/events.js'
import { encodeReplicatedBlock } from './codec/message.js'
import type { EncodedBlock, ReplicationUnit } from './codec/types.js'
import { NoCommonBlockInStream } from './errors.js'

/** The changes of a stored chain, for replicas at different blocks. */
export interface ReplicatedChain {
  /** Changes with every commit of another connection. */
  version(): number
  chainId(): bigint
  /** Number of the newest block; undefined for an empty chain. */
  head(): number | undefined
  /** Hash of a stored block, 32 bytes. */
  hash(number: number): Uint8Array | undefined
  /** Returns the next changes, from one commit, for a replica with these blocks, newest first; the first is its head.
   *  Empty when there is no change to report. The last change set may end below the head of the chain.
   *  @throws NoCommonBlock */
  next(locator: readonly BlockRef[], sentFinality: Finality | undefined): ReplicationUnit[]
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

  const encode = (number: number): EncodedBlock => {
    const key = keyOfBytes(reader.blockHash(number)!)
    const known = encoded.get(key)
    if (known !== undefined) return known
    const block = encodeReplicatedBlock(stored.read(number)!)
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
  const blocksAfter = (number: number, head: number, finality: Finality | undefined): ReplicationUnit[] => {
    const units: ReplicationUnit[] = []
    for (let next = number + 1, bytes = 0; next <= head && bytes < SNAPSHOT_BYTES; next++) {
      const block = encode(next)
      bytes += block.payload.length
      units.push({ kind: 'blocks', blocks: [block], finality })
    }
    return units
  }
  const reorg = (locator: readonly BlockRef[], head: number, finality: Finality | undefined): ReplicationUnit[] => {
    let ancestor = findAncestor(locator[0])
    if (ancestor === undefined) {
      // A server behind the replica cannot know which branch is right.
      if (head < locator[0].number) return []
      ancestor = locator.find(isCanonical)
    }
    if (ancestor === undefined) throw new NoCommonBlockInStream()
    const { number, hash } = ancestor
    const count = Math.min(head - number, MAX_BRANCH)
    const blocks = Array.from({ length: count }, (_, i) => encode(number + 1 + i))
    return [{ kind: 'blocks', ancestor: { number, hash }, blocks, finality }]
  }
  const next = db.transaction((locator: readonly BlockRef[], sentFinality: Finality | undefined): ReplicationUnit[] => {
    const head = reader.head()
    if (head === undefined) return []
    const finality = meta.get<Finality>(META_FINALITY)
    const [top] = locator
    if (!isCanonical(top)) return reorg(locator, head, finality)
    if (head > top.number) return blocksAfter(top.number, head, finality)
    const isSent =
      finality === undefined || (finality.safe === sentFinality?.safe && finality.finalized === sentFinality.finalized)
    return isSent ? [] : [{ kind: 'finality', finality }]
  })
  return { version: createDataVersion(db), chainId: reader.chainId, head: reader.head, hash: reader.blockHash, next }
}
