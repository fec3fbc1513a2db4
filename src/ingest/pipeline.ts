import { blobBaseFee, GAS_PER_BLOB } from '../chain/eth/fees.js'
import { type Rules, rulesAt } from '../chain/eth/forks.js'
import { createAddress, effectiveGasPrice } from '../chain/eth/transaction.js'
import type { Block, ConsensusReceipt, Header, Receipt } from '../chain/eth/types.js'
import { InvalidTransaction } from '../evm/errors.js'
import type { ExecutedBlock, Executor } from '../evm/execute.js'
import { SystemCallFailed } from '../evm/system.js'
import { equalBytes } from '../lib/bytes.js'
import { UsageError } from '../lib/errors.js'
import { formatData } from '../lib/hex.js'
import type { Progress } from '../lib/progress.js'
import type { StateChanges } from '../store/chainWriter.js'
import type { WritableChain } from './chainState.js'
import type { Checkpoints } from './checkpoints.js'
import type { BlockSource, RawBlock } from './source.js'
import { type Ancestors, InvalidBlock, verifyBody, verifyHeader, verifyReceipts, verifyUncles } from './verify.js'

/** What an import of one source did. */
export interface PipelineSummary {
  imported: number
  /** Blocks that were held already. */
  skipped: number
  /** True when `signal` ended it early. */
  interrupted: boolean
}

