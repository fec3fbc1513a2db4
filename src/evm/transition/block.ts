import { blobBaseFee, GAS_PER_BLOB } from '../../chain/eth/fees.js'
import type { ChainSpec, Rules } from '../../chain/eth/forks.js'
import type { Block, Header, Log, Receipt, Transaction } from '../../chain/eth/types.js'
import type { ForkTables } from '../interpreter/forkTables.js'
import type { Journal } from '../interpreter/journal/journal.js'
import type { Machine } from '../interpreter/machine.js'
import type { BlockOutcome, StateRootHasher } from './blockOutcome.js'
import type { BlockGas } from './checkTransaction.js'
import { DAO_ACCOUNTS, DAO_REFUND_CONTRACT } from './daoFork.js'
import { callSystemBefore, requestsOf } from './systemCalls.js'
import { type AppliedTransaction, applyTransaction, blockEnvironment, TransactionRefused } from './transaction.js'
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
  /** Roots over the accounts the journal has touched: requested after each transaction before Byzantium, and at the end. */
  roots: StateRootHasher
  /** Creates the error for a transaction that cannot be part of the block. */
  refuse(index: number, transaction: Transaction, refused: TransactionRefused): Error
}

/** The state transition of a block (Yellow Paper, 4.3 and 11; EIP-4788, 2935, 4895, 7685, 7928, 8037). Its result stays in the
 *  journal. @throws SystemCallFailed, and the error of `refuse`; the journal must then be discarded. */
export function runBlock(
  context: BlockContext,
  block: Block,
  { rules, tables }: { rules: Rules; tables: ForkTables },
): BlockOutcome {
  const { spec, machine, journal } = context
  const { header } = block
  const { chainId } = spec
  machine.rules = tables.rules
  machine.precompiles = tables.precompiles
  const environment = blockEnvironment(header, rules, { chainId, blockHash: context.blockHash })
  const inner: TransactionContext = { machine, journal, rules, header, chainId, environment }
  if (spec.daoForkSupport && spec.activations.some(({ fork, block: at }) => fork === 'dao' && at === header.number)) {
    moveDaoBalances(journal)
  }
  const recorder = journal.recordAccesses(rules.has('amsterdam'))
  callSystemBefore(inner, header, rules)
  const receipts: Receipt[] = []
  const transactionGas: BlockGas[] = []
  const used: BlockGas = { execution: 0n, state: 0n }
  let gasUsed = 0n
  for (const [index, transaction] of block.transactions.entries()) {
    if (recorder) recorder.index = index + 1
    const applied = attempt(
      () => applyTransaction(inner, transaction, used),
      (refused) => context.refuse(index, transaction, refused),
    )
    gasUsed += applied.gasUsed
    transactionGas.push(applied.blockGas)
    used.execution += applied.blockGas.execution
    used.state += applied.blockGas.state
    const root = rules.has('byzantium') ? undefined : context.roots.now()
    const logsBloom = context.bloomOf(applied.logs)
    receipts.push(receiptOf(transaction, applied, { header, rules, gasUsed, root, logsBloom }))
  }
  if (recorder) recorder.index = block.transactions.length + 1
  for (const { address, amountGwei } of block.withdrawals ?? []) credit(journal, address, amountGwei * 1_000_000_000n)
  // EIP-4895: zero withdrawals leave no empty account behind.
  journal.endTransaction(machine.rules.eip161)
  if (!rules.isProofOfStake && spec.ethash) payRewards(journal, block, rules)
  journal.endTransaction(false)
  let requestsHash: Uint8Array | undefined
  if (rules.has('prague')) {
    requestsHash = requestsOf(
      inner,
      receipts.flatMap((receipt) => receipt.logs),
      spec,
    )
  }
  return {
    receipts,
    gasUsed: used.state > used.execution ? used.state : used.execution,
    transactionGas,
    stateRoot: context.roots.atEnd(),
    requestsHash,
    blockAccessList: recorder?.list(),
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

function receiptOf(
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
    blobGasUsed: blobs && BigInt(blobs.length) * GAS_PER_BLOB,
    blobGasPrice: blobs && blobBaseFee(header.excessBlobGas!, rules),
  }
}

function credit(journal: Journal, address: Uint8Array, amountWei: bigint): void {
  const account = journal.account(address)
  journal.recorder?.account(account)
  journal.setBalance(account, account.balance + amountWei)
}

/** Miner and uncle rewards (Yellow Paper, 11.3; EIP-649, EIP-1234). */
function payRewards(journal: Journal, { header, uncles }: Block, rules: Rules): void {
  const ether = 1_000_000_000_000_000_000n
  const reward = (rules.has('constantinople') ? 2n : rules.has('byzantium') ? 3n : 5n) * ether
  for (const uncle of uncles) {
    credit(journal, uncle.miner, (reward * BigInt(8 - (header.number - uncle.number))) / 8n)
  }
  credit(journal, header.miner, reward + (reward / 32n) * BigInt(uncles.length))
}

/** EIP-779: the balances of the DAO and its children go to the refund contract. */
function moveDaoBalances(journal: Journal): void {
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
