import { hashHeader } from '../../../src/chain/eth/header.js'
import { type BenchBlock, makeBlocks } from './logBlocks.js'
import { createLogChain } from './logChain.js'

/** A chain with enough logs that its index has segments of all levels, when chunks are of 2^CHUNK_BITS. */
export const CHUNK_BITS = 6

/** Blocks from block 0 on, about 250 logs each; from `forkedAt` on those of another seed with hashes of their own. The
 *  same for the same numbers, in whatever process. */
export function* indexedBlocks({ seed, forkedAt }: { seed: number; forkedAt?: number }): Generator<BenchBlock> {
  const trunk = makeBlocks(createLogChain(seed), seed)
  const branch = forkedAt === undefined ? undefined : makeBlocks(createLogChain(seed + 1), seed + 1)
  let parentHash: Uint8Array = new Uint8Array(32)
  for (let number = 0; ; number++) {
    const own = trunk.next().value as BenchBlock
    const other = branch?.next().value as BenchBlock | undefined
    const forked = other !== undefined && number >= forkedAt!
    const made = forked ? other : own
    const extraData = Uint8Array.of(forked ? 1 : 0)
    const header = { ...made.block.header, parentHash, extraData }
    parentHash = hashHeader(header)
    yield { ...made, block: { ...made.block, header, hash: parentHash } }
  }
}
