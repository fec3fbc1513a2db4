import type { EVMResult } from '@ethereumjs/evm'
import { Account, Address } from '@ethereumjs/util'
import { type RunTxResult, runTx } from '@ethereumjs/vm'
import { bloomOf } from '../../chain/eth/bloom.js'
import { blobBaseFeeOf } from '../../chain/eth/fees.js'
import type { ChainSpec, Rules } from '../../chain/eth/forks/rules.js'
import type { Genesis } from '../../chain/eth/genesis.js'
import { createAddress, effectiveGasPrice } from '../../chain/eth/transaction.js'
import type { Block, Header, Log, Receipt, Transaction } from '../../chain/eth/types.js'
import { messageOf } from '../../lib/errors.js'
import { InvalidTransaction } from '../errors.js'
import { createCodeCache, createNewestState } from '../state/stateProvider.js'
import {
  type BlockEngine,
  createExecutorOver,
  type ExecutedBlock,
  type Executor,
  type ExecutorParts,
} from '../transition/blockExecutor.js'
import type { StateRootHasher } from '../transition/blockOutcome.js'
import type { BlockGas } from '../transition/checkTransaction.js'
import { DAO_ACCOUNTS, DAO_REFUND_CONTRACT } from '../transition/daoFork.js'
import { checkTransaction } from './checkTransaction.js'
import { createMachines, createPackageBlock, type PackageBlock, type ReferenceMachine } from './machine.js'
import { Overlay } from './overlay.js'
import { createPackageTransaction } from './packageTransaction.js'
import { callBeforeTransactions, collectRequests } from './system.js'

/** Creates an executor with @ethereumjs/vm over the newest state. */
export function createReferenceExecutor({ spec, reader, root, blockHashes, cacheBytes }: ExecutorParts): Executor {
  const codes = createCodeCache(reader, cacheBytes / 4)
  const backing = createNewestState(reader, { codes, maxBytes: (cacheBytes * 3) / 4 })
  const overlay: Overlay = new Overlay(backing, () => root.update(overlay.takeTouched()))
  const machineFor = createMachines(spec, overlay, { blockHashes })
  const engine: BlockEngine = {
    putGenesis: (genesis) => putGenesis(overlay, genesis),
    run: async (block, rules, roots) => {
      const machine = await machineFor(rules)
      return executeBlock({ spec, rules, machine, overlay, block, roots })
    },
    takeTouched: () => overlay.takeTouched(),
    takeChanges: () => overlay.takeChanges(),
    clear: () => overlay.clear(),
  }
  return createExecutorOver(engine, backing, root)
}

async function putGenesis(overlay: Overlay, { accounts }: Genesis): Promise<void> {
  for (const { address, nonce, balance, code, storage } of accounts) {
    const at = new Address(address)
    await overlay.putAccount(at, new Account(nonce, balance))
    if (code.length > 0) await overlay.putCode(at, code)
    for (const { slot, value } of storage) await overlay.putStorage(at, slot, value)
  }
}

interface Job {
  spec: ChainSpec
  rules: Rules
  machine: ReferenceMachine
  overlay: Overlay
  block: Block
  roots: StateRootHasher
}

/** The state transition of a block (Yellow Paper, 4.3 and 11; EIP-4788, 2935, 4895, 7685). */
async function executeBlock(job: Job): Promise<ExecutedBlock> {
  const { spec, rules, machine, overlay, block } = job
  const { header } = block
  const packageBlock = createPackageBlock(machine.common, header, rules)
  const context = { machine, overlay, block: packageBlock }
  if (spec.daoForkSupport && spec.activations.some(({ fork, block: at }) => fork === 'dao' && at === header.number)) {
    await moveDaoBalances(overlay)
  }
  await callBeforeTransactions(context, header, rules)
  const receipts: Receipt[] = []
  const used: BlockGas = { execution: 0n, state: 0n }
  let gasUsedBefore = 0n
  for (const [index, transaction] of block.transactions.entries()) {
    const { receipt, blockGas } = await executeTransaction(job, packageBlock, {
      index,
      transaction,
      gasUsedBefore,
      used,
    })
    gasUsedBefore = receipt.cumulativeGasUsed
    used.execution += blockGas.execution
    used.state += blockGas.state
    receipts.push(receipt)
  }
  for (const { address, amountGwei } of block.withdrawals ?? []) {
    await credit(overlay, address, amountGwei * 1_000_000_000n, true)
  }
  if (!rules.isProofOfStake && spec.ethash) await payRewards(overlay, block, rules)
  let requestsHash: Uint8Array | undefined
  if (rules.eip7685) {
    const logs = receipts.flatMap((receipt) => receipt.logs)
    requestsHash = await collectRequests(context, logs, { rules, spec })
  }
  const gasUsed = used.state > used.execution ? used.state : used.execution
  return { receipts, gasUsed, stateRoot: job.roots.atEnd(), requestsHash }
}

