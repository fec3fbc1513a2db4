import { keccak256 } from '../../../chain/crypto.js'
import { encodeBlock, transactionsRoot } from '../../../chain/eth/block.js'
import { encodeBlockAccessList } from '../../../chain/eth/blockAccessList.js'
import { BLOOM_BYTES, bloomOf, orBloom } from '../../../chain/eth/bloom.js'
import { EMPTY_UNCLES_HASH } from '../../../chain/eth/emptyHashes.js'
import { familyOf } from '../../../chain/eth/families/families.js'
import { GAS_PER_BLOB } from '../../../chain/eth/fees.js'
import { type Rules, rulesAt, rulesOfInvented } from '../../../chain/eth/forks/rules.js'
import { hashHeader } from '../../../chain/eth/header.js'
import { receiptsRoot } from '../../../chain/eth/receipt.js'
import type { Header, Log, Receipt, Transaction } from '../../../chain/eth/types.js'
import { withdrawalsRoot } from '../../../chain/eth/withdrawals.js'
import { EMPTY_BYTES } from '../../../lib/bytes.js'
import type { Deadline } from '../../../lib/deadline.js'
import { parseHex } from '../../../lib/hex.js'
import type { ChainReader } from '../../../store/rows/types.js'
import type { StateReader } from '../../../store/state/stateReader.js'
import type { StateRoot } from '../../../trie/stateRoot.js'
import { CallFailed, ReturnDataTooLong, SimulationRefused, StateUnavailable } from '../../errors.js'
import { createCodeObjects } from '../../interpreter/code.js'
import type { ForkTables } from '../../interpreter/forkTables.js'
import type { BlockAccessRecorder } from '../../interpreter/journal/blockAccessRecorder.js'
import { Journal } from '../../interpreter/journal/journal.js'
import { Machine } from '../../interpreter/machine.js'
import { transferLog } from '../../interpreter/transferLog.js'
import type { PastTries } from '../../state/pastTries.js'
import { createCodeCache, createStateProviders } from '../../state/stateProvider.js'
import { receiptOf } from '../../transition/block.js'
import { endBlock } from '../../transition/blockEnd.js'
import { beginFamilyBlock, executionHeader, openSimulatedFamilyBlock } from '../../transition/familyBlock.js'
import { SystemCallFailed } from '../../transition/system.js'
import { callSystemBefore, requestsOf } from '../../transition/systemCalls.js'
import { blockEnvironment, executeTransaction } from '../../transition/transaction.js'
import type { CallLimits } from '../callContext.js'
import { overrideAccounts, overrideHeader } from '../overrides.js'
import { type NumberedBlock, planBlocks } from './planBlocks.js'
import { prepareCall, type SimulatedContext } from './simulatedCall.js'
import type { SimulatedBlock, SimulatedCall, Simulation, SimulationLimits } from './simulation.js'

/** The address of transfer logs, 20 bytes (ERC-7528). */
const TRANSFER_LOG_ADDRESS = parseHex('0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee')

const CODE_BYTES = 8 * 2 ** 20
/** Appended by geth to the failure of a call that got less gas than it requested. */
const GAS_CAPPED = " (gas limit was capped by the RPC server's global gas cap)"
const ZERO_32 = new Uint8Array(32)
// A log with its topics, without its data.
const LOG_BYTES = 400

/** Dependencies of a simulator. */
export interface SimulatorParts {
  chain: ChainReader
  reader: StateReader
  tries: PastTries
  tables(rules: Rules): ForkTables
}

/** Limits and deadline of a simulation. */
export interface SimulationTerms {
  limits: CallLimits & SimulationLimits
  deadline: Deadline
}

/** Simulates blocks on top of a stored one. @throws StateUnavailable, SimulationRefused, CallFailed,
 *  CallMemoryExceeded, ReturnDataTooLong, PastTrieTooFar, DeadlineExceeded */
export type Simulator = (simulation: Simulation, blockNumber: number, terms: SimulationTerms) => SimulatedBlock[]

