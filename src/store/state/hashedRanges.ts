import { keccak256 } from '../../chain/crypto.js'
import { equalBytes, padLeft } from '../../lib/bytes.js'
import type { Database } from '../database.js'
import { fromTables } from './historySql.js'
import { createSparseCheck, mayHaveUnknownSlots, StateNotListable } from './sparseState.js'
import { createStateReader, type StateReader, type StoredAccount } from './stateReader.js'
import { createTouchedAbove } from './touchedAbove.js'

/** A range of a state by the hashes of its keys, the order of its tries. */
interface HashRange {
  /** The lowest hash, 32 bytes. */
  readonly start: Uint8Array
  /** Most entries, at least 1. */
  readonly limit: number
  /** Called for each hashed key, to check the deadline. */
  check(): void
}

/** The entries with the lowest hashes from the start on, ascending. */
interface HashedPage<T> {
  readonly entries: readonly ({ readonly hash: Uint8Array } & T)[]
  /** The hash of the next entry; undefined at the end. */
  readonly next?: Uint8Array
}

/** An account with its address. */
export interface AccountEntry {
  readonly address: Uint8Array
  readonly account: StoredAccount
}

/** A slot, 32 bytes, and its value without leading zeros. */
interface SlotEntry {
  readonly slot: Uint8Array
  readonly value: Uint8Array
}

/** Slots that replace stored ones, for a state between two blocks. */
export interface RangeSlotChanges {
  readonly cleared: boolean
  readonly slots: readonly SlotEntry[]
}

/** Reads states in the order of their tries. The database has no index by hash: each call hashes every address, or
 *  every slot of the account. With sparse state `accounts` throws StateNotListable, and `slots` of a storage that is
 *  not known as a whole. */
export interface HashedRanges {
  /** Accounts after the block. */
  accounts(blockNumber: number, range: HashRange): HashedPage<AccountEntry>
  /** Slots of the account after the block that are not zero. */
  slots(address: Uint8Array, blockNumber: number, range: HashRange, changes?: RangeSlotChanges): HashedPage<SlotEntry>
  /** Addresses of the accounts after block `to` that differ from those after block `from`, or did not exist then,
   *  ordered by hash. `check` is called for each change of an account or slot. */
  modified(blocks: { from: number; to: number }, check: () => void): Uint8Array[]
  /** The preimage of the hash: a code, an address or a slot of 32 bytes. */
  preimage(hash: Uint8Array, check: () => void): Uint8Array | undefined
  /** The code of an account. */
  code(account: StoredAccount): { hash: Uint8Array; bytes: Uint8Array } | undefined
}

// Rows of slots read at once.
const PAGE = 10_000

