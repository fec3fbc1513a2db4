import type { Payment } from '../../chain/eth/families/family.js'
import type { Rules } from '../../chain/eth/forks/rules.js'
import type { Transaction } from '../../chain/eth/types.js'
import { equalBytes } from '../../lib/bytes.js'
import type { Deadline } from '../../lib/deadline.js'
import { formatData } from '../../lib/hex.js'
import type { CommitWatch } from '../../store/commitWatch.js'
import type { Database } from '../../store/database.js'
import { hasStateAfter, hasStateBefore, listedAround } from '../../store/rows/coverage.js'
import type { ChainReader, StoredBlock } from '../../store/rows/types.js'
import { createStateReader, type StateReader } from '../../store/state/stateReader.js'
import { type CallLimits, clampGas } from '../calls/callContext.js'
import type { CallRequest } from '../calls/callRequest.js'
import type { CallOverrides } from '../calls/overrides.js'
import { CallFailed, StateUnavailable } from '../errors.js'
import { createForkTables } from '../interpreter/allPrecompiles.js'
import { type CodeObjects, createCodeObjects } from '../interpreter/code.js'
import type { ForkTables } from '../interpreter/forkTables.js'
import { Journal } from '../interpreter/journal/journal.js'
import { Machine } from '../interpreter/machine.js'
import { loadKzgVerifier } from '../interpreter/precompiles/kzg.js'
import { createReplayState } from '../state/replayState.js'
import { createCodeCache, createStateProviders, type StateProviders } from '../state/stateProvider.js'
import { isDaoFork, moveDaoBalances } from '../transition/block.js'
import { endBlock } from '../transition/blockEnd.js'
import { requireHash } from '../transition/blockExecutor.js'
import { beginFamilyBlock, executionHeader, openFamilyBlock } from '../transition/familyBlock.js'
import { callSystemBefore } from '../transition/systemCalls.js'
import { applyTransaction, blockEnvironment, runTransaction } from '../transition/transaction.js'
import type { TransactionContext } from '../transition/transactionContext.js'
import { callExecution, overridePlace } from './callExecution.js'
import type { Execution } from './execution.js'

/** A transaction of a block. */
export interface BlockExecution extends Execution {
  readonly block: StoredBlock
  readonly index: number
  readonly transaction: Transaction
}

/** Transactions of a block, `first` and `last` inclusive; all by default. */
export interface ReplayRange {
  readonly first?: number
  readonly last?: number
  readonly deadline: Deadline
  /** Memory limit of one transaction, including its recording. */
  readonly memoryBytes: number
  /** Transactions of a block that may be absent from the database. Default: those of the stored block. */
  readonly transactions?: readonly Transaction[]
  /** True to make the system calls after all transactions too. Default: false. */
  readonly isEnded?: boolean
}

/** A call as an execution; `isTransaction` checks it as a block transaction, except for the nonce. */
export type ExecutionOfCall = (request: CallRequest, isTransaction?: boolean) => Execution

/** Where and how calls are traced. */
export interface TracedCallTerms {
  readonly transactionIndex?: number
  readonly overrides?: CallOverrides
  readonly limits: Pick<CallLimits, 'gasCapPercent' | 'maxCallGas' | 'callMemoryBytes'>
  readonly deadline: Deadline
}

const CODE_BYTES = 32 * 2 ** 20

/** Dependencies of block re-execution. */
export interface ReplayParts {
  chain: ChainReader
  reader: StateReader
  watch: CommitWatch
  tables(rules: Rules): ForkTables
}

/** Creates a trace service over an open database. */
export async function loadTraceService(
  db: Database,
  { chain, watch }: { chain: ChainReader; watch: CommitWatch },
): Promise<TraceService> {
  const tables = createForkTables(await loadKzgVerifier())
  return new TraceService({ chain, watch, reader: createStateReader(db), tables })
}

