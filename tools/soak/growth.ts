import type { Database } from '../../src/store/database.js'
import { createStateReads } from '../../src/store/state/stateReader.js'
import type { SeededRandom } from '../../test/support/random.js'
import type { ChainBuilder, Sender } from '../fixture/chainBuilder.js'
import type { SoakBlock, SoakChain } from './chain.js'

// How far finality is behind.
const FINALIZED_BEHIND = 72
const INDEX_SLICE_MS = 3

/** How a chain grows. */
export interface GrowthOptions {
  readonly builder: ChainBuilder
  readonly senders: readonly Sender[]
  readonly random: SeededRandom
  /** The deepest reorg. Shallow ones are the most frequent. */
  readonly maxDepth: number
  /** Those in the database. */
  readonly blocks: SoakBlock[]
  /** Adds a block to the database. */
  addBlock(): Promise<SoakBlock>
}

/** The growth of the chain in the database that the builder writes to. */
export function createGrowth(
  db: Database,
  { builder, senders, random, maxDepth, blocks, addBlock }: GrowthOptions,
): Pick<SoakChain, 'blocks' | 'grow' | 'reorganize' | 'close'> {
  const { head } = builder.chain
  const state = createStateReads(db)
  head.finalize({ safe: 0, finalized: 0 })
  const add = async () => {
    blocks.push(await addBlock())
    builder.blocks.length = 0 // no longer needed
  }
  const settle = () => {
    const number = blocks.length - 1
    head.finalize({ safe: Math.max(0, number - 32), finalized: Math.max(0, number - FINALIZED_BEHIND) })
    head.workOnIndexes(INDEX_SLICE_MS)
  }
  return {
    blocks,
    grow: async () => {
      await add()
      settle()
    },
    reorganize: async () => {
      const number = blocks.length - 1
      const deepest = Math.min(maxDepth, number - head.finality().finalized)
      const depth = Math.ceil((random.below(1000) / 1000) ** 3 * deepest)
      builder.rewind(number - depth)
      blocks.length -= depth
      for (const sender of senders) sender.nonce = state.nonce(sender.address, number - depth)
      for (let left = depth + 1 + random.below(3); left > 0; left--) await add()
      settle()
      return depth
    },
    close: () => db.close(),
  }
}
