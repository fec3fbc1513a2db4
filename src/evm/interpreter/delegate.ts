import type { Account, EvmState } from './state.js'

/** The account whose code runs for a delegating account (EIP-7702); undefined if it does not delegate. */
export function delegateOf(state: EvmState, account: Account): Account | undefined {
  const { delegation } = state.code(account)
  return delegation === undefined ? undefined : state.account(delegation)
}
