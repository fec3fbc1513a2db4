import { createAddress } from '../../chain/eth/transaction.js'
import type { Transaction } from '../../chain/eth/types.js'
import { delegateOf } from '../interpreter/delegate.js'
import type { Account } from '../interpreter/state.js'
import { authorityOf } from './authorizations.js'
import type { TransactionContext } from './transactionContext.js'

/** Accounts that a transaction warms before it applies authorizations, except those of its access list: sender and
 *  recipient, since Shanghai the fee recipient (EIP-2929, 3651). */
export function initiallyWarm(
  { machine, header }: TransactionContext,
  { from, to }: Pick<Transaction, 'from' | 'to'>,
): Account[] {
  const { rules, state } = machine
  const warm = [state.account(from)]
  if (to) warm.push(state.account(to))
  if (rules.warmCoinbase) warm.push(state.account(header.miner))
  return warm
}

/** Accounts that are warm when the first frame of a transaction begins, except precompiles and those of its access
 *  list: the initial ones, the new contract, and those of set-code authorizations and delegations (EIP-7702). `nonce`
 *  is the sender's before the transaction; the state is the one after it. */
export function warmAtStart(
  context: TransactionContext,
  { from, to, authorizationList = [] }: Pick<Transaction, 'from' | 'to' | 'authorizationList'>,
  nonce: bigint,
): Account[] {
  const { machine, chainId } = context
  const { rules, state } = machine
  const warm = initiallyWarm(context, { from, to })
  const called = state.account(to ?? createAddress(from, nonce))
  const authorities = authorizationList.flatMap((each) => authorityOf(each, chainId) ?? [])
  warm.push(called, ...authorities.map((address) => state.account(address)))
  const delegate = to === undefined || !rules.delegations ? undefined : delegateOf(state, called)
  if (delegate !== undefined) warm.push(delegate)
  return warm
}
