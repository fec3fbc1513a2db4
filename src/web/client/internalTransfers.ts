import { CallFailed, callIfServed } from './rpc.js'
import type { Hex } from './types.js'

/** An entry of `cairn_getInternalTransfers`. */
export interface InternalTransfer {
  readonly blockNumber: Hex
  readonly blockTimestamp: Hex
  readonly transactionHash: Hex
  readonly transferIndex: Hex
  readonly traceAddress: readonly number[]
  readonly type: 'call' | 'create' | 'suicide'
  readonly from: Hex
  readonly to: Hex
  readonly value: Hex
}

/** A page of `cairn_getInternalTransfers`. */
export interface InternalTransferPage {
  readonly transfers: readonly InternalTransfer[]
  readonly cursor: string | null
}

/** Entries per page that is shown. */
const SHOWN_ENTRIES = 50

/** Returns internal transfers of an account, newest first; the server's words if it has no index for them. `cursor` is
 *  that of the page before. @throws CallFailed */
export async function loadInternalTransfers(
  account: string,
  { cursor, limit = SHOWN_ENTRIES }: { cursor?: string; limit?: number },
): Promise<InternalTransferPage | { readonly missing: string }> {
  try {
    const filter = { account, limit, ...(cursor ? { cursor } : {}) }
    const page = await callIfServed<InternalTransferPage>('cairn_getInternalTransfers', [filter])
    return page ?? { missing: 'the server does not have this method' }
  } catch (error) {
    if (!(error instanceof CallFailed) || !/^the (database has no|trace|address) .*index/.test(error.message))
      throw error
    return { missing: error.message }
  }
}
