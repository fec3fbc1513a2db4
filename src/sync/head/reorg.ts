import type { RawBlock } from '../../sources/source.js'
import { createBlockAppender } from '../blockAppender.js'
import type { WritableChain } from '../chainState.js'
import { chooseRootInterval } from '../rootInterval.js'
import type { Head } from './chainHead.js'

// A branch of at most as many blocks is stored as blocks at the tip are. Hashing the changes of a longer one together
// takes less.
const TIP_BLOCKS = 32

/** Replaces the blocks above `ancestor` by a branch, in one transaction: readers see the old branch or all of the new
 *  one. Verifies and executes blocks as an import does. The database is locked for other writers meanwhile, also while
 *  the next block is fetched.
 *  @param length number of its blocks, where it is known
 *  @param accepts decides on the new head before the commit
 *  @returns what `accepts` returned; false: the old branch stays
 *  @throws InvalidBlock when a block of the branch is refused, RewindOutOfRange, ReorgBelowFinalized, what the
 *  iteration throws: the old branch stays */
export async function replaceBranch(
  chain: WritableChain,
  ancestor: number,
  branch: Iterable<RawBlock> | AsyncIterable<RawBlock>,
  {
    length = Number.POSITIVE_INFINITY,
    accepts = () => true,
  }: { length?: number; accepts?: (head: Head) => boolean } = {},
): Promise<boolean> {
  const { head, executor } = chain
  try {
    head.rewind(ancestor)
    const appender = createBlockAppender(chain, { tipFrom: length <= TIP_BLOCKS ? ancestor + 1 : undefined })
    const rootInterval = chooseRootInterval(0, executor?.accounts ?? 0, length)
    for await (const raw of branch) await appender.take(raw, rootInterval)
    await appender.flush()
    const isAccepted = accepts(head.newest!)
    if (isAccepted) head.commit()
    else head.rollback()
    return isAccepted
  } catch (error) {
    head.rollback()
    throw error
  }
}
