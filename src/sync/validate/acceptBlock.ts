import { keccak256 } from '../../chain/crypto.js'
import {
  type BlockAccessList,
  countAccesses,
  decodeBlockAccessList,
  encodeBlockAccessList,
  firstDifference,
  GAS_PER_ACCESS,
} from '../../chain/eth/blockAccessList.js'
import { completeTransactions } from '../../chain/eth/families/addedTypes.js'
import { familyOf } from '../../chain/eth/families/families.js'
import { type Rules, rulesAt } from '../../chain/eth/forks/rules.js'
import { InvalidBlock, refuserOf } from '../../chain/eth/invalidBlock.js'
import { DecodeError } from '../../chain/eth/rlp.js'
import { appearancesIn } from '../../chain/eth/transactionAddresses.js'
import type { Block, Header, Receipt } from '../../chain/eth/types.js'
import { verifyBodyRoots, verifyReceipts } from '../../chain/eth/verifyRoots.js'
import { InvalidTransaction } from '../../evm/errors.js'
import type { ExecutedBlock, ExecuteOptions, Executor } from '../../evm/transition/blockExecutor.js'
import { SystemCallFailed } from '../../evm/transition/system.js'
import { equalBytes } from '../../lib/bytes.js'
import { UsageError } from '../../lib/errors.js'
import { formatData } from '../../lib/hex.js'
import type { RawBlock } from '../../sources/source.js'
import type { CallTrace } from '../../store/rows/callTraces.js'
import type { StateChanges } from '../../store/rows/stateChanges.js'
import type { WritableChain } from '../chainState.js'
import type { Head } from '../head/chainHead.js'
import { acceptUnexecuted, takeReceipts } from '../unexecutedBlock.js'
import { verifyBodyRules, verifyTransactionTypes } from './body.js'
import { verifyHeader, verifyUncles } from './header.js'

/** A verified block, ready to be stored. */
export interface AcceptedBlock {
  receipts: Receipt[]
  totalDifficulty: bigint
  changes?: StateChanges
  /** RLP (EIP-7928), if the chain keeps access lists. */
  blockAccessList?: Uint8Array
  /** By transaction, if the chain keeps the address index: the addresses in which it appears. */
  appearances?: Uint8Array[][]
  /** By transaction, if the chain keeps the trace index and the block was executed: its calls. */
  traces?: CallTrace[][]
  uncleHashes: Uint8Array[]
  /** True if the block was executed. */
  isExecuted: boolean
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
  verifyTransactionTypes(block, chain.spec)
  verifyHeader(block.header, block.hash, head, rules, chain.spec, (number) => chain.ancestors.header(number)?.header)
  await verifyBodyOrExplain(chain, raw, rules)
  const rulesOf = ({ number, timestamp }: Header) => rulesAt(chain.spec, number, timestamp)
  const uncleHashes = verifyUncles(block, chain.ancestors, rulesOf, chain.spec)
  const totalDifficulty = head.totalDifficulty + block.header.difficulty
  if (raw.totalDifficulty !== undefined && raw.totalDifficulty !== totalDifficulty) {
    throw refusal(block, 'total difficulty', totalDifficulty, raw.totalDifficulty)
  }
  const common = { totalDifficulty, uncleHashes }
  if (!chain.executor || chain.sparse?.hasState === false) {
    const receipts = takeReceipts(block, raw.receipts, rules)
    return {
      ...common,
      receipts,
      appearances: chain.keepsAppearances ? appearancesIn(block.transactions, receipts) : undefined,
      isExecuted: false,
      isRootChecked: true,
    }
  }
  if (chain.sparse?.listing.isActive) {
    const receipts = takeReceipts(block, raw.receipts, rules)
    const { changes, blockAccessList } = await chain.sparse.listing.changesOf(raw)
    return {
      ...common,
      ...{ receipts, changes, blockAccessList: chain.keepsAccessLists ? blockAccessList : undefined },
      appearances: chain.keepsAppearances ? appearancesIn(block.transactions, receipts) : undefined,
      isExecuted: false,
      isRootChecked: true,
    }
  }
  const { executed, accessList } = await executeAndCompare(chain, chain.executor, raw, {
    ...{ rules, checksRoot, parent: head.header },
  })
  const { receipts, callees, traces } = executed
  completeTransactions(block.transactions, receipts)
  return {
    ...common,
    receipts,
    changes: chain.executor.accept(),
    blockAccessList: chain.keepsAccessLists ? accessList : undefined,
    appearances: chain.keepsAppearances ? appearancesIn(block.transactions, receipts, callees) : undefined,
    traces,
    isExecuted: true,
    isRootChecked: executed.stateRoot !== undefined,
  }
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
    verifyBodyRoots(block, familyOf(spec))
  } catch (error) {
    if (!executor || !(error instanceof InvalidBlock) || error.check !== 'transactions root') throw error
    await execute(executor, block, rules, { hashState: false })
    throw error
  }
}

