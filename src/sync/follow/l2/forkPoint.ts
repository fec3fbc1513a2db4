import type { L2BlockRef, L2Upstreams } from '../../../sources/starknet/types.js'
import type { L2Reader } from '../../../store/l2/l2Reader.js'
import { NoCommonL2Block } from './errors.js'

/** Returns the newest stored block at or below `top` that is on the upstream's chain; undefined when the upstream lacks
 *  a needed block. Asks for O(log depth) blocks. @throws NoCommonL2Block when even the first stored block differs */
export async function findL2ForkPoint(
  reader: L2Reader,
  upstreams: L2Upstreams,
  top: number,
  signal: AbortSignal,
): Promise<L2BlockRef | undefined> {
  const isCommon = async ({ number, hash }: L2BlockRef): Promise<boolean | undefined> => {
    const found = await upstreams.hashAt(number, signal)
    return found === undefined ? undefined : found === hash
  }
  const highest = reader.atOrBelow(top)
  if (highest === undefined) return undefined // the upstream is still below the first stored block
  const isTopCommon = await isCommon(highest)
  if (isTopCommon !== false) return isTopCommon ? highest : undefined
  const first = reader.first()!
  // Most forks are one or two blocks deep: steps back of 1, 2, 4, …, then halves. Stored blocks may have gaps between
  // them.
  let different = highest
  let common: L2BlockRef = highest
  for (let step = 1; common === highest; step *= 2) {
    if (different.number === first.number) throw new NoCommonL2Block(first.number)
    const held = reader.atOrBelow(different.number - step) ?? first
    const same = await isCommon(held)
    if (same === undefined) return undefined
    if (same) common = held
    else different = held
  }
  for (;;) {
    const middle: L2BlockRef = reader.atOrBelow(Math.floor((common.number + different.number) / 2))!
    const held: L2BlockRef = middle.number > common.number ? middle : reader.atOrBelow(different.number - 1)!
    if (held.number === common.number) return common
    const same = await isCommon(held)
    if (same === undefined) return undefined
    if (same) common = held
    else different = held
  }
}
