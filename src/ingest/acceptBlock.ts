import { keccak256 } from '../chain/crypto.js'
import {
  type BlockAccessList,
  countAccesses,
  decodeBlockAccessList,
  encodeBlockAccessList,
  firstDifference,
  GAS_PER_ACCESS,
} from '../chain/eth/blockAccessList.js'
import { blobBaseFee, GAS_PER_BLOB } from '../chain/eth/fees.js'
import { type Rules, rulesAt } from '../chain/eth/forks.js'
import { hashHeader } from '../chain/eth/header.js'
import { DecodeError } from '../chain/eth/rlp.js'
import { createAddress, effectiveGasPrice } from '../chain/eth/transaction.js'
import type { Block, ConsensusReceipt, Header, Receipt } from '../chain/eth/types.js'
import { InvalidTransaction } from '../evm/errors.js'
import type { ExecutedBlock, Executor } from '../evm/transition/blockExecutor.js'
import { SystemCallFailed } from '../evm/transition/system.js'
import { equalBytes } from '../lib/bytes.js'
import { UsageError } from '../lib/errors.js'
import { formatData } from '../lib/hex.js'
import type { StateChanges } from '../store/chain/chainWriter.js'
import type { WritableChain } from './chainState.js'
import type { Head } from './head/chainHead.js'
import type { RawBlock } from './source.js'
import {
  InvalidBlock,
  verifyBody,
  verifyBodyRoots,
  verifyBodyRules,
  verifyHeader,
  verifyReceipts,
  verifyUncles,
} from './verify.js'

/** A verified block, ready to be stored. */
export interface AcceptedBlock {
  receipts: Receipt[]
  totalDifficulty: bigint
  changes?: StateChanges
  uncleHashes: Uint8Array[]
  /** False when its state root was not compared yet. */
  isRootChecked: boolean
}

/** Verifies a block on top of `head` (undefined for the first block) and executes it. The state root is compared unless
 *  `checksRoot` is false; blocks whose receipts contain state roots are always compared. @throws InvalidBlock for the
 *  first failed check; then call the executor's `discard` */
export async function acceptBlock(
  chain: WritableChain,
  raw: RawBlock,
  head: Head | undefined,
  checksRoot: boolean,
): Promise<AcceptedBlock> {
  const { block } = raw
  if (!head) return acceptFirst(chain, raw)
  const rules = rulesAt(chain.spec, block.header.number, block.header.timestamp, head.totalDifficulty)
  verifyHeader(block.header, block.hash, head, rules, chain.spec)
  await verifyBodyOrExplain(chain, raw, rules)
  const rulesOf = ({ number, timestamp }: Header) => rulesAt(chain.spec, number, timestamp)
  const uncleHashes = verifyUncles(block, chain.ancestors, rulesOf, chain.spec)
  const totalDifficulty = head.totalDifficulty + block.header.difficulty
  if (raw.totalDifficulty !== undefined && raw.totalDifficulty !== totalDifficulty) {
    throw refusal(block, 'total difficulty', totalDifficulty, raw.totalDifficulty)
  }
  const common = { totalDifficulty, uncleHashes }
  if (!chain.executor) return { ...common, receipts: takeReceipts(raw, rules), isRootChecked: true }
  const { receipts, stateRoot } = await executeAndCompare(chain.executor, raw, rules, checksRoot)
  return { ...common, receipts, changes: chain.executor.accept(), isRootChecked: stateRoot !== undefined }
}

/** As `verifyBody`. When only the transactions root differs, the transactions are executed too, since an invalid
 *  transaction is the better explanation. */
async function verifyBodyOrExplain(
  { spec, executor }: WritableChain,
  { block, hasVerifiedRoots }: RawBlock,
  rules: Rules,
): Promise<void> {
  verifyBodyRules(block, rules, spec)
  if (hasVerifiedRoots) return
  try {
    verifyBodyRoots(block)
  } catch (error) {
    if (!executor || !(error instanceof InvalidBlock) || error.check !== 'transactions root') throw error
    await execute(executor, block, rules, false)
    throw error
  }
}

/** The first block of a database without state. Block 0 must be the genesis; any other block is accepted with the total
 *  difficulty of its source, since its parent is not available. */
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
  const uncleHashes = block.uncles.map(hashHeader)
  return { receipts: takeReceipts(raw, rules), totalDifficulty, uncleHashes, isRootChecked: true }
}

/** Executes a block. Failures of a transaction or system call become `InvalidBlock`. */
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
  raw: RawBlock,
  rules: Rules,
  checksRoot: boolean,
): Promise<ExecutedBlock> {
  const { block } = raw
  const { header } = block
  const executed = await execute(executor, block, rules, checksRoot)
  verifyReceipts(header, executed.receipts, { blockHash: block.hash, executedGas: executed.gasUsed })
  if (rules.has('prague') && !equalBytes(executed.requestsHash!, header.requestsHash!)) {
    throw refusal(block, 'requests hash', formatData(executed.requestsHash!), formatData(header.requestsHash!))
  }
  if (executed.blockAccessList) verifyAccessList(raw, executed.blockAccessList)
  if (executed.stateRoot && !equalBytes(executed.stateRoot, header.stateRoot)) {
    throw refusal(block, 'state root', formatData(executed.stateRoot), formatData(header.stateRoot))
  }
  return executed
}

/** Compares the access list that execution found with the header. If the source has a list that is the header's, the first
 *  entry that differs is named (EIP-7928). */
function verifyAccessList({ block, blockAccessList: given }: RawBlock, executed: BlockAccessList): void {
  const { header } = block
  const count = BigInt(countAccesses(executed))
  const most = header.gasLimit / GAS_PER_ACCESS
  if (count > most) throw refusal(block, 'block access list size', `at most ${most} addresses and slots`, count)
  const hash = keccak256(encodeBlockAccessList(executed))
  const expected = header.blockAccessListHash!
  if (equalBytes(hash, expected)) return
  if (given === undefined || !equalBytes(keccak256(given), expected)) {
    throw refusal(block, 'block access list hash', formatData(hash), formatData(expected))
  }
  throw accessListRefusal(block, given, executed)
}

function accessListRefusal(block: Block, given: Uint8Array, executed: BlockAccessList): InvalidBlock {
  try {
    const difference = firstDifference(executed, decodeBlockAccessList(given))
    if (difference !== undefined) {
      const { entry, expected, actual } = difference
      return refusal(block, 'block access list', `${entry}: ${expected}`, actual)
    }
    return refusal(block, 'block access list', 'integers without leading zeros', 'others')
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    return refusal(block, 'block access list', 'a list of accounts', error.message)
  }
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

/** The source's receipts, checked against the header and completed with derived fields. */
function takeReceipts({ block, receipts }: RawBlock, rules: Rules): Receipt[] {
  if (!receipts) throw new UsageError('--state none needs receipts in the file (.era1); execute the blocks instead')
  verifyReceipts(block.header, receipts, { blockHash: block.hash })
  let before = 0n
  return receipts.map((receipt, index) => {
    const gasUsed = receipt.cumulativeGasUsed - before
    before = receipt.cumulativeGasUsed
    return deriveReceipt(block, index, receipt, gasUsed, rules)
  })
}

/** The receipt of transaction `index` with its derived fields: price, created address, blobs. */
export function deriveReceipt(
  block: Pick<Block, 'header' | 'transactions'>,
  index: number,
  receipt: ConsensusReceipt,
  gasUsed: bigint,
  rules: Rules,
): Receipt {
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
