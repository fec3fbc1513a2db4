import { Address } from '@ethereumjs/util'
import type { ChainSpec, Rules } from '../../chain/eth/forks/rules.js'
import type { Header, Log } from '../../chain/eth/types.js'
import { messageOf } from '../../lib/errors.js'
import { formatData } from '../../lib/hex.js'
import {
  hashRequests,
  readDeposits,
  SYSTEM_ADDRESS,
  SYSTEM_CALL_GAS,
  SYSTEM_CALL_STATE_GAS,
  SystemCallFailed,
} from '../transition/system.js'
import type { PackageBlock, ReferenceMachine } from './machine.js'
import type { Overlay } from './overlay.js'

/** Context of a system call. */
interface SystemCallSite {
  machine: ReferenceMachine
  overlay: Overlay
  block: PackageBlock
}

/** System calls before the first transaction: the parent's beacon root (EIP-4788) and the parent's hash (EIP-2935).
 *  Without code at their address they do nothing; a development chain may omit them. */
export async function callBeforeTransactions(context: SystemCallSite, header: Header, rules: Rules): Promise<void> {
  if (rules.omitsSystemCalls) return
  for (const { address, input } of rules.systemCalls) await callSystemContract(context, address, header[input]!)
}

/** The requests hash of the block (EIP-7685), 32 bytes: deposits from the logs (EIP-6110), then the output of the
 *  request contracts (EIP-7002, 7251, 8282), which a development chain may lack. @throws SystemCallFailed if a
 *  contract is missing or fails, or a deposit log is malformed. */
export async function collectRequests(
  context: SystemCallSite,
  logs: Log[],
  { rules, spec }: { rules: Rules; spec: ChainSpec },
): Promise<Uint8Array> {
  const deposits = readDeposits(logs, spec.depositContract)
  const requests = [deposits]
  for (const address of rules.requestContracts) requests.push(await requireSystemCall(context, address, spec))
  return hashRequests(requests)
}

async function requireSystemCall(
  context: SystemCallSite,
  address: Uint8Array,
  { isDevelopment }: ChainSpec,
): Promise<Uint8Array> {
  const result = await callSystemContract(context, address, new Uint8Array(0))
  if (!result && isDevelopment) return new Uint8Array(0)
  if (!result) throw new SystemCallFailed(`no code at the system contract ${formatData(address)}`)
  if (result.failure) throw new SystemCallFailed(`system contract ${formatData(address)}: ${result.failure}`)
  return result.output
}

/** Returns undefined if there is no code. Changes neither the caller's account nor the block's gas. */
async function callSystemContract(
  { machine, overlay, block }: SystemCallSite,
  address: Uint8Array,
  data: Uint8Array,
): Promise<{ output: Uint8Array; failure?: string } | undefined> {
  const to = new Address(address)
  if ((await overlay.getCodeSize(to)) === 0) return undefined
  const caller = new Address(SYSTEM_ADDRESS)
  const callerBefore = await overlay.getAccount(caller)
  machine.evm.stateGasReservoir = SYSTEM_CALL_STATE_GAS // EIP-8037; nothing reads it before Amsterdam
  machine.evm.executionStateGasUsed = 0n
  try {
    const { execResult } = await machine.evm.runCall({
      block: block as never,
      caller,
      to,
      data,
      gasLimit: SYSTEM_CALL_GAS,
      gasPrice: 0n,
    })
    if (callerBefore) await overlay.putAccount(caller, callerBefore)
    else await overlay.deleteAccount(caller)
    return { output: execResult.returnValue, failure: execResult.exceptionError?.error }
  } catch (cause) {
    throw new SystemCallFailed(`system contract ${formatData(address)}: ${messageOf(cause)}`, { cause })
  } finally {
    await machine.evm.journal.cleanup()
    overlay.originalStorageCache.clear()
  }
}
