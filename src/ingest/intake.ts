import { equalBytes } from '../lib/bytes.js'
import { type AcceptedBlock, acceptBlock } from './acceptBlock.js'
import type { WritableChain } from './chainState.js'
import type { RawBlock } from './source.js'

// Accounts and slots: what is not hashed lies in memory.
const MAX_UNHASHED = 50_000

/** Blocks on their way into the chain: verified, executed, appended to the head. The caller commits. */
export interface Intake {
  /** Takes a block. The state root of at least every `interval`-th block is compared. Begins a transaction.
   *  @throws InvalidBlock for the first block that is refused, which is this one or one before it whose root was not
   *    compared. Blocks before it are in the transaction. */
  take(raw: RawBlock, interval: number): Promise<void>
  /** Compares the state root of the newest block: to be called before a commit. @throws InvalidBlock, as `take` does. */
  settle(): Promise<void>
}

/** An intake on top of the head that there is. */
export function createIntake(chain: WritableChain): Intake {
  const { executor, head } = chain
  /** Blocks since the last state root that was compared. */
  let unchecked: RawBlock[] = []

  const store = async (raw: RawBlock, checksRoot: boolean) => {
    let accepted: AcceptedBlock
    try {
      accepted = await acceptBlock(chain, raw, head.newest, checksRoot)
    } catch (error) {
      executor?.discard()
      throw error
    }
    if (!accepted.isRootChecked && unchecked.length === 0) head.mark()
    head.append(raw.block, accepted)
    chain.ancestors.add(raw.block, accepted.uncleHashes)
    if (accepted.isRootChecked) unchecked = []
    else unchecked.push(raw)
  }
  /** Takes the blocks since the last root that was right once more, each with its own: one of them is refused. */
  const findRefused = async (raws: RawBlock[]): Promise<never> => {
    executor?.discard()
    head.rollbackToMark()
    unchecked = []
    for (const raw of raws) await store(raw, true)
    const [first, last] = [raws[0], raws[raws.length - 1]].map(({ block }) => block.header.number)
    throw new Error(`blocks ${first} to ${last} were refused together, but none of them by itself`)
  }
  return {
    take: async (raw, interval) => {
      const isDue = unchecked.length + 1 >= interval || (executor?.unhashed ?? 0) > MAX_UNHASHED
      try {
        await store(raw, isDue)
      } catch (error) {
        // Whatever is wrong with it, one before it may be wrong, too.
        if (unchecked.length > 0 && head.inTransaction) await findRefused([...unchecked, raw])
        unchecked = []
        throw error
      }
    },
    settle: async () => {
      if (unchecked.length === 0) return
      if (!equalBytes(executor!.stateRoot(), head.newest!.header.stateRoot)) await findRefused(unchecked)
      executor!.settle()
      unchecked = []
    },
  }
}