/** Creates a reader of ranges over an open database; each call sees one snapshot. */
export function createHashedRanges(db: Database): HashedRanges {
  const reader = createStateReader(db)
  const selectAddresses = db.prepare<[], Uint8Array>('SELECT address FROM addresses ORDER BY id').pluck()
  const selectSlots = db.prepare<[], Uint8Array>(fromTables('storage', (table) => `SELECT slot FROM ${table}`)).pluck()
  const selectCode = db.prepare<[Uint8Array], Uint8Array>('SELECT bytes FROM code WHERE hash = ?').pluck()
  const touched = createTouchedAbove(db, reader)

  const isSparse = createSparseCheck(db)

  const accounts: HashedRanges['accounts'] = (blockNumber, range) => {
    if (isSparse()) throw new StateNotListable()
    const lowest = new LowestHashes<AccountEntry>(range)
    for (const address of selectAddresses.iterate()) {
      range.check()
      const hash = keccak256(address)
      const account = lowest.wants(hash) ? reader.account(address, blockNumber)?.account : undefined
      if (account !== undefined) lowest.add({ hash, address: address.slice(), account })
    }
    return lowest.page()
  }
  const slots: HashedRanges['slots'] = (address, blockNumber, range, changes) => {
    const lowest = new LowestHashes<SlotEntry>(range)
    const changed = new Set<string>()
    for (const { slot, value } of changes?.slots ?? []) {
      const hash = keccak256(slot)
      changed.add(Buffer.from(slot).toString('latin1'))
      if (value.length > 0 && lowest.wants(hash)) lowest.add({ hash, slot, value })
    }
    const account = changes?.cleared ? undefined : reader.account(address, blockNumber)?.account
    if (account !== undefined && mayHaveUnknownSlots(account.incarnation) && isSparse()) throw new StateNotListable()
    for (const stored of account === undefined ? [] : storedSlots(reader, account)) {
      range.check()
      const slot = padLeft(stored, 32)
      const hash = keccak256(slot)
      if (!lowest.wants(hash) || changed.has(Buffer.from(slot).toString('latin1'))) continue
      const value = reader.storage(account!.addressId, account!.incarnation, slot, blockNumber)
      if (value.length > 0) lowest.add({ hash, slot, value })
    }
    return lowest.page()
  }
  const modified: HashedRanges['modified'] = ({ from, to }, check) => {
    const found: { hash: Uint8Array; address: Uint8Array }[] = []
    for (const { address, addressId, incarnation, slots: names } of touched.take({ above: from, upTo: to }, check)) {
      const [before, after] = [from, to].map((at) => reader.account(address, at)?.account)
      if (after === undefined) continue
      const differs = (slot: Uint8Array) => {
        check()
        const [old, now] = [from, to].map((at) => reader.storage(addressId, incarnation!, slot, at))
        return !equalBytes(old, now)
      }
      if (!isSameAccount(reader, before, after) || names.some(differs))
        found.push({ hash: keccak256(address), address })
    }
    return found.sort((a, b) => Buffer.compare(a.hash, b.hash)).map(({ address }) => address)
  }
  const preimage: HashedRanges['preimage'] = (hash, check) => {
    const code = selectCode.get(hash)
    if (code !== undefined) return code
    for (const address of selectAddresses.iterate()) {
      check()
      if (equalBytes(keccak256(address), hash)) return address.slice()
    }
    for (const stored of selectSlots.iterate()) {
      check()
      const slot = padLeft(stored, 32)
      if (equalBytes(keccak256(slot), hash)) return slot
    }
    return undefined
  }
  const inSnapshot = <A extends unknown[], R>(work: (...args: A) => R) => db.transaction(work) as (...args: A) => R
  return {
    accounts: inSnapshot(accounts),
    slots: inSnapshot(slots),
    modified: inSnapshot(modified),
    preimage: inSnapshot(preimage),
    code: ({ codeId }) =>
      codeId === undefined ? undefined : { hash: reader.codeHash(codeId), bytes: reader.code(codeId) },
  }
}

/** Every slot that the storage of the account ever had, without leading zeros. */
function* storedSlots(reader: StateReader, { addressId, incarnation }: StoredAccount): Generator<Uint8Array> {
  for (let after: Uint8Array | undefined; ; ) {
    const rows = reader.latestStorage(addressId, incarnation, { after, limit: PAGE })
    for (const { slot } of rows) yield slot
    if (rows.length < PAGE) return
    after = rows[rows.length - 1].slot
  }
}

/** True for equal fields and the same storage, whose slots may differ. */
function isSameAccount(reader: StateReader, before: StoredAccount | undefined, after: StoredAccount): boolean {
  if (before === undefined || before.codeId !== after.codeId) return false
  if (before.nonce !== after.nonce || before.balance !== after.balance) return false
  if (before.incarnation === after.incarnation) return true
  return ![before, after].some(({ addressId, incarnation }) => reader.hasStorage(addressId, incarnation))
}

/** Collects the entries with the lowest hashes from a start on. */
class LowestHashes<T> {
  private readonly range: HashRange
  private found: ({ hash: Uint8Array } & T)[] = []
  /** Entries from this hash on are ignored. */
  private end: Uint8Array | undefined

  constructor(range: HashRange) {
    this.range = range
  }

  wants(hash: Uint8Array): boolean {
    if (Buffer.compare(hash, this.range.start) < 0) return false
    return this.end === undefined || Buffer.compare(hash, this.end) < 0
  }

  add(entry: { hash: Uint8Array } & T): void {
    this.found.push(entry)
    if (this.found.length > 2 * this.range.limit + 2) this.cut()
  }

  page(): HashedPage<T> {
    this.cut()
    const { limit } = this.range
    return { entries: this.found.slice(0, limit), next: this.found[limit]?.hash }
  }

  /** Keeps one entry beyond the limit: the next one. */
  private cut(): void {
    this.found.sort((a, b) => Buffer.compare(a.hash, b.hash))
    const { limit } = this.range
    this.found.length = Math.min(this.found.length, limit + 1)
    if (this.found.length > limit) this.end = this.found[limit].hash
  }
}
