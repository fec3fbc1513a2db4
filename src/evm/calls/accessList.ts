import type { AccessListEntry } from '../../chain/eth/types.js'
import { keyOfBytes } from '../../lib/bytes.js'
import type { Deadline } from '../../lib/deadline.js'
import type { DetailedCallContext } from './callContext.js'
import type { CallRequest } from './callRequest.js'

/** The access list of a call, and how the call with it ends. */
export interface CreatedAccessList {
  accessList: AccessListEntry[]
  /** Set if the call failed, in geth's words. */
  failure?: string
  gasUsed: bigint
}

/** Reruns the call with the list of what it accessed until the list is stable, because a list changes the gas that the
 *  call sees. Accounts that are warm without it are listed only for slots that the call accesses. Addresses and keys
 *  are in ascending order. @throws what `run` throws, DeadlineExceeded */
export function findAccessList(
  context: DetailedCallContext,
  request: CallRequest,
  { gasLimit, memoryBytes, deadline }: { gasLimit: bigint; memoryBytes: number; deadline: Deadline },
): CreatedAccessList {
  const known = new Set(context.warmAtStart(request).map(keyOfBytes))
  let accessList = (request.accessList ?? []).filter(
    ({ address }) => !(known.has(keyOfBytes(address)) || context.isPrecompile(address)),
  )
  for (;;) {
    deadline.check()
    const outcome = context.run({ ...request, accessList }, { gasLimit, memoryBytes, deadline, recordsAccesses: true })
    const warm = new Set(outcome.warm!.map(keyOfBytes))
    const isListed = ({ address, storageKeys }: AccessListEntry) =>
      storageKeys.length > 0 || !(warm.has(keyOfBytes(address)) || context.isPrecompile(address))
    const merged = mergeAccesses(accessList, outcome.accesses!).filter(isListed)
    if (textOf(merged) === textOf(accessList))
      return { accessList: merged, failure: outcome.failure, gasUsed: outcome.gasUsed }
    accessList = merged
  }
}

/** Returns the list as a text to compare; the order counts. */
function textOf(list: readonly AccessListEntry[]): string {
  return list.map(({ address, storageKeys }) => [address, ...storageKeys].map(keyOfBytes).join('')).join()
}

function mergeAccesses(list: readonly AccessListEntry[], more: readonly AccessListEntry[]): AccessListEntry[] {
  const byAddress = new Map<string, { address: Uint8Array; keys: Map<string, Uint8Array> }>()
  for (const { address, storageKeys } of [...list, ...more]) {
    const entry = byAddress.get(keyOfBytes(address)) ?? { address, keys: new Map() }
    byAddress.set(keyOfBytes(address), entry)
    for (const key of storageKeys) entry.keys.set(keyOfBytes(key), key)
  }
  return [...byAddress.values()]
    .map(({ address, keys }) => ({ address, storageKeys: [...keys.values()].sort(Buffer.compare) }))
    .sort((a, b) => Buffer.compare(a.address, b.address))
}
