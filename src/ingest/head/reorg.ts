import type { WritableChain } from '../chainState.js'
import { createIntake } from '../intake.js'
import { chooseRootInterval } from '../rootInterval.js'
import type { RawBlock } from '../source.js'

/** Replaces the blocks above `ancestor` by a branch, in one transaction: readers see the old branch or all of the new one.
 *  Blocks are verified and executed as an import does; the branch is given whole, since the database is locked for other
 *  writers meanwhile.
 *  @throws InvalidBlock when a block of the branch is refused, RewindOutOfRange, ReorgBelowFinalized: the old branch
 *    stays. */
export async function replaceBranch(
  chain: WritableChain,
  ancestor: number,
  branch: readonly RawBlock[],
): Promise<void> {
  const { head, executor } = chain
  try {
    head.rewind(ancestor)
    const intake = createIntake(chain)
    for (const [i, raw] of branch.entries()) {
      await intake.take(raw, chooseRootInterval(0, executor?.accounts ?? 0, branch.length - i))
    }
    await intake.settle()
    head.commit()
  } catch (error) {
    head.rollback()
    throw error
  }
}