interface TransactionJob {
  index: number
  transaction: Transaction
  gasUsedBefore: bigint
  used: BlockGas
}

async function executeTransaction(
  job: Job,
  packageBlock: PackageBlock,
  task: TransactionJob,
): Promise<{ receipt: Receipt; blockGas: BlockGas }> {
  const { machine, overlay, block, rules } = job
  const { index, transaction, gasUsedBefore, used } = task
  const broken = await checkTransaction(overlay, transaction, { header: block.header, rules, used })
  if (broken) throw new InvalidTransaction(index, transaction.hash, broken.rule, broken.detail)
  let result: RunTxResult
  try {
    result = await runTx(machine.vm, {
      tx: createPackageTransaction(machine, transaction),
      block: packageBlock,
      blockGasUsed: gasUsedBefore,
      skipHardForkValidation: true,
      skipBlockGasLimitValidation: true, // done by `checkTransaction`
    })
  } catch (cause) {
    const text = messageOf(cause)
    const rule = text.includes('INTRINSIC_GAS_TOO_LOW') ? 'intrinsic gas' : 'transaction'
    throw new InvalidTransaction(index, transaction.hash, rule, text, { cause })
  }
  const { totalGasSpent, txRegularGas = totalGasSpent, txStateGas = 0n } = result
  const blockGas = { execution: txRegularGas, state: txStateGas }
  return { receipt: toReceipt(transaction, result, block.header, rules), blockGas }
}

function toReceipt(transaction: Transaction, result: RunTxResult, header: Header, rules: Rules): Receipt {
  const logs = toLogs(result.execResult)
  const { cumulativeBlockGasUsed } = result.receipt
  const blob = transaction.type === 3
  return {
    type: transaction.type,
    ...(rules.eip658
      ? { status: result.execResult.exceptionError === undefined ? 1 : 0 }
      : { root: (result.receipt as { stateRoot: Uint8Array }).stateRoot }),
    cumulativeGasUsed: cumulativeBlockGasUsed,
    logsBloom: bloomOf(logs),
    logs,
    gasUsed: result.totalGasSpent,
    effectiveGasPrice: effectiveGasPrice(transaction, header.baseFeePerGas),
    contractAddress: transaction.to ? undefined : createAddress(transaction.from, transaction.nonce),
    blobGasUsed: blob ? result.blobGasUsed : undefined,
    blobGasPrice: blob ? blobBaseFeeOf(header.excessBlobGas!, rules) : undefined,
  }
}

/** The logs of an execution as `Log`. */
export function toLogs(result: EVMResult['execResult']): Log[] {
  return (result.logs ?? []).map(([address, topics, data]) => ({ address, topics, data }))
}

/** Adds to a balance. With `touch`, an account that stays empty is removed (EIP-158). */
async function credit(overlay: Overlay, address: Uint8Array, amountWei: bigint, touch: boolean): Promise<void> {
  const at = new Address(address)
  const account = (await overlay.getAccount(at)) ?? new Account()
  account.balance += amountWei
  if (touch && account.isEmpty()) await overlay.deleteAccount(at)
  else await overlay.putAccount(at, account)
}

/** Miner and uncle rewards (Yellow Paper, 11.3; EIP-649, EIP-1234). */
async function payRewards(overlay: Overlay, { header, uncles }: Block, rules: Rules): Promise<void> {
  const ether = 1_000_000_000_000_000_000n
  const reward = rules.blockReward * ether
  for (const uncle of uncles) {
    await credit(overlay, uncle.miner, (reward * BigInt(8 - (header.number - uncle.number))) / 8n, false)
  }
  await credit(overlay, header.miner, reward + (reward / 32n) * BigInt(uncles.length), false)
}

/** EIP-779: the balances of the DAO and its children go to the refund contract. */
async function moveDaoBalances(overlay: Overlay): Promise<void> {
  const addressOf = (hex: string) => new Address(new Uint8Array(Buffer.from(hex, 'hex')))
  const refund = addressOf(DAO_REFUND_CONTRACT)
  const refundAccount = (await overlay.getAccount(refund)) ?? new Account()
  for (const hex of DAO_ACCOUNTS) {
    const address = addressOf(hex)
    const account = (await overlay.getAccount(address)) ?? new Account()
    refundAccount.balance += account.balance
    account.balance = 0n
    await overlay.putAccount(address, account)
  }
  await overlay.putAccount(refund, refundAccount)
}