interface PipelineOptions {
  progress: Progress
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

// To hash a state of a million accounts takes longer than to execute an ordinary block: together, blocks share most of it.
const LARGE_STATE = 250_000
const LARGE_STATE_INTERVAL = 64
// Accounts and slots: what is not hashed lies in memory.
const MAX_UNHASHED = 50_000

/** The newest block that was accepted. */
interface Head {
  hash: Uint8Array
  header: Header
  totalDifficulty: bigint
}

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
  let breathedMs = performance.now()
  const intervalNow = () => {
    if (rootInterval > 0) return rootInterval
    const left = (source.totalBlocks ?? Number.POSITIVE_INFINITY) - summary.imported - summary.skipped
    const large = (chain.executor?.accounts ?? 0) >= LARGE_STATE
    return large && left >= LARGE_STATE_INTERVAL ? LARGE_STATE_INTERVAL : 1
  }
  try {
    const passedOver = (number: number, hash: Uint8Array) => {
      requireHeld(chain, number, hash)
      summary.skipped++
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
      }
      if (performance.now() - breathedMs > BREATHE_MS) {
        progress.update(summary.imported + summary.skipped, `block ${raw.block.header.number}`)
        await new Promise(setImmediate)
        breathedMs = performance.now()
      }
    }
  } finally {
    await intake.end()
  }
  progress.update(summary.imported + summary.skipped)
  return summary
}

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
    unchecked = accepted.isRootChecked ? [] : [...unchecked, raw]
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
  const end = (): Promise<void> | undefined => {
    blocks = 0
    if (!writer.inTransaction) return undefined
    indexer.work(Number.POSITIVE_INFINITY)
    writer.commit()
    return checkpoints?.afterCommit()
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

/** A verified block, ready to be stored. */
interface AcceptedBlock {
  receipts: Receipt[]
  totalDifficulty: bigint
  changes?: StateChanges
  /** False: its state root was not compared yet. */
  isRootChecked: boolean
}

async function acceptBlock(
  chain: WritableChain,
  raw: RawBlock,
  head: Head | undefined,
  checksRoot: boolean,
): Promise<AcceptedBlock> {
  const { block } = raw
  if (!head) return acceptFirst(chain, raw)
  const rules = rulesAt(chain.spec, block.header.number, block.header.timestamp, head.totalDifficulty)
  verifyHeader(block.header, block.hash, head, rules, chain.spec)
  await verifyBodyOrExplain(chain, block, rules)
  verifyUncles(block, ancestorsOf(chain), ({ number, timestamp }) => rulesAt(chain.spec, number, timestamp), chain.spec)
  const totalDifficulty = head.totalDifficulty + block.header.difficulty
  if (raw.totalDifficulty !== undefined && raw.totalDifficulty !== totalDifficulty) {
    throw refusal(block, 'total difficulty', totalDifficulty, raw.totalDifficulty)
  }
  if (!chain.executor) return { receipts: takeReceipts(raw, rules), totalDifficulty, isRootChecked: true }
  const { receipts, stateRoot } = await executeAndCompare(chain.executor, block, rules, checksRoot)
  return { receipts, totalDifficulty, changes: chain.executor.accept(), isRootChecked: stateRoot !== undefined }
}

/** As `verifyBody`; but where only the transactions root differs, the transactions are executed to see whether one of
 *  them cannot be in the block, which says more. */
async function verifyBodyOrExplain({ spec, executor }: WritableChain, block: Block, rules: Rules): Promise<void> {
  try {
    verifyBody(block, rules, spec)
  } catch (error) {
    if (!executor || !(error instanceof InvalidBlock) || error.check !== 'transactions root') throw error
    await execute(executor, block, rules, false)
    throw error
  }
}

/** The first block of a database without state: block 0 must be the genesis; any other is taken with the total
 *  difficulty that its source says, since its parent is not there to be checked against. */
async function acceptFirst(chain: WritableChain, raw: RawBlock): Promise<AcceptedBlock> {
  const { block, totalDifficulty } = raw
  if (totalDifficulty === undefined) {
    throw new UsageError(
      '--state none takes its first block from an era1 file, which holds receipts and total difficulty',
    )
  }
  if (block.header.number === 0) {
    const genesis = await chain.genesisBlock()
    if (!equalBytes(genesis.hash, block.hash)) {
      throw refusal(block, 'genesis hash', formatData(genesis.hash), formatData(block.hash))
    }
  }
  const { header } = block
  const rules = rulesAt(chain.spec, header.number, header.timestamp, totalDifficulty - header.difficulty)
  verifyBody(block, rules, chain.spec)
  return { receipts: takeReceipts(raw, rules), totalDifficulty, isRootChecked: true }
}

/** Executes; a transaction or system call that makes the block invalid becomes `InvalidBlock`. */
function execute(executor: Executor, block: Block, rules: Rules, checksRoot: boolean): Promise<ExecutedBlock> {
  return executor.execute(block, rules, checksRoot).catch((error: unknown) => {
    const { header } = block
    if (error instanceof InvalidTransaction || error instanceof SystemCallFailed) {
      const check = error instanceof InvalidTransaction ? `transaction: ${error.rule}` : 'system call'
      throw new InvalidBlock({
        blockNumber: header.number,
        blockHash: block.hash,
        check,
        detail: error.message,
        cause: error,
      })
    }
    throw error
  })
}

async function executeAndCompare(
  executor: Executor,
  block: Block,
  rules: Rules,
  checksRoot: boolean,
): Promise<ExecutedBlock> {
  const { header } = block
  const executed = await execute(executor, block, rules, checksRoot)
  verifyReceipts(header, executed.receipts, block.hash)
  if (rules.has('prague') && !equalBytes(executed.requestsHash!, header.requestsHash!)) {
    throw refusal(block, 'requests hash', formatData(executed.requestsHash!), formatData(header.requestsHash!))
  }
  if (executed.stateRoot && !equalBytes(executed.stateRoot, header.stateRoot)) {
    throw refusal(block, 'state root', formatData(executed.stateRoot), formatData(header.stateRoot))
  }
  return executed
}

function refusal(block: Block, check: string, expected: unknown, actual: unknown): InvalidBlock {
  return new InvalidBlock({
    blockNumber: block.header.number,
    blockHash: block.hash,
    check,
    expected: String(expected),
    actual: String(actual),
  })
}

/** The source's receipts, checked against the header, with what is derived from the transactions beside them. */
function takeReceipts({ block, receipts }: RawBlock, rules: Rules): Receipt[] {
  if (!receipts) throw new UsageError('--state none needs receipts in the file (.era1); execute the blocks instead')
  verifyReceipts(block.header, receipts, block.hash)
  let before = 0n
  return receipts.map((receipt, index) => {
    const gasUsed = receipt.cumulativeGasUsed - before
    before = receipt.cumulativeGasUsed
    return deriveReceipt(block, index, receipt, gasUsed, rules)
  })
}

function deriveReceipt(block: Block, index: number, receipt: ConsensusReceipt, gasUsed: bigint, rules: Rules): Receipt {
  const transaction = block.transactions[index]
  const blobs = transaction.blobVersionedHashes?.length
  return {
    ...receipt,
    gasUsed,
    effectiveGasPrice: effectiveGasPrice(transaction, block.header.baseFeePerGas),
    contractAddress: transaction.to ? undefined : createAddress(transaction.from, transaction.nonce),
    blobGasUsed: blobs === undefined ? undefined : BigInt(blobs) * GAS_PER_BLOB,
    blobGasPrice: blobs === undefined ? undefined : blobBaseFee(block.header.excessBlobGas!, rules),
  }
}

function ancestorsOf({ reader }: WritableChain): Ancestors {
  return {
    header: (number) => {
      const block = reader.blockByNumber(number)
      return block && { hash: block.hash, header: block.header }
    },
    uncleHashes: (number) => reader.uncleHashes(number),
  }
}
