import { InvalidBlock } from '../chain/eth/invalidBlock.js'
import { equalBytes } from '../lib/bytes.js'
import { parseHex } from '../lib/hex.js'
import type { RawBlock } from '../sources/source.js'
import type { WritableChain } from './chainState.js'
import { type AcceptedBlock, acceptBlock } from './validate/acceptBlock.js'

// Changed accounts and slots that are not hashed yet stay in memory.
const MAX_UNHASHED = 50_000

/** Verifies, executes and appends blocks to the head. The caller commits. */
export interface BlockAppender {
  /** Appends a block; compares the state root of at least every `interval`-th block. Begins a transaction. @throws
   *  InvalidBlock for the first invalid block: this one, or an earlier one whose root was not compared. Blocks before
   *  it are in the transaction. */
  take(raw: RawBlock, interval: number): Promise<void>
  /** Compares the state root of the newest block. Call before a commit. @throws InvalidBlock as `take` */
  flush(): Promise<void>
}

/** Creates an appender on top of the current head. From block `tipFrom` on, blocks are stored as at the tip, also many
 *  in one transaction: the state root of each is compared, the state rows are written as `ChainHead.append` does at the
 *  tip, and the state trie after each stays readable. Default: none is. */
export function createBlockAppender(
  chain: WritableChain,
  { tipFrom = Number.POSITIVE_INFINITY }: { tipFrom?: number } = {},
): BlockAppender {
  const { executor, head } = chain
  /** Blocks since the last compared state root. */
  let unchecked: RawBlock[] = []
  const isTip = ({ block }: RawBlock) => block.header.number >= tipFrom

  const store = async (raw: RawBlock, checksRoot: boolean) => {
    let accepted: AcceptedBlock
    try {
      accepted = await acceptBlock(chain, raw, head.newest, checksRoot)
    } catch (error) {
      executor?.discard()
      const wrongRoots = unchecked.length === 0 ? chain.wrongRoots : undefined // else an earlier block may be the first
      if (!wrongRoots || !isOfRoot(error)) throw error
      head.begin()
      wrongRoots.accept(raw.block.header, parseHex(error.expected!))
      accepted = await acceptBlock(chain, raw, head.newest, checksRoot)
    }
    if (!accepted.isRootChecked && unchecked.length === 0) head.mark()
    const isAtTip = isTip(raw)
    head.append(raw.block, accepted, { isAtTip })
    chain.sparse?.appended(raw.block)
    chain.ancestors.add(raw.block, accepted.uncleHashes)
    if (accepted.isRootChecked) unchecked = []
    else unchecked.push(raw)
    if (isAtTip && unchecked.length === 0) head.recordState()
  }
  /** Re-executes the blocks since the last matching root and compares each root, to find the invalid one. Returns with
   *  all blocks stored if its root is accepted all the same. */
  const findRefused = async (raws: RawBlock[]): Promise<void> => {
    executor?.discard()
    head.rollbackToMark()
    unchecked = []
    for (const raw of raws) await store(raw, true)
    if (!chain.reader.commitsToState(raws[raws.length - 1].block.header.number)) return
    const [first, last] = [raws[0], raws[raws.length - 1]].map(({ block }) => block.header.number)
    throw new Error(`blocks ${first} to ${last} were refused together, but none of them by itself`)
  }
  return {
    take: async (raw, interval) => {
      const isDue = isTip(raw) || unchecked.length + 1 >= interval || (executor?.unhashed ?? 0) > MAX_UNHASHED
      try {
        await store(raw, isDue)
      } catch (error) {
        // Whatever the failure is, an earlier unchecked block may be the invalid one.
        if (unchecked.length > 0 && head.inTransaction) return await findRefused([...unchecked, raw])
        unchecked = []
        throw error
      }
    },
    flush: async () => {
      if (unchecked.length === 0) return
      const { number, stateRoot } = head.newest!.header
      if (chain.reader.commitsToState(number) && !equalBytes(executor!.stateRoot(), stateRoot)) {
        return await findRefused(unchecked)
      }
      executor!.commit()
      unchecked = []
    },
  }
}

function isOfRoot(error: unknown): error is InvalidBlock {
  return error instanceof InvalidBlock && error.check === 'state root'
}
