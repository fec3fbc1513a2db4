import { createAddress } from '../../chain/eth/transaction.js'
import type { AccessListEntry } from '../../chain/eth/types.js'
import { keyOfBytes } from '../../lib/bytes.js'
import type { Deadline } from '../../lib/deadline.js'
import { recoverAuthority } from '../transition/authorizations.js'
import { ZERO_ADDRESS } from './callChecks.js'
import type { DetailedCallContext } from './callContext.js'
import type { CallRequest } from './callRequest.js'

/** The access list of a call, and how the call ends with it. */
export interface CreatedAccessList {
  accessList: AccessListEntry[]
  /** In geth's words, if the call failed. */
  failure?: string
  gasUsed: bigint
}

/** Runs the call with the list of what it accessed until that does not change: a list changes the gas that the call sees. Sender,
 *  recipient, precompiles and authorities are listed only for their slots, since they are warm anyway. @throws what `run` throws,
 *  DeadlineExceeded */
export function createAccessList(
  context: DetailedCallContext,
  request: CallRequest,
  { gasLimit, memoryBytes, deadline }: { gasLimit: bigint; memoryBytes: number; deadline: Deadline },
): CreatedAccessList {
  const { from = ZERO_ADDRESS } = request
  const to = request.to ?? createAddress(from, request.nonce ?? context.nonce(from))
  const authorities = (request.authorizationList ?? []).flatMap((each) => recoverAuthority(each) ?? [])
  const warm = new Set([from, to, ...authorities].map(keyOfBytes))
  const isListed = ({ address, storageKeys }: AccessListEntry) =>
    storageKeys.length > 0 || !(warm.has(keyOfBytes(address)) || context.isPrecompile(address))
  let accessList = request.accessList ?? []
  for (;;) {
    deadline.check()
    const outcome = context.run({ ...request, accessList }, { gasLimit, memoryBytes, deadline, recordsAccesses: true })
    const merged = mergeAccesses(accessList, outcome.accesses!.filter(isListed))
    if (sizeOf(merged) === sizeOf(accessList))
      return { accessList: merged, failure: outcome.failure, gasUsed: outcome.gasUsed }
    accessList = merged
  }
}

/** Lists only grow, so two of the same size are equal. */
function sizeOf(list: readonly AccessListEntry[]): number {
  return list.reduce((sum, { storageKeys }) => sum + 1 + storageKeys.length, 0)
}

function mergeAccesses(list: readonly AccessListEntry[], more: readonly AccessListEntry[]): AccessListEntry[] {
  const byAddress = new Map<string, { address: Uint8Array; keys: Map<string, Uint8Array> }>()
  for (const { address, storageKeys } of [...list, ...more]) {
    const entry = byAddress.get(keyOfBytes(address)) ?? { address, keys: new Map() }
    byAddress.set(keyOfBytes(address), entry)
    for (const key of storageKeys) entry.keys.set(keyOfBytes(key), key)
  }
  return Array.from(byAddress.values(), ({ address, keys }) => ({ address, storageKeys: [...keys.values()] }))
}
