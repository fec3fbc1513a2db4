import { RLP } from '@ethereumjs/rlp'
import { keccak256, recoverPublicKey } from '../../chain/crypto.js'
import { SECP256K1_N } from '../../chain/eth/transaction.js'
import { MAX_NONCE } from '../../chain/eth/transactionLimits.js'
import type { Authorization } from '../../chain/eth/types.js'
import { bigIntToBytes, concatBytes } from '../../lib/bytes.js'
import { createCode, delegationTo, EMPTY_CODE } from '../interpreter/code.js'
import type { EvmState } from '../interpreter/state.js'

const MAGIC = Uint8Array.of(0x05)
// PER_EMPTY_ACCOUNT_COST - PER_AUTH_BASE_COST: refunded if the account exists already.
const EXISTING_ACCOUNT_REFUND = 12_500

/** Applies the authorizations whose chain, signature and nonce are valid, and skips the others (EIP-7702, behavior). */
export function applyAuthorizations(state: EvmState, list: readonly Authorization[], chainId: bigint): void {
  for (const authorization of list) applyAuthorization(state, authorization, chainId)
}

function applyAuthorization(state: EvmState, authorization: Authorization, chainId: bigint): void {
  if (authorization.chainId !== 0n && authorization.chainId !== chainId) return
  if (authorization.nonce >= MAX_NONCE) return
  const address = recoverAuthority(authorization)
  if (address === undefined) return
  const authority = state.account(address)
  state.warmAccount(authority)
  const code = state.code(authority)
  if (code.length > 0 && code.delegation === undefined) return
  if (authority.nonce !== authorization.nonce) return
  if (authority.exists) state.addRefund(EXISTING_ACCOUNT_REFUND)
  const clears = authorization.address.every((byte) => byte === 0)
  state.setCode(authority, clears ? EMPTY_CODE : createCode(delegationTo(authorization.address)))
  state.setNonce(authority, authorization.nonce + 1n)
}

/** The address of the signer, 20 bytes; undefined if the signature is invalid. */
function recoverAuthority({ chainId, address, nonce, yParity, r, s }: Authorization): Uint8Array | undefined {
  if (yParity > 1n || r === 0n || r >= SECP256K1_N || s === 0n || s > SECP256K1_N / 2n) return undefined
  const hash = keccak256(concatBytes(MAGIC, RLP.encode([chainId, address, nonce])))
  try {
    return keccak256(recoverPublicKey(hash, Number(yParity), bigIntToBytes(r), bigIntToBytes(s))).slice(12)
  } catch {
    return undefined
  }
}
