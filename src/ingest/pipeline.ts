import type { Block } from '../chain/eth/types.js'
import { equalBytes } from '../lib/bytes.js'
import { formatData } from '../lib/hex.js'
import { type AcceptedBlock, acceptBlock, type Head } from './acceptBlock.js'
import type { WritableChain } from './chainState.js'
import type { Checkpoints } from './checkpoints.js'
import type { FileProgress } from './importProgress.js'
import { chooseRootInterval } from './rootInterval.js'
import type { BlockSource, RawBlock } from './source.js'
import { InvalidBlock } from './verify.js'

/** What an import of one source did. */
export interface PipelineSummary {
  imported: number
  /** Blocks that were held already. */
  skipped: number
  /** True when `signal` ended it early. */
  interrupted: boolean
}

interface PipelineOptions {
  progress: FileProgress
  signal?: AbortSignal
  /** Undefined: the writer makes its checkpoints itself. */
  checkpoints?: Checkpoints
  /** Blocks from one check of the state root to the next; 0 or undefined: as many as fits the size of the state. */
  rootInterval?: number
}

// A batch is one transaction: at most this many blocks, or this long, so that a kill costs little.
const BATCH_BLOCKS = 1000
const BATCH_MS = 1000
// Promises alone never let signals and timers in.
const BREATHE_MS = 50

// Accounts and slots: what is not hashed lies in memory.
const MAX_UNHASHED = 50_000

/** Imports the blocks of a source on top of the chain: decoded, verified, executed, stored in batches. Blocks that are
 *  held are skipped.
 *  @throws InvalidBlock when a block is refused; SourceError when the source cannot be read on. Blocks before it stay,
 *    of the block itself nothing does. */
export async function importBlocks(
  chain: WritableChain,
  source: BlockSource,
  { progress, signal, checkpoints, rootInterval = 0 }: PipelineOptions,
): Promise<PipelineSummary> {
  const summary: PipelineSummary = { imported: 0, skipped: 0, interrupted: false }
  const intake = createIntake(chain, checkpoints)
  const held = chain.reader.head()
  const tally = { blocks: 0, transactions: 0, gas: 0, blockNumber: held }
  const count = (blockNumber: number) => {
    tally.blocks++
    tally.blockNumber = blockNumber
  }
  let breathedMs = performance.now()
  const intervalNow = () => {
    const left = (source.totalBlocks ?? Number.POSITIVE_INFINITY) - summary.imported - summary.skipped
    return chooseRootInterval(rootInterval, chain.executor?.accounts ?? 0, left)
  }
  try {
    const passedOver = (number: number, hash: Uint8Array) => {
      if (signal?.aborted) throw new Stopped()
      requireHeld(chain, number, hash)
      summary.skipped++
      count(number)
      progress.update(tally)
    }
    for await (const raw of source.blocks({ from: held === undefined ? 0 : held + 1, passedOver })) {
      if (signal?.aborted) {
        summary.interrupted = true
        break
      }
      if (raw.block.header.number <= intake.headNumber) {
        passedOver(raw.block.header.number, raw.block.hash)
      } else {
        await intake.take(raw, intervalNow())
        summary.imported++
        count(raw.block.header.number)
        tally.transactions += raw.block.transactions.length
        tally.gas += Number(raw.block.header.gasUsed)
      }
      if (performance.now() - breathedMs > BREATHE_MS) {
        progress.update(tally)
        await new Promise(setImmediate)
        breathedMs = performance.now()
      }
    }
  } catch (error) {
    if (!(error instanceof Stopped)) throw error
    summary.interrupted = true
  } finally {
    await intake.end()
  }
  progress.update(tally)
  return summary
}

/** A signal came while blocks were passed over, which only the source can be told by. */
class Stopped extends Error {}

/** Blocks on their way into the chain. */
interface Intake {
  /** Number of the newest block; -1 when there is none. */
  readonly headNumber: number
  /** Verifies, executes and stores a block. The state root of at least every `interval`-th block is compared.
   *  @throws InvalidBlock for the first block that is refused, which is this one or one before it whose root was not
   *    compared. Blocks before it stay. */
  take(raw: RawBlock, interval: number): Promise<void>
  /** Commits what was taken. @throws InvalidBlock, as `take` does. */
  end(): Promise<void>
}