/** Creates a simulator over stored blocks and states. Only code is kept between simulations. */
export function createSimulator(parts: SimulatorParts): Simulator {
  const { chain, reader, tries } = parts
  const codes = createCodeCache(reader, CODE_BYTES)
  const codeObjects = createCodeObjects((hash) => reader.codeByHash(hash), CODE_BYTES)
  return (simulation, blockNumber, terms) => {
    const base = chain.blockByNumber(blockNumber)
    if (base === undefined) throw new StateUnavailable(blockNumber)
    const planned = planBlocks(simulation.blocks, base.header)
    const journal = new Journal(createStateProviders(reader, { codes }).at(blockNumber, base.hash), codeObjects)
    journal.meter.begin(terms.limits.callMemoryBytes)
    const trie = tries.after(base, terms.deadline)
    try {
      const first = () => (base.txCount === 0 ? undefined : chain.transaction(base, 0))
      const run = new SimulationRun(parts, { simulation, terms, journal, trie, first })
      let parent: Parent = { ...base, isProofOfStake: chain.rulesOf(base).isProofOfStake }
      return planned.map((each) => {
        const done = run.block(each, parent)
        const { block, totalDifficulty } = done
        parent = { header: block.header, hash: block.hash, totalDifficulty, isProofOfStake: run.isProofOfStake }
        return done
      })
    } catch (error) {
      if (error instanceof SystemCallFailed) throw new CallFailed(error.message, { cause: error })
      throw error
    } finally {
      trie.discard()
    }
  }
}

interface Parent {
  header: Header
  hash: Uint8Array
  totalDifficulty: bigint
  isProofOfStake: boolean
}

interface RunParts {
  simulation: Simulation
  terms: SimulationTerms
  journal: Journal
  trie: StateRoot
  /** Returns the first transaction of the stored block below. */
  first: () => Transaction | undefined
}

/** Results of the calls of a block. */
interface BlockBody {
  transactions: Transaction[]
  receipts: Receipt[]
  calls: SimulatedCall[]
  gasUsed: bigint
}

/** A running simulation: its state and remaining budget. */
class SimulationRun {
  /** True if the last block is under proof of stake. */
  isProofOfStake = false
  private readonly parts: SimulatorParts
  private readonly run: RunParts
  private readonly hashes = new Map<number, Uint8Array>()
  /** Indexes of the block's logs in emission order, including those of failed frames, as in the official suite. geth
   *  1.17.10 uses the indexes of failed frames again. */
  private readonly logIndexes = new Map<Log, number>()
  private readonly transfers = new Set<Log>()
  private machine: Machine | undefined
  private gasLeft: bigint
  private outputBytes = 0

  constructor(parts: SimulatorParts, run: RunParts) {
    this.parts = parts
    this.run = run
    this.gasLeft = BigInt(run.terms.limits.maxSimulationGas)
  }

  private numberLog(log: Log): void {
    this.run.journal.meter.take(LOG_BYTES + log.data.length)
    this.logIndexes.set(log, this.logIndexes.size)
  }