/** Executes stored blocks again, on the state of their parents. */
export class TraceService {
  private readonly chain: ChainReader
  private readonly watch: CommitWatch
  private readonly tables: (rules: Rules) => ForkTables
  private readonly codeObjects: CodeObjects
  private readonly providers: StateProviders
  private readonly blockHash = (number: number) => requireHash((at) => this.chain.ancestorHash(at), number)

  constructor({ chain, reader, watch, tables }: ReplayParts) {
    this.chain = chain
    this.watch = watch
    this.tables = tables
    const codes = createCodeCache(reader, CODE_BYTES)
    this.codeObjects = createCodeObjects((hash) => reader.codeByHash(hash), CODE_BYTES)
    this.providers = createStateProviders(reader, { codes })
  }

  /** Executes the transactions of the block up to index `last`, and passes those from index `first` on to `visit`,
   *  which runs them. Returns what system calls after them added to balances, in order. @throws StateUnavailable if the
   *  state of its parent is not stored; DeadlineExceeded; TransactionRefused for transactions that are not of a stored
   *  block */
  replay(block: StoredBlock, range: ReplayRange, visit: (execution: BlockExecution) => void): readonly Payment[] {
    const { first = 0, last = block.txCount - 1, deadline, memoryBytes, transactions, isEnded = false } = range
    let payments: readonly Payment[] = []
    const end = (context: TransactionContext) => {
      context.journal.meter.begin(Infinity)
      const { header, withdrawals } = block
      return endBlock(context, { header, uncles: [], withdrawals }, this.chain.spec())
    }
    this.inSnapshot(() => {
      if (transactions === undefined) this.requireCanonical(block.header.number, block.hash)
      // What the block reads may not be known, and a trace is sent in parts while it runs.
      if (listedAround(this.chain.coverage() ?? {}, block.header.number)) {
        const context = this.openAt(block, last + 1, deadline)
        if (isEnded) end(context)
      }
      const context = this.open(block, deadline)
      const used = { execution: 0n, state: 0n, logs: 0 }
      for (const [index, transaction] of (transactions ?? this.chain.transactions(block)).entries()) {
        if (index > last) return
        const execution = { ...executionOf(context, transaction, used), block, index, transaction }
        context.journal.meter.begin(index < first ? Infinity : memoryBytes)
        if (index < first) execution.run()
        else visit(execution)
      }
      if (isEnded) payments = end(context)
    })
    return payments
  }

  /** Returns what system calls after the transactions of a block add to balances, in order. @throws as `replay` */
  payments(block: StoredBlock, limits: Pick<ReplayRange, 'deadline' | 'memoryBytes'>): readonly Payment[] {
    return this.replay(block, { ...limits, isEnded: true }, (execution) => execution.run())
  }

  /** Passes the calls to `visit`, which runs them in sequence: on the state after the block, or before its transaction
   *  `transactionIndex`. @throws StateUnavailable; CallFailed for invalid overrides or an index beyond the block */
  calls(
    block: StoredBlock,
    { transactionIndex, overrides = {}, limits, deadline }: TracedCallTerms,
    visit: (executionOf: ExecutionOfCall) => void,
  ): void {
    this.inSnapshot(() => {
      const context =
        transactionIndex === undefined
          ? this.openAfter(block, deadline)
          : this.openBefore(block, transactionIndex, deadline)
      const place = overridePlace(context, { chain: this.chain, tables: this.tables }, overrides)
      visit((request, isTransaction) => {
        const gasLimit = clampGas(block.header.gasLimit, request.gas, limits)
        return callExecution(place, request, {
          gasLimit,
          memoryBytes: limits.callMemoryBytes,
          deadline,
          isTransaction,
        })
      })
    })
  }

  private requireCanonical(number: number, hash: Uint8Array): void {
    if (!equalBytes(this.blockHash(number), hash)) throw new StateUnavailable(number)
  }

