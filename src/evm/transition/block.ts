import { familyOf } from '../../chain/eth/families/families.js'
import { blobBaseFeeOf, GAS_PER_BLOB } from '../../chain/eth/fees.js'
import type { ChainSpec, Rules } from '../../chain/eth/forks/rules.js'
import type { Block, Header, Log, Receipt, Transaction } from '../../chain/eth/types.js'
import type { ForkTables } from '../interpreter/forkTables.js'
import type { Hooks } from '../interpreter/hooks.js'
import type { Journal } from '../interpreter/journal/journal.js'
import type { Machine } from '../interpreter/machine.js'
import type { AppliedTransaction } from './appliedTransaction.js'
import { endBlock } from './blockEnd.js'
import type { BlockOutcome, StateRootHasher } from './blockOutcome.js'
import { type BlockGas, TransactionRefused } from './checkTransaction.js'
import { DAO_ACCOUNTS, DAO_REFUND_CONTRACT } from './daoFork.js'
import { beginFamilyBlock, executionHeader, openFamilyBlock } from './familyBlock.js'
import { callSystemBefore, requestsOf } from './systemCalls.js'
import { TraceRecorder } from './traceRecorder.js'
import { applyTransaction, blockEnvironment } from './transaction.js'
import type { TransactionContext } from './transactionContext.js'

/** Context of block execution. The machine's rules are those of the block. */
export interface BlockContext {
  spec: ChainSpec
  machine: Machine
  journal: Journal
  /** Hash of an earlier block: 32 bytes. */
  blockHash(number: number): Uint8Array
  /** The bloom filter of logs: 256 bytes. */
  bloomOf(logs: readonly Log[]): Uint8Array
  /** State roots over the accounts that the journal has touched: requested after each transaction before Byzantium, and
   *  at the end. */
  roots: StateRootHasher
  /** Collects the addresses that the calls of each transaction reach. */
  withCallees?: boolean
  /** Collects the calls of each transaction. */
  withTraces?: boolean
  /** Records accesses before EIP-7928 too. */
  recordsAccesses?: boolean
  /** Creates the error for a transaction that cannot be part of the block. */
  refuse(index: number, transaction: Transaction, refused: TransactionRefused): Error
}

/** The state transition of a block (Yellow Paper, 4.3 and 11; EIP-4788, 2935, 4895, 7685, 7928, 8037). Its result stays
 *  in the journal. @throws SystemCallFailed, and the error of `refuse`; the journal must then be discarded. */
export function runBlock(
  context: BlockContext,
  block: Block,
  { rules, tables }: { rules: Rules; tables: ForkTables },
): BlockOutcome {
  const { spec, machine, journal } = context
  const header = executionHeader(spec, block.header)
  const { chainId } = spec
  machine.rules = tables.rules
  machine.precompiles = tables.precompiles
  const environment = blockEnvironment(header, rules, { chainId, blockHash: context.blockHash })
  const family = openFamilyBlock(spec, block.header, journal)
  const inner: TransactionContext = { machine, journal, rules, header, chainId, environment, family }
  if (isDaoFork(spec, header)) moveDaoBalances(journal)
  const recorder = journal.recordAccesses(rules.eip7928 || context.recordsAccesses === true)
  if (family) beginFamilyBlock(family, journal)
  callSystemBefore(inner, header, rules)
  const receipts: Receipt[] = []
  const transactionGas: BlockGas[] = []
  const used: BlockGas = { execution: 0n, state: 0n }
  let gasUsed = 0n
  const callees: Uint8Array[][] = []
  const traces = context.withTraces ? new TraceRecorder(machine) : undefined
  for (const [index, transaction] of block.transactions.entries()) {
    if (recorder) recorder.index = index + 1
    machine.callees = context.withCallees ? new Set() : undefined
    const applied = attempt(
      () => withHooks(machine, traces, () => applyTransaction(inner, transaction, used)),
      (refused) => context.refuse(index, transaction, refused),
    )
    if (machine.callees) callees.push(Array.from(machine.callees, ({ address }) => address))
    gasUsed += applied.gasUsed
    transactionGas.push(applied.blockGas)
    used.execution += applied.blockGas.execution
    used.state += applied.blockGas.state
    const root = rules.eip658 ? undefined : context.roots.now()
    const logsBloom = context.bloomOf(applied.logs)
    receipts.push(receiptOf(transaction, applied, { header, rules, gasUsed, root, logsBloom }))
  }
  machine.callees = undefined
  if (recorder) recorder.index = block.transactions.length + 1
  endBlock(inner, block, spec)
  let requestsHash: Uint8Array | undefined
  if (rules.eip7685) {
    requestsHash = requestsOf(
      inner,
      receipts.flatMap((receipt) => receipt.logs),
      spec,
    )
  }
  const withdrawalsAccount = familyOf(spec).execution?.withdrawalsAccount?.(spec, header)
  if (withdrawalsAccount) {
    const account = journal.account(withdrawalsAccount)
    journal.recorder?.account(account)
  }
  const stateRoot = context.roots.atEnd()
  return {
    receipts,
    gasUsed: used.state > used.execution ? used.state : used.execution,
    transactionGas,
    stateRoot,
    requestsHash,
    withdrawalsRoot: withdrawalsAccount && stateRoot && context.roots.storageRoot?.(withdrawalsAccount),
    blockAccessList: rules.eip7928 ? recorder?.list() : undefined,
    callees: context.withCallees ? callees : undefined,
    traces: traces?.transactions,
  }
}

