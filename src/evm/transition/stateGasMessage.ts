import { CALL, CREATE } from '../../chain/eth/callOpcodes.js'
import { MAX_NONCE, MAX_TRANSACTION_GAS, nextNonce } from '../../chain/eth/transactionLimits.js'
import type { Authorization } from '../../chain/eth/types.js'
import { OUT_OF_GAS } from '../interpreter/failures.js'
import type { Frame } from '../interpreter/frame.js'
import type { EnteredCall } from '../interpreter/hooks.js'
import type { Machine } from '../interpreter/machine.js'
import { contractAddress } from '../interpreter/newAddress.js'
import { accessGas } from '../interpreter/opcodes/accounts.js'
import { NEW_ACCOUNT_STATE_GAS } from '../interpreter/rules.js'
import { createContract, type Outcome, runMessage } from '../interpreter/run.js'
import type { Account } from '../interpreter/state.js'
import { beginStateGas, chargeState, enterStateGas } from '../interpreter/stateGas.js'
import { clearsDelegation, delegate, findAuthority } from './authorizations.js'
import type { MessageGas, TransactionContext, TransactionMessage } from './transactionContext.js'

const ACCOUNT_WRITE_GAS = 9000 // EIP-8038
const DELEGATION_STATE_GAS = 35_190 // EIP-8037: 23 bytes
// No transaction can use up more; the excess is returned unused.
const MAX_RESERVOIR = 2n ** 52n

/** Runs a message as `executeMessage` does, by the rules of state gas (EIP-2780, EIP-8037): gas beyond what execution
 *  may use is the reservoir for state gas, and accounts and delegations that the transaction creates are paid before
 *  its first frame. The `gasLeft` of the result includes the reservoir. @throws DeadlineExceeded */
export function executeWithStateGas(
  context: TransactionContext,
  message: TransactionMessage,
  { gasLimit, intrinsic, isUncapped = false }: MessageGas,
): Outcome {
  const { machine, journal } = context
  const rest = gasLimit - intrinsic
  const most = isUncapped ? rest : MAX_TRANSACTION_GAS - intrinsic
  const forFrames = rest < most ? rest : most
  const reserved = rest - forFrames
  const beyond = reserved > MAX_RESERVOIR ? reserved - MAX_RESERVOIR : 0n
  const sender = journal.account(message.from)
  const frame = machine.frame(0, sender)
  beginStateGas(machine, frame, Number(reserved - beyond))
  const outcome =
    message.to === undefined
      ? createPaid(context, frame, message, Number(forFrames))
      : callPaid(context, frame, { ...message, to: message.to }, Number(forFrames))
  return { ...outcome, gasLeft: outcome.gasLeft + BigInt(machine.reservoir) + beyond }
}

/** Ends a message that lacks gas for the first charges. Only the sender's nonce has changed. */
function outOfGas(machine: Machine, frame: Frame, reservoir: number, message: EnteredCall): Outcome {
  beginStateGas(machine, frame, reservoir)
  const outcome: Outcome = { status: 'halt', failure: OUT_OF_GAS, output: new Uint8Array(0), gasLeft: 0n }
  machine.hooks?.enter?.(message)
  machine.hooks?.exit?.(outcome)
  return outcome
}

function createPaid(
  { machine, journal }: TransactionContext,
  frame: Frame,
  { from, value, input }: TransactionMessage,
  gas: number,
): Outcome {
  const sender = journal.account(from)
  const createdAddress = contractAddress(from, sender.nonce)
  const created = journal.account(createdAddress)
  journal.recorder?.created(created)
  const { reservoir } = machine
  const left = journal.isEmpty(created) ? chargeState(machine, frame, gas, NEW_ACCOUNT_STATE_GAS) : gas
  if (left < 0) {
    if (sender.nonce !== MAX_NONCE) journal.setNonce(sender, sender.nonce + 1n)
    const message = { opcode: CREATE, from, to: createdAddress, input, gas: BigInt(gas), value }
    return { ...outOfGas(machine, frame, reservoir, message), createdAddress }
  }
  return createContract(machine, { caller: from, value, gas: BigInt(left), initCode: input })
}

function callPaid(
  context: TransactionContext,
  frame: Frame,
  message: TransactionMessage & { to: Uint8Array },
  gas: number,
): Outcome {
  const { machine, journal } = context
  const { from, to, value, input } = message
  const sender = journal.account(from)
  journal.setNonce(sender, nextNonce(sender.nonce))
  const { reservoir } = machine
  const snapshot = journal.snapshot()
  let left = payAuthorizations(context, frame, message, gas)
  if (left >= 0) {
    // A failing frame is refunded the cost of its account, not that of the delegations.
    enterStateGas(machine, frame, 0)
    left = payRecipient(machine, frame, { sender, recipient: journal.account(to), value }, left)
  }
  if (left < 0) {
    journal.revert(snapshot)
    return outOfGas(machine, frame, reservoir, { opcode: CALL, from, to, input, gas: BigInt(gas), value })
  }
  return runMessage(machine, { caller: from, to, value, gas: BigInt(left), input })
}

/** Applies the authorizations. Returns the gas left, negative if it was not enough. */
function payAuthorizations(
  { machine, chainId }: TransactionContext,
  frame: Frame,
  { from, to, value, authorizationList = [] }: TransactionMessage,
  gas: number,
): number {
  if (authorizationList.length === 0) return gas
  const { state } = machine
  // Accounts whose change is already paid, and those that had or now have a delegation.
  const written = new Set<Account>([state.account(from)])
  if (to !== undefined && value > 0n) written.add(state.account(to))
  const delegated = new Set<Account>()
  let left = gas
  const pay = (authority: Account, authorization: Authorization) => {
    if (!written.has(authority)) left -= ACCOUNT_WRITE_GAS
    written.add(authority)
    if (left >= 0 && state.isEmpty(authority)) left = chargeState(machine, frame, left, NEW_ACCOUNT_STATE_GAS)
    if (state.code(authority).delegation !== undefined) delegated.add(authority)
    if (clearsDelegation(authorization) || delegated.has(authority)) return
    delegated.add(authority)
    if (left >= 0) left = chargeState(machine, frame, left, DELEGATION_STATE_GAS)
  }
  for (const authorization of authorizationList) {
    const authority = findAuthority(state, authorization, chainId)
    if (authority === undefined) continue
    pay(authority, authorization)
    if (left < 0) return left
    delegate(state, authority, authorization)
  }
  return left
}

/** Pays for the account that a transfer creates, and for the access to the recipient's delegation target. Returns the
 *  gas left, negative if it was not enough. */
function payRecipient(
  machine: Machine,
  frame: Frame,
  { sender, recipient, value }: { sender: Account; recipient: Account; value: bigint },
  gas: number,
): number {
  const { state } = machine
  state.recorder?.account(recipient)
  let left = gas
  if (value > 0n && recipient !== sender && state.isEmpty(recipient)) {
    left = chargeState(machine, frame, left, NEW_ACCOUNT_STATE_GAS)
    if (left < 0) return left
  }
  const { delegation } = state.code(recipient)
  if (delegation === undefined) return left
  const target = state.account(delegation)
  left -= accessGas(machine, target)
  if (left >= 0) state.recorder?.account(target)
  return left
}
