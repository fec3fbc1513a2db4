import { keccak256 } from '../../chain/crypto.js'
import { compareBytes, equalBytes, keyOfBytes, trimLeft } from '../../lib/bytes.js'
import type { PackedAccount, PackedChanges, PackedStorage, StorageGroup } from '../../store/rows/packedChanges.js'
import type { AccountChange, StateChanges, StorageChange } from '../../store/rows/stateChanges.js'
import { InvalidMessage } from '../errors.js'
import { MessageReader, type MessageWriter } from './messageBytes.js'

/* The state changes and the appearances of a block refer to one list of addresses, sorted and without repetition:
 *
 *   addresses: count, 20 bytes each, ascending
 *   accounts: count; each: address, kind (0 gone, 1 without code, 2 with code), incarnation, [nonce, balance,
 *     [code hash]]
 *   storage: count of storages; each: address, incarnation, count of slots; each slot: key and value without
 *     leading zeros
 *   codes: count; each: bytes, in the order of their hashes
 *   appearances, by transaction: count, addresses
 *
 * Addresses within a list ascend: the first is an index, each later one the difference from the index before. Slots of
 * a storage ascend by the bytes of their keys without leading zeros, as in SQLite's index. So a block has one
 * encoding. */

const GONE = 0
const WITHOUT_CODE = 1
const WITH_CODE = 2

/** The addresses that appear in each transaction. */
export type Appearances = readonly (readonly Uint8Array[])[]

/** Writes state changes, appearances or both, in any order. @throws RangeError for a slot or an account that is
 *  named twice */
export function writeState(out: MessageWriter, changes: StateChanges | undefined, appearances?: Appearances): void {
  if (changes === undefined && appearances === undefined) return
  const indexOf = writeAddresses(out, changes, appearances)
  if (changes !== undefined) {
    writeAccounts(out, changes.accounts, indexOf)
    writeStorage(out, changes.storage, indexOf)
    writeCodes(out, changes.codes)
  }
  for (const addresses of appearances ?? []) {
    const own = new Set<number>()
    for (const address of addresses) own.add(indexOf(address))
    out.integer(own.size)
    let last = 0
    for (const index of Uint32Array.from(own).sort()) {
      out.integer(index - last)
      last = index
    }
  }
}

type IndexOf = (address: Uint8Array) => number

function writeAddresses(out: MessageWriter, changes: StateChanges | undefined, appearances: Appearances = []): IndexOf {
  const byKey = new Map<string, { address: Uint8Array; index: number }>()
  const add = (address: Uint8Array) => {
    const key = keyOfBytes(address)
    if (!byKey.has(key)) byKey.set(key, { address, index: 0 })
  }
  for (const { address } of changes?.accounts ?? []) add(address)
  for (const { address } of changes?.storage ?? []) add(address)
  for (const addresses of appearances) for (const address of addresses) add(address)
  const sorted = [...byKey.values()].sort((a, b) => Buffer.compare(a.address, b.address))
  out.integer(sorted.length)
  sorted.forEach((entry, index) => {
    entry.index = index
    out.raw(entry.address)
  })
  return (address) => byKey.get(keyOfBytes(address))!.index
}

function writeAccounts(out: MessageWriter, accounts: readonly AccountChange[], indexOf: IndexOf): void {
  const sorted = accounts
    .map((change) => ({ change, index: indexOf(change.address) }))
    .sort((a, b) => a.index - b.index)
  out.integer(sorted.length)
  let last = 0
  for (const [at, { change, index }] of sorted.entries()) {
    if (at > 0 && index === last) throw new RangeError('an account is changed twice in a block')
    const { incarnation, account } = change
    out.integer(index - last)
    last = index
    out.byte(account === undefined ? GONE : account.codeHash === undefined ? WITHOUT_CODE : WITH_CODE)
    out.integer(incarnation)
    if (account === undefined) continue
    out.uint(account.nonce)
    out.uint(account.balance)
    if (account.codeHash !== undefined) out.raw(account.codeHash)
  }
}