  /** The context of a block's transactions, on the state of its parent after the system calls. */
  private open(block: StoredBlock, deadline: Deadline): TransactionContext {
    const spec = this.chain.spec()
    const header = executionHeader(spec, block.header)
    if (!hasStateBefore(this.chain.coverage(), header.number)) throw new StateUnavailable(header.number - 1)
    this.requireCanonical(header.number - 1, header.parentHash)
    const { chainId } = spec
    const rules = this.chain.rulesOf(block)
    const parent = this.providers.at(header.number - 1, header.parentHash)
    const journal = new Journal(createReplayState(parent, { blockNumber: header.number, rules }), this.codeObjects)
    const environment = blockEnvironment(header, rules, { chainId, blockHash: this.blockHash })
    const machine = new Machine({ ...this.tables(rules), environment, state: journal, deadline })
    const family = openFamilyBlock(spec, block.header, journal)
    const context = { machine, journal, rules, header, chainId, environment, family }
    if (isDaoFork(spec, header)) moveDaoBalances(journal)
    if (family) beginFamilyBlock(family, journal)
    callSystemBefore(context, header, rules)
    return context
  }

  /** The context of calls on the state after a block. */
  private openAfter(block: StoredBlock, deadline: Deadline): TransactionContext {
    const spec = this.chain.spec()
    const header = executionHeader(spec, block.header)
    if (!hasStateAfter(this.chain.coverage(), header.number)) throw new StateUnavailable(header.number)
    this.requireCanonical(header.number, block.hash)
    const { chainId } = spec
    const rules = this.chain.rulesOf(block)
    const journal = new Journal(this.providers.at(header.number, block.hash), this.codeObjects)
    const environment = blockEnvironment(header, rules, { chainId, blockHash: this.blockHash })
    const machine = new Machine({ ...this.tables(rules), environment, state: journal, deadline })
    return { machine, journal, rules, header, chainId, environment }
  }

  /** The context of calls before a transaction of the block. */
  private openBefore(block: StoredBlock, index: number, deadline: Deadline): TransactionContext {
    this.requireCanonical(block.header.number, block.hash)
    if (block.header.number === 0) throw new CallFailed('no transaction in genesis')
    // In a block without transactions, index 0 is the state after the system calls (geth).
    if (index > 0 && index >= block.txCount) {
      throw new CallFailed(`transaction index ${index} out of range for block ${formatData(block.hash)}`)
    }
    return this.openAt(block, index, deadline)
  }

  /** The context after the first `count` transactions of the block. */
  private openAt(block: StoredBlock, count: number, deadline: Deadline): TransactionContext {
    const context = this.open(block, deadline)
    const used = { execution: 0n, state: 0n, logs: 0 }
    for (const transaction of this.chain.transactions(block).slice(0, count))
      executionOf(context, transaction, used).run()
    return context
  }

  private inSnapshot(work: () => void): void {
    this.watch.withSnapshot(
      () => {
        this.watch.beforeRead() // may repeat the work, so before the first visit
        work()
      },
      { reads: true },
    )
  }
}

/** A transaction in that context. Its run adds its gas to `used`. */
function executionOf(
  context: TransactionContext,
  transaction: Transaction,
  used: { execution: bigint; state: bigint; logs: number },
): Execution {
  const { machine, journal, header, rules, chainId } = context
  return {
    machine,
    journal,
    header,
    rules,
    chainId,
    transaction,
    tracedAccounts: context.family?.tracedAccounts,
    logsBefore: used.logs,
    run(hooks) {
      machine.hooks = hooks
      try {
        const applied = applyTransaction(context, transaction, used)
        used.execution += applied.blockGas.execution
        used.state += applied.blockGas.state
        used.logs += applied.logs.length
        return applied
      } finally {
        machine.hooks = undefined
      }
    },
    tryOut() {
      const before = journal.snapshot()
      const applied = runTransaction(context, transaction, used)
      journal.revert(before)
      return applied
    },
  }
}
