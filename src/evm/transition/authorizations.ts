import { delegationTo, recoverAuthority } from '../../chain/eth/delegation.js'
import { MAX_NONCE } from '../../chain/eth/transactionLimits.js'
import type { Authorization } from '../../chain/eth/types.js'
import { createCode, EMPTY_CODE } from '../interpreter/code.js'
import type { Account, EvmState } from '../interpreter/state.js'

// PER_EMPTY_ACCOUNT_COST - PER_AUTH_BASE_COST: refunded if the account exists already.
const EXISTING_ACCOUNT_REFUND = 12_500

/** Applies the authorizations whose chain, signature and nonce are valid, and skips the others (EIP-7702, behavior). */
export function applyAuthorizations(state: EvmState, list: readonly Authorization[], chainId: bigint): void {
  for (const authorization of list) applyAuthorization(state, authorization, chainId)
}

function applyAuthorization(state: EvmState, authorization: Authorization, chainId: bigint): void {
  const authority = findAuthority(state, authorization, chainId)
  if (authority === undefined) return
  if (authority.exists) state.addRefund(EXISTING_ACCOUNT_REFUND)
  delegate(state, authority, authorization)
}

/** Returns and warms the account of a valid authorization; undefined if the authorization must be skipped. */
export function findAuthority(state: EvmState, authorization: Authorization, chainId: bigint): Account | undefined {
  const address = authorityOf(authorization, chainId)
  if (address === undefined) return undefined
  const authority = state.account(address)
  state.warmAccount(authority)
  state.recorder?.account(authority)
  const code = state.code(authority)
  if (code.length > 0 && code.delegation === undefined) return undefined
  return authority.nonce === authorization.nonce ? authority : undefined
}

/** True if the authorization removes a delegation. */
export function clearsDelegation({ address }: Authorization): boolean {
  return address.every((byte) => byte === 0)
}

/** Sets or clears the delegation of an account. */
export function delegate(state: EvmState, authority: Account, authorization: Authorization): void {
  const code = clearsDelegation(authorization) ? EMPTY_CODE : createCode(delegationTo(authorization.address))
  state.setCode(authority, code)
  state.setNonce(authority, authorization.nonce + 1n)
}

/** Returns the address of the signer, 20 bytes, which a transaction warms; undefined if the authorization is for
 *  another chain or invalid in any state. */
export function authorityOf(authorization: Authorization, chainId: bigint): Uint8Array | undefined {
  if (authorization.chainId !== 0n && authorization.chainId !== chainId) return undefined
  return authorization.nonce >= MAX_NONCE ? undefined : recoverAuthority(authorization)
}