interface SlotsToWrite {
  index: number
  incarnation: number
  slots: { key: Uint8Array; value: Uint8Array }[]
}

function writeStorage(out: MessageWriter, storage: readonly StorageChange[], indexOf: IndexOf): void {
  const groups = groupSlots(storage, indexOf)
  out.integer(groups.length)
  let last = 0
  for (const { index, incarnation, slots } of groups) {
    out.integer(index - last)
    last = index
    out.integer(incarnation)
    out.integer(slots.length)
    for (const [at, { key, value }] of slots.entries()) {
      if (at > 0 && equalBytes(slots[at - 1].key, key)) throw new RangeError('a slot is changed twice in a block')
      out.bytes(key)
      out.bytes(value)
    }
  }
}

/** Groups the slots by storage, all sorted. */
function groupSlots(storage: readonly StorageChange[], indexOf: IndexOf): SlotsToWrite[] {
  const groups = new Map<string, SlotsToWrite>()
  for (const { address, incarnation, slot, value } of storage) {
    const index = indexOf(address)
    const name = `${index}:${incarnation}`
    const group = groups.get(name) ?? { index, incarnation, slots: [] }
    if (group.slots.length === 0) groups.set(name, group)
    group.slots.push({ key: trimLeft(slot), value: trimLeft(value) })
  }
  for (const { slots } of groups.values()) slots.sort((a, b) => Buffer.compare(a.key, b.key))
  return [...groups.values()].sort((a, b) => a.index - b.index || a.incarnation - b.incarnation)
}

function writeCodes(out: MessageWriter, codes: StateChanges['codes']): void {
  const sorted = [...codes].sort((a, b) => Buffer.compare(a.hash, b.hash))
  const distinct = sorted.filter(({ hash }, at) => at === 0 || !equalBytes(sorted[at - 1].hash, hash))
  out.integer(distinct.length)
  for (const { bytes } of distinct) out.bytes(bytes)
}

/** Result of `readState`. */
export interface StateParts {
  changes?: PackedChanges
  appearances?: Uint8Array[][]
}

/** Reads state changes, appearances or both. Equal addresses are one object. Computes the hashes of codes.
 *  @throws InvalidMessage also for entries that are not in canonical order */
export function readState(
  input: MessageReader,
  {
    withChanges,
    withAppearances,
    transactions,
  }: { withChanges: boolean; withAppearances: boolean; transactions: number },
): StateParts {
  if (!withChanges && !withAppearances) return {}
  const addresses = new AddressList(input)
  const changes = withChanges ? readChanges(input, addresses) : undefined
  const appearances = withAppearances
    ? Array.from({ length: transactions }, (_, index) => readAppearances(input, addresses, `appearances[${index}]`))
    : undefined
  addresses.requireUsed()
  return { changes, appearances }
}

/** Decodes the state changes at the start of bytes that `readState` has read before. @throws InvalidMessage */
export function decodeChanges(encodedState: Uint8Array): PackedChanges {
  const input = new MessageReader(encodedState)
  return readChanges(input, new AddressList(input))
}

/** The addresses of a message, all of which must be used. */
class AddressList {
  readonly all: Uint8Array[] = []
  private readonly used: Uint8Array

  constructor(input: MessageReader) {
    const count = input.count('addresses', 20)
    for (let i = 0; i < count; i++) {
      const address = input.raw(20, 'addresses')
      if (i > 0 && compareBytes(this.all[i - 1], address) >= 0) {
        throw new InvalidMessage(`addresses[${i}]`, 'expected a higher address than the one before')
      }
      this.all.push(address)
    }
    this.used = new Uint8Array(count)
  }

  /** Reads the next index, after `last` of the same list; -1: it is the first. */
  next(input: MessageReader, last: number, part: string, mayRepeat = false): number {
    const difference = input.integer(part)
    if (last >= 0 && difference === 0 && !mayRepeat)
      throw new InvalidMessage(part, 'expected another address, got one twice')
    const index = Math.max(last, 0) + difference
    if (index >= this.all.length) {
      throw new InvalidMessage(part, `expected an address below ${this.all.length}, got ${index}`)
    }
    this.used[index] = 1
    return index
  }

