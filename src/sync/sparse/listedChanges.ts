import { keccak256 } from '../../chain/crypto.js'
import type { AccountAccess, BlockAccessList, IndexedChange } from '../../chain/eth/blockAccessList.js'
import { equalBytes, trimLeft } from '../../lib/bytes.js'
import type { StateChanges } from '../../store/rows/stateChanges.js'
import { isStateKnown } from '../../store/state/missingState.js'
import {
  ALL_KNOWN,
  BALANCE_KNOWN,
  baseIncarnation,
  CODE_KNOWN,
  knownFields,
  NONCE_KNOWN,
  partialIncarnation,
  UNKNOWN_ACCOUNT,
} from '../../store/state/sparseState.js'
import { LATEST, type StateReader } from '../../store/state/stateReader.js'

/** An account after its block, as far as it is known. */
interface ListedAccount {
  readonly known: number
  readonly nonce: bigint
  readonly balance: bigint
  readonly codeHash: Uint8Array | undefined
}

/** Returns the changes of a block by its access list (EIP-7928), on top of the newest stored state, which is that of
 *  its parent, in the interval of states after `closed` others. Values are those after the block. Without execution,
 *  those before it may be unknown: accounts are then known in part, as the incarnations of their rows say. */
export function listedChanges(list: BlockAccessList, reader: StateReader, closed: number): StateChanges {
  const changes: StateChanges = { accounts: [], storage: [], codes: [] }
  for (const access of list) addChanges(changes, access, { reader, closed })
  return changes
}

function addChanges(
  changes: StateChanges,
  access: AccountAccess,
  { reader, closed }: { reader: StateReader; closed: number },
): void {
  const { address, codeChanges, storageChanges } = access
  const row = reader.lastRow(address, LATEST)
  const before = accountBefore(reader, row)
  const code = lastOf(codeChanges)
  const after = accountAfter(before, access)
  const isKnown = after.known === ALL_KNOWN
  const exists = !isKnown || after.nonce > 0n || after.balance > 0n || after.codeHash !== undefined // EIP-161
  // An account that was not known has a nonce by now, so that its storage does not matter when it is created.
  const ofStorage = row !== undefined && row.incarnation >= 0 ? row.incarnation : baseIncarnation(closed, true)
  if (!isSame(before, after)) {
    if (code && code.length > 0) changes.codes.push({ hash: after.codeHash!, bytes: code })
    const { nonce, balance, codeHash } = after
    changes.accounts.push({
      address,
      incarnation: !isKnown ? partialIncarnation(after.known) : exists ? ofStorage : ofStorage + 1,
      account: exists ? { nonce, balance, codeHash } : undefined,
    })
  }
  // A block that touches an empty account removes it, which its list does not name.
  if (!exists && row?.account !== undefined && isSame(before, after)) {
    changes.accounts.push({ address, incarnation: UNKNOWN_ACCOUNT })
  }
  if (!exists) return
  const addressId = row?.addressId ?? reader.addressId(address)
  for (const { slot, changes: values } of storageChanges) {
    const value = trimLeft(lastOf(values)!)
    if (addressId !== undefined && hasValue(reader, { addressId, incarnation: ofStorage, slot }, value)) continue
    changes.storage.push({ address, incarnation: ofStorage, slot, value })
  }
}

function accountBefore(reader: StateReader, row: ReturnType<StateReader['lastRow']>): ListedAccount {
  if (row === undefined) return { known: 0, nonce: 0n, balance: 0n, codeHash: undefined }
  const { nonce = 0n, balance = 0n, codeId } = row.account ?? {}
  const codeHash = codeId === undefined ? undefined : reader.codeHash(codeId)
  return { known: knownFields(row.incarnation), nonce, balance, codeHash }
}

function accountAfter(before: ListedAccount, { nonceChanges, balanceChanges, codeChanges }: AccountAccess) {
  const code = lastOf(codeChanges)
  const changed =
    (nonceChanges.length > 0 ? NONCE_KNOWN : 0) |
    (balanceChanges.length > 0 ? BALANCE_KNOWN : 0) |
    (codeChanges.length > 0 ? CODE_KNOWN : 0)
  return {
    known: before.known | changed,
    nonce: lastOf(nonceChanges) ?? before.nonce,
    balance: lastOf(balanceChanges) ?? before.balance,
    codeHash: code === undefined ? before.codeHash : code.length === 0 ? undefined : keccak256(code),
  }
}

function isSame(a: ListedAccount, b: ListedAccount): boolean {
  const haveSameCode =
    a.codeHash === undefined || b.codeHash === undefined
      ? a.codeHash === b.codeHash
      : equalBytes(a.codeHash, b.codeHash)
  return a.known === b.known && a.nonce === b.nonce && a.balance === b.balance && haveSameCode
}

/** True if the slot is known to have that value. */
function hasValue(
  reader: StateReader,
  { addressId, incarnation, slot }: { addressId: number; incarnation: number; slot: Uint8Array },
  value: Uint8Array,
): boolean {
  let before: Uint8Array | undefined
  isStateKnown(() => {
    before = reader.storage(addressId, incarnation, slot, LATEST)
  })
  return before !== undefined && equalBytes(before, value)
}

/** The value that a block leaves. */
function lastOf<T>(changes: readonly IndexedChange<T>[]): T | undefined {
  return changes.at(-1)?.value
}