  block(planned: NumberedBlock, parent: Parent): SimulatedBlock {
    const { chain } = this.parts
    const { journal, trie, terms } = this.run
    terms.deadline.check()
    const spec = chain.spec()
    const { number, timestamp } = planned.block
    const reached = parent.isProofOfStake ? spec.terminalTotalDifficulty : parent.totalDifficulty
    const { isProofOfStake } = rulesAt(spec, number, timestamp, reached)
    const rules = rulesOfInvented(spec, number, timestamp, isProofOfStake)
    if (isProofOfStake && planned.block.difficulty !== undefined) {
      const message = `block ${number}: difficulty override is not allowed after the merge`
      throw new SimulationRefused('difficulty', message)
    }
    this.isProofOfStake = rules.isProofOfStake
    const header = this.draftHeader(planned, parent, rules)
    const context = this.begin(header, rules, planned)
    const recorder = journal.recordAccesses(rules.eip7928)
    if (context.family) beginFamilyBlock(context.family, journal)
    callSystemBefore(context, header, rules)
    const body = this.runCalls(context, planned, recorder)
    const { transactions, receipts, calls } = body
    if (recorder) recorder.index = calls.length + 1
    const withdrawals = rules.eip4895 ? (planned.block.withdrawals ?? []) : undefined
    endBlock(context, { header, uncles: [], withdrawals }, spec)
    if (rules.eip7685) {
      const logs = receipts.flatMap((receipt) => receipt.logs)
      header.requestsHash = requestsOf(context, logs, spec)
    }
    if (recorder) header.blockAccessListHash = keccak256(encodeBlockAccessList(recorder.list()))
    Object.assign(header, rootsOf(body))
    const blobGas = familyOf(spec).simulatedBlobGas?.({ header, transactions, withdrawals }, this.run.first(), spec)
    if (blobGas !== undefined) header.blobGasUsed = blobGas
    if (withdrawals) header.withdrawalsRoot = withdrawalsRoot(withdrawals)
    header.stateRoot = trie.update(journal.takeTouched())
    const account = familyOf(spec).execution?.withdrawalsAccount?.(spec, header)
    if (account) header.withdrawalsRoot = trie.prove(account, []).storageRoot
    const hash = hashHeader(header)
    this.hashes.set(header.number, hash)
    const sizeBytes = encodeBlock({ header, transactions, uncles: [], withdrawals }).length
    return {
      block: { hash, header, transactions, uncles: [], withdrawals, sizeBytes },
      totalDifficulty: parent.totalDifficulty + header.difficulty,
      calls,
    }
  }

  /** The header before execution. */
  private draftHeader(planned: NumberedBlock, parent: Parent, rules: Rules): Header {
    const { header: before } = parent
    const { isValidated } = this.run.simulation
    const header: Header = {
      parentHash: parent.hash,
      unclesHash: EMPTY_UNCLES_HASH,
      miner: executionHeader(this.parts.chain.spec(), before).miner,
      stateRoot: ZERO_32,
      transactionsRoot: ZERO_32,
      receiptsRoot: ZERO_32,
      logsBloom: new Uint8Array(BLOOM_BYTES),
      difficulty: rules.isProofOfStake ? 0n : before.difficulty,
      number: planned.block.number,
      gasLimit: before.gasLimit,
      gasUsed: 0n,
      timestamp: planned.block.timestamp,
      extraData: EMPTY_BYTES,
      mixHash: ZERO_32,
      nonce: new Uint8Array(8),
    }
    const spec = this.parts.chain.spec()
    const family = familyOf(spec)
    if (rules.eip1559) header.baseFeePerGas = isValidated ? family.nextBaseFee(before, header.timestamp, spec) : 0n
    if (rules.eip4844) {
      header.blobGasUsed = 0n
      header.excessBlobGas = before.excessBlobGas === undefined ? 0n : family.nextExcessBlobGas(before, rules)
      header.parentBeaconBlockRoot = planned.block.parentBeaconBlockRoot ?? ZERO_32
    }
    // Absent if the parent has none, as in geth.
    if (rules.eip7843 && before.slotNumber !== undefined) header.slotNumber = before.slotNumber + 1n
    return overrideHeader(header, planned.block, rules.isProofOfStake)
  }

