import { recoverAuthority } from '../../chain/eth/delegation.js'
import { createAddress } from '../../chain/eth/transaction.js'
import { keyOfBytes } from '../../lib/bytes.js'
import { isStateKnown } from '../../store/state/missingState.js'
import type { Execution } from './execution.js'
import { recordState, type StateRecorder } from './stateRecorder.js'

/** Creates a recorder that has noted the accounts that change without an instruction: sender, callee or new contract,
 *  fee recipient, and signers of authorizations (EIP-7702). Call it before the execution runs. */
export function recordExecutionState({ journal, header, transaction }: Execution): StateRecorder {
  const recorder = recordState(journal)
  const { from, to, authorizationList = [] } = transaction
  const authorities = authorizationList.flatMap((each) => recoverAuthority(each) ?? [])
  const called = to ?? createAddress(from, journal.account(from).nonce)
  for (const address of [from, called, header.miner, ...authorities]) {
    // Sparse state: an account that is not known is not changed, or the execution throws MissingState when it reads it.
    isStateKnown(() => recorder.touch(address))
  }
  return recorder
}

/** Creates a recorder of what geth's prestateTracer returns: also the delegate of the callee (EIP-7702), and signers of
 *  invalid authorizations. Call it before the execution runs. `diffMode` says that only changes are wanted. */
export function recordPrestate(
  { journal, machine, header, transaction, tracedAccounts = [] }: Execution,
  { diffMode = false }: { readonly diffMode?: boolean } = {},
): StateRecorder {
  const recorder = recordState(journal)
  const { touch, touched } = recorder
  const { from, to } = transaction
  const created = to === undefined ? createAddress(from, journal.account(from).nonce) : undefined
  if (to !== undefined && machine.rules.delegations) {
    const { delegation } = journal.code(journal.account(to))
    if (delegation !== undefined) touch(delegation)
  }
  touch(from)
  touch(to ?? created!)
  touch(header.miner)
  for (const address of tracedAccounts) isStateKnown(() => touch(address))
  for (const authorization of transaction.authorizationList ?? []) {
    const authority = recoverAuthority(authorization)
    if (authority === undefined) continue
    // Sparse state: the signer of an invalid authorization is not read, and does not change.
    if (diffMode) isStateKnown(() => touch(authority))
    else touch(authority)
  }
  if (created !== undefined) touched.get(keyOfBytes(created))!.isCreated = true
  return recorder
}
