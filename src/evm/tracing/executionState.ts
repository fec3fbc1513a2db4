import { recoverAuthority } from '../../chain/eth/delegation.js'
import { createAddress } from '../../chain/eth/transaction.js'
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