/** Runs a transaction; system calls around it are not reported. */
function withHooks<T>(machine: Machine, hooks: Hooks | undefined, run: () => T): T {
  if (hooks === undefined) return run()
  machine.hooks = hooks
  try {
    return run()
  } finally {
    machine.hooks = undefined
  }
}

function attempt<T>(run: () => T, refuse: (refused: TransactionRefused) => Error): T {
  try {
    return run()
  } catch (error) {
    throw error instanceof TransactionRefused ? refuse(error) : error
  }
}

interface ReceiptParts {
  header: Header
  rules: Rules
  /** Cumulative, including this transaction. */
  gasUsed: bigint
  root: Uint8Array | undefined
  logsBloom: Uint8Array
}

/** The receipt of an executed transaction. */
export function receiptOf(
  transaction: Transaction,
  applied: AppliedTransaction,
  { header, rules, gasUsed, root, logsBloom }: ReceiptParts,
): Receipt {
  const { logs, succeeded, effectiveGasPrice } = applied
  const blobs = transaction.blobVersionedHashes
  return {
    type: transaction.type,
    ...(root === undefined ? { status: succeeded ? 1 : 0 } : { root }),
    cumulativeGasUsed: gasUsed,
    logsBloom,
    logs,
    gasUsed: applied.gasUsed,
    effectiveGasPrice,
    contractAddress: applied.contractAddress,
    ...(applied.reportedNonce === undefined ? {} : { depositNonce: applied.reportedNonce }),
    blobGasUsed: blobs && BigInt(blobs.length) * GAS_PER_BLOB,
    blobGasPrice: blobs && blobBaseFeeOf(header.excessBlobGas!, rules),
  }
}

/** True for the block that carries out the DAO fork (EIP-779). */
export function isDaoFork({ daoForkSupport, activations }: ChainSpec, { number }: Header): boolean {
  return Boolean(daoForkSupport) && activations.some(({ fork, block }) => fork === 'dao' && block === number)
}

/** EIP-779: the balances of the DAO and its children go to the refund contract. */
export function moveDaoBalances(journal: Journal): void {
  const accountOf = (hex: string) => journal.account(new Uint8Array(Buffer.from(hex, 'hex')))
  const refund = accountOf(DAO_REFUND_CONTRACT)
  for (const hex of DAO_ACCOUNTS) {
    const account = accountOf(hex)
    const { balance } = account
    journal.setBalance(account, 0n)
    journal.setBalance(refund, refund.balance + balance)
  }
  journal.endTransaction(false)
}
