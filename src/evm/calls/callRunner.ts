import type { Rules } from '../../chain/eth/forks/rules.js'
import type { Header } from '../../chain/eth/types.js'
import { EMPTY_BYTES, equalBytes } from '../../lib/bytes.js'
import { noDeadline } from '../../lib/deadline.js'
import { collectGarbageSoon } from '../../lib/garbageCollection.js'
import { hasStateAfter } from '../../store/rows/coverage.js'
import type { ChainReader } from '../../store/rows/types.js'
import type { StateReader } from '../../store/state/stateReader.js'
import { CallFailed, StateUnavailable } from '../errors.js'
import { type CodeObjects, createCodeObjects } from '../interpreter/code.js'
import { type Environment, replaceTransaction, withFreeBlobs } from '../interpreter/environment.js'
import type { ForkTables } from '../interpreter/forkTables.js'
import { Journal } from '../interpreter/journal/journal.js'
import { type CheckIntervals, Machine, precompileOfFork } from '../interpreter/machine.js'
import { LARGE_CALL_BYTES } from '../interpreter/memoryMeter.js'
import type { SlotCache } from '../state/slotCache.js'
import {
  createCodeCache,
  createStateProviders,
  type StateProvider,
  type StateProviders,
} from '../state/stateProvider.js'
import { requireHash } from '../transition/blockExecutor.js'
import { executionHeader } from '../transition/familyBlock.js'
import { executeMessage, settleGas, warmUp } from '../transition/message.js'
import { blockEnvironment } from '../transition/transaction.js'
import type { TransactionContext } from '../transition/transactionContext.js'
import { warmAtStart } from '../transition/warmSet.js'
import { OutOfBudget } from './budget.js'
import { requireCallTerms, requireTransactionGas, ZERO_ADDRESS } from './callChecks.js'
import type { CallOutcome, DetailedCallContext, RunTerms } from './callContext.js'
import type { CallRequest } from './callRequest.js'
import { type CallOverrides, overrideAccounts, overrideBlock } from './overrides.js'

const HASHES_BYTES = 4 * 1024 * 1024

// Analysed code kept between calls: some thousand contracts.
const CODE_BYTES = 32 * 1024 * 1024

// State that calls at the same block share: 8 MB of slots at most. It saves 0.1 µs per slot over the slot cache.
const KEPT = { accounts: 4096, slots: 65_536, codeBytes: CODE_BYTES }
// Overrides are part of the journal, which lives as long as its request.
const KEPT_ALL = { accounts: Infinity, slots: Infinity, codeBytes: Infinity }

const NO_HASH = new Uint8Array(32)

/** The block context of calls. */
interface BlockCallContext extends CallPlace {
  hash: Uint8Array
  blockGasLimit: bigint
  backing: StateProvider
}

/** Dependencies of a runner. */
export interface CallRunnerParts {
  chain: ChainReader
  reader: StateReader
  /** Slots cached across calls and blocks. */
  slots: SlotCache
  /** Called before a block is read; `reader` and `slots` announce their own reads. */
  beforeRead(): void
  tables(rules: Rules): ForkTables
  /** How often calls check their deadline; default: as in a reader thread. */
  checkIntervals?: CheckIntervals
}

/** Call contexts by block number. */
export class CallRunner {
  private readonly chain: ChainReader
  private readonly slots: SlotCache
  private readonly beforeRead: () => void
  private readonly tables: (rules: Rules) => ForkTables
  private readonly checkIntervals: CheckIntervals | undefined
  // Code is cached as interpreter objects; the provider's cache serves code hashes only.
  private readonly backings: StateProviders
  private readonly codes: CodeObjects
  private place: BlockCallContext | undefined
  /** What overridden calls run on, one after another. */
  private overridden: Pick<BlockCallContext, 'machine' | 'journal'> | undefined
  private readonly blockHash = (number: number) => {
    if (number === this.chain.head()) return this.chain.headHash()
    this.beforeRead()
    return this.chain.ancestorHash(number)
  }