  /** The context of the block's calls, after its state overrides. */
  private begin(header: Header, rules: Rules, planned: NumberedBlock): SimulatedContext {
    const { chain, tables } = this.parts
    const { journal, simulation, terms } = this.run
    const { chainId } = chain.spec()
    const blockHash = (number: number) => this.hashes.get(number) ?? chain.blockHash(number) ?? ZERO_32
    const { blobBaseFee } = planned.block
    const environment = blockEnvironment(header, rules, { chainId, blockHash, blobBaseFee })
    const own = tables(rules)
    this.machine ??= new Machine({ ...own, environment, state: journal, deadline: terms.deadline })
    const { machine } = this
    machine.rules = own.rules
    machine.precompiles = own.precompiles
    machine.onTransfer = undefined
    machine.hooks = undefined
    journal.recordAccesses(false)
    overrideAccounts(machine, journal, planned.accounts)
    this.logIndexes.clear()
    this.transfers.clear()
    machine.hooks = { log: (log) => this.numberLog(log) }
    // From Amsterdam on, the EVM logs transfers itself (EIP-7708).
    if (simulation.tracesTransfers && !rules.eip7708) {
      machine.onTransfer = (from, to, value) => {
        const log = transferLog(TRANSFER_LOG_ADDRESS, [from, to], value)
        this.transfers.add(log)
        this.numberLog(log)
        journal.addLog(log)
      }
    }
    const { isValidated } = simulation
    const family = openSimulatedFamilyBlock(chain.spec(), header, journal)
    const left = { blockGasLeft: header.gasLimit, gasLeft: this.gasLeft }
    return { machine, journal, rules, header, chainId, environment, family, isValidated, ...left }
  }

  private runCalls(
    context: SimulatedContext,
    { calls: requests }: NumberedBlock,
    recorder: BlockAccessRecorder | undefined,
  ): BlockBody {
    const { journal, trie, terms } = this.run
    const { header, rules } = context
    const body: BlockBody = { transactions: [], receipts: [], calls: [], gasUsed: 0n }
    const used = { execution: 0n, state: 0n }
    let gasUsed = 0n
    for (const [index, request] of requests.entries()) {
      terms.deadline.check()
      if (recorder) recorder.index = index + 1
      const { transaction, executed, terms: fees, isGasCapped } = prepareCall(context, request)
      const applied = executeTransaction(context, executed, fees)
      journal.endTransaction(rules.eip161, rules.eip8246)
      gasUsed += applied.gasUsed
      used.execution += applied.blockGas.execution
      used.state += applied.blockGas.state
      body.gasUsed = used.execution > used.state ? used.execution : used.state
      context.blockGasLeft = header.gasLimit - body.gasUsed
      context.gasLeft -= applied.gasUsed
      const logs = applied.logs.filter((log) => !this.transfers.has(log))
      const root = rules.eip658 ? undefined : trie.update(journal.takeTouched())
      const receipt = receiptOf(
        transaction,
        { ...applied, logs },
        { header, rules, gasUsed, root, logsBloom: bloomOf(logs) },
      )
      body.transactions.push(transaction)
      body.receipts.push(receipt)
      body.calls.push(this.outcomeOf(applied, isGasCapped))
      if (header.blobGasUsed !== undefined) {
        header.blobGasUsed += BigInt(transaction.blobVersionedHashes?.length ?? 0) * GAS_PER_BLOB
      }
    }
    this.gasLeft = context.gasLeft
    return body
  }

  private outcomeOf(applied: ReturnType<typeof executeTransaction>, isGasCapped: boolean): SimulatedCall {
    const { status, output, gasUsed, peakGas: maxUsedGas } = applied
    const limit = this.run.terms.limits.maxReturnBytes
    this.outputBytes += output.length
    if (this.outputBytes > limit) throw new ReturnDataTooLong({ reverted: false, length: this.outputBytes, limit })
    const failure = isGasCapped && status === 'halt' ? `${applied.failure}${GAS_CAPPED}` : applied.failure
    const logs = applied.logs.map((log) => ({ log, logIndex: this.logIndexes.get(log)! }))
    return { status, failure, output, gasUsed, maxUsedGas, logs }
  }
}

function rootsOf({ transactions, receipts, gasUsed }: BlockBody): Partial<Header> {
  const logsBloom = new Uint8Array(BLOOM_BYTES)
  for (const receipt of receipts) orBloom(logsBloom, receipt.logsBloom)
  return {
    gasUsed,
    logsBloom,
    transactionsRoot: transactionsRoot(transactions),
    receiptsRoot: receiptsRoot(receipts),
  }
}