function createIntake(chain: WritableChain, checkpoints?: Checkpoints): Intake {
  const { executor, writer, indexer } = chain
  const batches = createBatches(chain, checkpoints)
  let head = readHead(chain)
  /** Blocks since the last state root that was compared, and the head before them. */
  let unchecked: RawBlock[] = []
  let checkedHead = head

  const store = async (raw: RawBlock, checksRoot: boolean) => {
    let accepted: AcceptedBlock
    try {
      accepted = await acceptBlock(chain, raw, head, checksRoot)
    } catch (error) {
      executor?.discard()
      throw error
    }
    const mark = !accepted.isRootChecked && unchecked.length === 0
    if (mark) checkedHead = head
    batches.add(raw.block, accepted, mark)
    chain.ancestors.add(raw.block, accepted.uncleHashes)
    if (accepted.isRootChecked) unchecked = []
    else unchecked.push(raw)
    head = { hash: raw.block.hash, header: raw.block.header, totalDifficulty: accepted.totalDifficulty }
  }
  /** Takes the blocks since the last root that was right once more, each with its own: one of them is refused. */
  const findRefused = async (raws: RawBlock[]): Promise<never> => {
    executor?.discard()
    writer.rollbackToMark()
    indexer.forget()
    unchecked = []
    head = checkedHead
    for (const raw of raws) await store(raw, true)
    const [first, last] = [raws[0], raws[raws.length - 1]].map(({ block }) => block.header.number)
    throw new Error(`blocks ${first} to ${last} were refused together, but none of them by itself`)
  }
  const checkRoot = async () => {
    if (unchecked.length === 0) return
    if (!equalBytes(executor!.stateRoot(), head!.header.stateRoot)) await findRefused(unchecked)
    executor!.settle()
    unchecked = []
  }
  const end = async () => {
    try {
      await checkRoot()
    } finally {
      await batches.end() // blocks that are right stay, whatever came after them
    }
  }
  return {
    get headNumber() {
      return head?.header.number ?? -1
    },
    take: async (raw, interval) => {
      const isDue = unchecked.length + 1 >= interval || (executor?.unhashed ?? 0) > MAX_UNHASHED
      try {
        await store(raw, isDue)
      } catch (error) {
        // Whatever is wrong with it, one before it may be wrong, too.
        if (unchecked.length > 0 && writer.inTransaction) await findRefused([...unchecked, raw])
        unchecked = []
        throw error
      }
      if (batches.isFull) await end()
    },
    end,
  }
}

/** Blocks gathered into transactions. */
function createBatches({ writer, indexer }: WritableChain, checkpoints?: Checkpoints) {
  let blocks = 0
  let startedMs = 0
  const end = async (): Promise<void> => {
    blocks = 0
    if (!writer.inTransaction) return
    indexer.work(Number.POSITIVE_INFINITY)
    writer.commit()
    await checkpoints?.afterCommit()
  }
  return {
    end,
    get isFull() {
      return blocks >= BATCH_BLOCKS || (blocks > 0 && performance.now() - startedMs > BATCH_MS)
    },
    /** With `mark`, the writer can be set back to before the block. */
    add: (block: Block, { receipts, totalDifficulty, changes }: AcceptedBlock, mark: boolean): void => {
      if (blocks === 0) {
        writer.begin()
        startedMs = performance.now()
      }
      try {
        if (mark) writer.mark()
        writer.insertBlock(block, receipts, totalDifficulty, changes)
        indexer.add(block, receipts)
      } catch (error) {
        indexer.forget()
        writer.rollback() // half a block may be in the transaction: all of the batch goes
        throw error
      }
      blocks++
    },
  }
}

function readHead({ reader }: WritableChain): Head | undefined {
  const number = reader.head()
  const block = number === undefined ? undefined : reader.blockByNumber(number)
  return block && { hash: block.hash, header: block.header, totalDifficulty: block.totalDifficulty }
}

/** @throws InvalidBlock when the chain has another block of that number, or begins after it. */
function requireHeld({ reader }: WritableChain, blockNumber: number, blockHash: Uint8Array): void {
  const held = reader.blockHash(blockNumber)
  if (held && equalBytes(held, blockHash)) return
  const expected = held ? formatData(held) : 'none, since the first block held is later'
  throw new InvalidBlock({ blockNumber, blockHash, check: 'canonical block', expected, actual: formatData(blockHash) })
}
