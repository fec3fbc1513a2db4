import { familyOf } from '../../chain/eth/families/families.js'
import type { ClosingCall, Payment } from '../../chain/eth/families/family.js'
import type { ChainSpec, Rules } from '../../chain/eth/forks/rules.js'
import type { Block, Header } from '../../chain/eth/types.js'
import { messageOf } from '../../lib/errors.js'
import { formatData } from '../../lib/hex.js'
import type { Journal } from '../interpreter/journal/journal.js'
import { intrinsicGas } from './intrinsicGas.js'
import { SYSTEM_ADDRESS, SystemCallFailed } from './system.js'
import { callSystemContract } from './systemCalls.js'
import type { TransactionContext } from './transactionContext.js'

/** The parts of a block that change balances after its transactions. */
export type EndedBlock = Pick<Block, 'header' | 'uncles' | 'withdrawals'>

/** Changes the state after the transactions of a block and before requests are read: withdrawals (EIP-4895) and
 *  rewards, or the system calls that the chain's family has instead. Returns what these calls added to balances, in
 *  order. @throws SystemCallFailed */
export function endBlock(context: TransactionContext, block: EndedBlock, spec: ChainSpec): readonly Payment[] {
  const { journal, machine, header, rules } = context
  const calls = familyOf(spec).execution?.closingCalls?.(spec, block)
  if (calls !== undefined) return calls.flatMap((call) => runClosingCall(context, call))
  for (const { address, amountGwei } of block.withdrawals ?? []) credit(journal, address, amountGwei * 1_000_000_000n)
  // EIP-4895: zero withdrawals leave no empty account behind.
  journal.endTransaction(machine.rules.eip161)
  if (hasRewards(rules, spec)) {
    for (const { author, wei } of rewardsOf(header, block.uncles, rules, spec)) credit(journal, author, wei)
  }
  journal.endTransaction(false)
  return []
}

/** Returns what the call added to balances. Without code at its address it does nothing. */
function runClosingCall(
  context: TransactionContext,
  { purpose, address, input, gasLimit, payments }: ClosingCall,
): readonly Payment[] {
  const { journal, machine, rules } = context
  const fail = (problem: string) => new SystemCallFailed(`${purpose}, contract ${formatData(address)}: ${problem}`)
  const intrinsic = intrinsicGas({ from: SYSTEM_ADDRESS, to: address, value: 0n, data: input }, rules).gas
  if (intrinsic > gasLimit) throw fail(`its input needs ${intrinsic} gas, at most ${gasLimit} are possible`)
  const outcome = callSystemContract(context, address, { input, gas: gasLimit - intrinsic })
  if (outcome === undefined) return []
  if (outcome.failure !== undefined) throw fail(outcome.failure)
  if (payments === undefined) return []
  const paid = attempt(() => payments(outcome.output), fail)
  for (const payment of paid) {
    const { balance } = journal.account(payment.address)
    if (balance + payment.wei > MAX_BALANCE) throw fail(`a balance above 2^256 - 1: ${formatData(payment.address)}`)
    credit(journal, payment.address, payment.wei)
  }
  journal.endTransaction(machine.rules.eip161)
  return paid
}

const MAX_BALANCE = 2n ** 256n - 1n

function attempt<T>(run: () => T, fail: (problem: string) => Error): T {
  try {
    return run()
  } catch (error) {
    throw fail(messageOf(error))
  }
}

/** Adds to the balance of an account. */
function credit(journal: Journal, address: Uint8Array, amountWei: bigint): void {
  const account = journal.account(address)
  journal.recorder?.account(account)
  journal.setBalance(account, account.balance + amountWei)
}

/** A reward of proof of work, or of the chain's family. */
export interface BlockReward {
  readonly kind: 'block' | 'uncle'
  readonly author: Uint8Array // 20
  readonly wei: bigint
}

/** Rewards of the block and of its uncles, in their order (Yellow Paper, 11.3; EIP-649, EIP-1234), or those of the
 *  chain's family. */
export function rewardsOf(header: Header, uncles: readonly Header[], rules: Rules, spec: ChainSpec): BlockReward[] {
  const { execution } = familyOf(spec)
  if (execution?.reward !== undefined) {
    const reward = execution.reward(spec, header)
    return reward === undefined ? [] : [{ kind: 'block', author: reward.address, wei: reward.wei }]
  }
  const ether = 1_000_000_000_000_000_000n
  const reward = rules.blockReward * ether
  const forUncles = uncles.map(({ miner, number }) => ({
    kind: 'uncle' as const,
    author: miner,
    wei: (reward * BigInt(8 - (header.number - number))) / 8n,
  }))
  return [{ kind: 'block', author: header.miner, wei: reward + (reward / 32n) * BigInt(uncles.length) }, ...forUncles]
}

/** True if blocks under these rules may have rewards. */
export function hasRewards({ isProofOfStake }: Rules, spec: ChainSpec): boolean {
  return familyOf(spec).execution?.reward !== undefined || (!isProofOfStake && spec.ethash)
}
