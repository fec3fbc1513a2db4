import { keccak256 } from '../chain/crypto.js'
import { type AccountAccess, decodeBlockAccessList } from '../chain/eth/blockAccessList.js'
import { EMPTY_CODE_HASH } from '../chain/eth/emptyHashes.js'
import { equalBytes, trimLeft } from '../lib/bytes.js'
import { formatData } from '../lib/hex.js'
import type { Database } from '../store/database.js'
import { createChainReader } from '../store/rows/chainReader.js'
import type { BlockInterval } from '../store/rows/coverage.js'
import { baseIncarnation, countClosedStates } from '../store/state/sparseState.js'
import { createStateReader, type StateReader } from '../store/state/stateReader.js'
import { atPlace, DatabaseFault } from './fault.js'

/** Blocks whose states come from access lists. */
export interface ListedAudit {
  readonly listed: number
  /** Those of them whose access lists are stored. */
  readonly compared: number
}

/** Requires that the state after each block of an interval whose states come from access lists is what its list says,
 *  if the list is stored (EIP-7928). @throws DatabaseFault for the first difference */
export function auditListedStates(db: Database, { first, last }: BlockInterval): ListedAudit {
  const chain = createChainReader(db)
  const reader = createStateReader(db)
  const closed = countClosedStates(db)
  let compared = 0
  for (let number = first; number <= last; number++) {
    const list = chain.blockAccessList(number)
    if (list === undefined) continue
    atPlace({ table: 'block_access_lists', row: `block ${number}` }, () => {
      for (const access of decodeBlockAccessList(list)) requireListed(reader, access, { number, closed })
    })
    compared++
  }
  return { listed: last - first + 1, compared }
}

function requireListed(
  reader: StateReader,
  { address, nonceChanges, balanceChanges, codeChanges, storageChanges }: AccountAccess,
  { number, closed }: { number: number; closed: number },
): void {
  const row = reader.lastRow(address, number)
  const [nonce, balance, code] = [nonceChanges, balanceChanges, codeChanges].map((changes) => changes.at(-1)?.value)
  const place = { table: 'account_history', row: `block ${number}, account ${formatData(address)}` }
  const fail = (field: string, expected: bigint | string, found: bigint | string) => {
    throw new DatabaseFault(place, { field, expected: String(expected), found: String(found) })
  }
  const { nonce: ownNonce = 0n, balance: ownBalance = 0n, codeId } = row?.account ?? {}
  if (nonce !== undefined && nonce !== ownNonce) fail('nonce', nonce as bigint, ownNonce)
  if (balance !== undefined && balance !== ownBalance) fail('balance', balance as bigint, ownBalance)
  if (code !== undefined) {
    const hash = keccak256(code as Uint8Array)
    const own = codeId === undefined ? EMPTY_CODE_HASH : reader.codeHash(codeId)
    if (!equalBytes(hash, own)) fail('code hash', formatData(hash), formatData(own))
  }
  if (row !== undefined && row.incarnation >= 0 && row.account === undefined) return // its storage is empty
  const addressId = row?.addressId ?? reader.addressId(address)
  const incarnation = row !== undefined && row.incarnation >= 0 ? row.incarnation : baseIncarnation(closed, true)
  for (const { slot, changes } of storageChanges) {
    const value = trimLeft(changes.at(-1)!.value)
    const own = addressId === undefined ? undefined : reader.storage(addressId, incarnation, slot, number)
    if (own === undefined || !equalBytes(own, value)) {
      fail(`slot ${formatData(slot)}`, formatData(value), own === undefined ? 'none' : formatData(own))
    }
  }
}