  /** Creates a runner with one machine and one journal, and another pair for calls with overrides. State that calls
   *  without them read stays in the journal until another block is requested or it grows too large; their changes are
   *  undone. Calls must not overlap: a thread runs one at a time. */
  constructor({ chain, reader, slots, beforeRead, tables, checkIntervals }: CallRunnerParts) {
    this.chain = chain
    this.slots = slots
    this.beforeRead = beforeRead
    this.tables = tables
    this.checkIntervals = checkIntervals
    this.backings = createStateProviders(reader, { codes: createCodeCache(reader, HASHES_BYTES), slots })
    this.codes = createCodeObjects((hash) => reader.codeByHash(hash), CODE_BYTES)
  }

  /** Returns the calls at that block with `overrides` applied, valid until the next `at`. Call it for each request, in
   *  one snapshot with the calls, because a reorg may have replaced the block. @throws StateUnavailable; CallFailed for
   *  invalid overrides */
  at(blockNumber: number, overrides?: CallOverrides): DetailedCallContext {
    const hash = this.blockHash(blockNumber)
    if (hash === undefined) throw new StateUnavailable(blockNumber)
    this.slots.moveTo(blockNumber, hash, this.blockHash)
    if (this.place === undefined || this.place.header.number !== blockNumber || !equalBytes(this.place.hash, hash)) {
      this.place = this.moveTo(blockNumber, hash)
    }
    const here = overrides === undefined ? this.place : this.override(this.place, overrides)
    const most = overrides === undefined ? KEPT : KEPT_ALL
    const { journal, header } = here
    return {
      header,
      blockGasLimit: here.blockGasLimit,
      rules: here.rules,
      chainId: here.chainId,
      isPrecompile: (address) =>
        precompileOfFork(here.machine.precompiles, journal.account(address).word) !== undefined,
      warmAtStart: ({ from = ZERO_ADDRESS, to, authorizationList }) =>
        warmAtStart(here, { from, to, authorizationList }, journal.account(from).nonce).map(({ address }) => address),
      balance: (address) => journal.account(address).balance,
      hasCode: (address) => journal.code(journal.account(address)).length > 0,
      run: (request, terms) => this.run(here, most, request, terms),
    }
  }

  private run(here: BlockCallContext, most: typeof KEPT, request: CallRequest, terms: RunTerms): CallOutcome {
    const { journal } = here
    try {
      return runContractCall(here, request, terms)
    } catch (error) {
      // An aborted call may hold much memory. One that exceeded a budget does not, and a retry reuses what it has
      // read.
      if (!(error instanceof CallFailed || error instanceof OutOfBudget)) journal.clear()
      here.machine.trim()
      throw error
    } finally {
      journal.recordAccesses(false)
      if (journal.meter.peak() > LARGE_CALL_BYTES) {
        if (journal === this.overridden?.journal) this.overridden = undefined
        collectGarbageSoon()
      }
      journal.meter.end()
      journal.rewind(most)
    }
  }

  private moveTo(number: number, hash: Uint8Array): BlockCallContext {
    this.beforeRead()
    const block = this.chain.blockByNumber(number)
    if (!block || !hasStateAfter(this.chain.coverage(), number)) throw new StateUnavailable(number)
    const spec = this.chain.spec()
    const header = executionHeader(spec, block.header)
    const { chainId } = spec
    const rules = this.chain.rulesOf(block)
    const blocks = { chainId, blockHash: (at: number) => requireHash(this.blockHash, at) }
    const environments = environmentsOf(header, rules, blocks)
    const backing = this.backings.at(number, hash)
    const journal = this.place?.journal ?? new Journal(backing, this.codes)
    journal.reset(backing)
    const own = this.tables(rules)
    const parts = { ...own, environment: environments.environment, state: journal, deadline: noDeadline }
    const machine =
      this.place?.machine ?? new Machine({ ...parts, checkIntervals: this.checkIntervals, keepsLogs: false })
    machine.rules = own.rules
    machine.precompiles = own.precompiles
    const { gasLimit: blockGasLimit } = header
    return { hash, blockGasLimit, backing, machine, journal, rules, header, chainId, ...environments }
  }