  at(index: number): Uint8Array {
    return this.all[index]
  }

  requireUsed(): void {
    const unused = this.used.indexOf(0)
    if (unused >= 0) throw new InvalidMessage(`addresses[${unused}]`, 'expected an address that is used')
  }
}

function readChanges(input: MessageReader, addresses: AddressList): PackedChanges {
  const accounts: PackedAccount[] = []
  const count = input.count('accounts', 3)
  for (let i = 0, last = -1; i < count; i++) {
    last = addresses.next(input, last, 'accounts')
    accounts.push(readAccount(input, last))
  }
  return { addresses: addresses.all, accounts, storage: readStorage(input, addresses), codes: readCodes(input) }
}

function readAccount(input: MessageReader, address: number): PackedAccount {
  const kind = input.byte('accounts')
  if (kind > WITH_CODE) throw new InvalidMessage('accounts', `expected kind 0 to 2, got ${kind}`)
  const incarnation = input.integer('incarnation')
  if (kind === GONE) return { address, incarnation }
  const nonce = input.uint(8, 'nonce')
  const balance = input.uint(32, 'balance')
  const codeHash = kind === WITH_CODE ? input.raw(32, 'codeHash') : undefined
  return { address, incarnation, account: { nonce, balance, codeHash } }
}

function readStorage(input: MessageReader, addresses: AddressList): PackedStorage {
  const bytes = input.whole
  const groups: StorageGroup[] = []
  let length = 0
  const count = input.count('storage', 5)
  for (let i = 0, last = -1, lastIncarnation = -1; i < count; i++) {
    const index = addresses.next(input, last, 'storage', true)
    const incarnation = input.integer('incarnation')
    if (index === last && incarnation <= lastIncarnation) {
      throw new InvalidMessage('storage', 'expected a higher incarnation than the one before')
    }
    last = index
    lastIncarnation = incarnation
    const slots = input.count('slots', 2)
    if (slots === 0) throw new InvalidMessage('slots', 'expected at least one, got none')
    groups.push({ address: index, incarnation, start: input.place, count: slots })
    length += slots
    for (let j = 0, beforeFrom = 0, beforeTo = 0; j < slots; j++) {
      const from = input.skipMinimal(32, 'slot')
      const to = input.place
      if (j > 0 && compareRanges(bytes, beforeFrom, beforeTo, from, to) >= 0) {
        throw new InvalidMessage('slot', 'expected a higher one than the one before')
      }
      beforeFrom = from
      beforeTo = to
      input.skipMinimal(32, 'value')
    }
  }
  return { bytes, groups, length }
}

/** Compares two ranges of `bytes` as `compareBytes` does. */
function compareRanges(bytes: Uint8Array, from: number, to: number, otherFrom: number, otherTo: number): number {
  const shorter = Math.min(to - from, otherTo - otherFrom)
  for (let i = 0; i < shorter; i++) {
    const difference = bytes[from + i] - bytes[otherFrom + i]
    if (difference !== 0) return difference
  }
  return to - from - (otherTo - otherFrom)
}

function readCodes(input: MessageReader): StateChanges['codes'] {
  const codes: StateChanges['codes'] = []
  const count = input.count('codes', 2)
  for (let i = 0; i < count; i++) {
    const bytes = input.bytes(`codes[${i}]`)
    if (bytes.length === 0) throw new InvalidMessage(`codes[${i}]`, 'expected code, got no bytes')
    const hash = keccak256(bytes)
    if (i > 0 && compareBytes(codes[i - 1].hash, hash) >= 0) {
      throw new InvalidMessage(`codes[${i}]`, 'expected a higher hash than the one before')
    }
    codes.push({ hash, bytes })
  }
  return codes
}

function readAppearances(input: MessageReader, addresses: AddressList, part: string): Uint8Array[] {
  const count = input.count(part, 1)
  const own: Uint8Array[] = []
  for (let i = 0, last = -1; i < count; i++) {
    last = addresses.next(input, last, part)
    own.push(addresses.at(last))
  }
  return own
}