/** Accepts the first block of a database without state. Block 0 must be the genesis; any other block is accepted with
 *  the total difficulty of its source, since its parent is not available. */
async function acceptFirst(chain: WritableChain, raw: RawBlock): Promise<AcceptedBlock> {
  const { block, totalDifficulty } = raw
  if (totalDifficulty === undefined) {
    throw new UsageError(
      '--state none needs a first block with receipts and total difficulty, as in era1 and ere files',
    )
  }
  if (block.header.number === 0) {
    const genesis = await chain.genesisBlock()
    if (!equalBytes(genesis.hash, block.hash)) {
      throw refusal(block, 'genesis hash', formatData(genesis.hash), formatData(block.hash))
    }
  }
  const accepted = acceptUnexecuted(chain, { block, receipts: raw.receipts, totalDifficulty })
  return { ...accepted, isExecuted: false, isRootChecked: true }
}

/** Executes a block. Failures of a transaction or system call become `InvalidBlock`. */
function execute(executor: Executor, block: Block, rules: Rules, options: ExecuteOptions): Promise<ExecutedBlock> {
  return executor.execute(block, rules, options).catch((error: unknown) => {
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
  { reader, spec }: WritableChain,
  executor: Executor,
  raw: RawBlock,
  { rules, checksRoot, parent }: { rules: Rules; checksRoot: boolean; parent: Header },
): Promise<{ executed: ExecutedBlock; accessList?: Uint8Array }> {
  const { block, blockAccessList } = raw
  const { header } = block
  const executed = await execute(executor, block, rules, { hashState: checksRoot, blockAccessList, parent })
  if (executed.parentCall) {
    const call = familyOf(spec).execution!.parentCall!(spec, header, parent)!
    call.verify(executed.parentCall, refuserOf(header.number, block.hash))
  }
  verifyReceipts(header, executed.receipts, { blockHash: block.hash, executedGas: executed.gasUsed })
  const { requestsHash } = header
  if (requestsHash && !equalBytes(executed.requestsHash!, requestsHash)) {
    throw refusal(block, 'requests hash', formatData(executed.requestsHash!), formatData(requestsHash))
  }
  const accessList = executed.blockAccessList && verifyAccessList(raw, executed.blockAccessList)
  const { stateRoot } = executed
  if (stateRoot && reader.commitsToState(header.number) && !equalBytes(stateRoot, header.stateRoot)) {
    throw refusal(block, 'state root', formatData(stateRoot), formatData(header.stateRoot))
  }
  const { withdrawalsRoot } = executed
  if (withdrawalsRoot && !equalBytes(withdrawalsRoot, header.withdrawalsRoot!)) {
    throw refusal(block, 'withdrawals root', formatData(withdrawalsRoot), formatData(header.withdrawalsRoot!))
  }
  return { executed, accessList }
}

/** Compares the access list that execution found with the header, and returns its RLP. If the source has a list that
 *  matches the header, names the first entry that differs (EIP-7928). */
function verifyAccessList({ block, blockAccessList: given }: RawBlock, executed: BlockAccessList): Uint8Array {
  const { header } = block
  const count = BigInt(countAccesses(executed))
  const most = header.gasLimit / GAS_PER_ACCESS
  if (count > most) throw refusal(block, 'block access list size', `at most ${most} addresses and slots`, count)
  const encoded = encodeBlockAccessList(executed)
  const hash = keccak256(encoded)
  const expected = header.blockAccessListHash!
  if (equalBytes(hash, expected)) return encoded
  if (given === undefined || !equalBytes(keccak256(given), expected)) {
    const known = given === undefined ? 'the source gives no list' : 'the list of the source has another hash'
    throw new InvalidBlock({
      ...{ blockNumber: header.number, blockHash: block.hash, check: 'block access list hash' },
      ...{ expected: formatData(hash), actual: formatData(expected) },
      detail: `${known}, so that no differing entry can be named`,
    })
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