  /** The context of calls that see other state or another block, valid until the next one. */
  private override(below: BlockCallContext, { accounts, block = {} }: CallOverrides): BlockCallContext {
    const { backing, chainId } = below
    const { header, rules } = overrideBlock(below, block, this.chain.spec())
    const { blobBaseFee } = block
    // Only blocks before the stored one have hashes, even if the number is overridden.
    const blocks = {
      chainId,
      blobBaseFee,
      blockHash: (at: number) => (at < below.header.number && this.blockHash(at)) || NO_HASH,
    }
    const environments = environmentsOf(header, rules, blocks)
    const own = this.tables(rules)
    const journal = this.overridden?.journal ?? new Journal(backing, this.codes)
    journal.reset(backing)
    const parts = { ...own, environment: environments.environment, state: journal, deadline: noDeadline }
    const machine =
      this.overridden?.machine ?? new Machine({ ...parts, checkIntervals: this.checkIntervals, keepsLogs: false })
    machine.rules = own.rules
    machine.precompiles = own.precompiles
    this.overridden = { machine, journal }
    overrideAccounts(machine, journal, accounts)
    return { ...below, machine, journal, rules, header, blobBaseFee, ...environments }
  }
}

/** The block as calls with fees and calls without fees see it. */
export function environmentsOf(header: Header, rules: Rules, outside: Parameters<typeof blockEnvironment>[2]) {
  return {
    environment: blockEnvironment(header, rules, outside),
    freeEnvironment: blockEnvironment({ ...header, baseFeePerGas: 0n }, rules, outside),
  }
}

/** The block of a call. */
export interface CallPlace extends TransactionContext {
  /** Set by an override. */
  blobBaseFee?: bigint
  /** For calls without fee fields: BASEFEE is 0, as in geth, so that contracts see consistent prices. */
  freeEnvironment: Environment
}

/** Runs a call on the journal and leaves its changes there. */
export function runContractCall(
  place: CallPlace,
  request: CallRequest,
  { gasLimit, memoryBytes, deadline, isTransaction = false, recordsAccesses = false }: RunTerms,
): CallOutcome {
  const { machine, journal, header, rules } = place
  journal.meter.begin(memoryBytes)
  const { from = ZERO_ADDRESS, to, value = 0n, data: input = EMPTY_BYTES, accessList, authorizationList } = request
  const { chainId, blobBaseFee } = place
  const planned = { request, gasLimit, header, rules, chainId, blobBaseFee }
  const terms = requireCallTerms(planned, (address) => journal.account(address).balance)
  if (isTransaction) requireTransactionGas(gasLimit, terms, rules)
  machine.deadline = deadline
  const environment = replaceTransaction(terms.gasPrice === 0n ? place.freeEnvironment : place.environment, {
    origin: from,
    gasPrice: terms.gasPrice,
    blobVersionedHashes: request.blobVersionedHashes ?? [],
  })
  machine.environment = terms.freeBlobs ? withFreeBlobs(environment) : environment
  if (terms.upfrontWei > 0n) {
    const sender = journal.account(from)
    journal.setBalance(sender, sender.balance - terms.upfrontWei)
  }
  warmUp(place, { from, to, accessList })
  const message = { from, to, value, input, authorizationList }
  const recorder = recordsAccesses ? journal.recordCallAccesses() : undefined
  const { nonce } = journal.account(from)
  const { status, failure, output, gasLeft } = executeMessage(place, message, {
    gasLimit,
    intrinsic: terms.intrinsic,
    isUncapped: !isTransaction,
  })
  const accesses = recorder?.accesses((account) => journal.wasCreated(account))
  const warm = recorder && warmAtStart(place, message, nonce).map(({ address }) => address)
  return { status, failure, output, accesses, warm, ...settleGas(place, { gasLimit, gasLeft, floor: terms.floor }) }
}
