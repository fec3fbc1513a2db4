import { concatBytes } from '../../lib/bytes.js'
import { readInteger } from '../../lib/varint.js'
import type { Database } from '../database.js'
import { eachBound, fromTables } from './historySql.js'

/* Which accounts and slots a block changed: the table `changed_keys` has a row for each block that changed any. The
 * history has no index by block: that takes a third of the time of writing its rows. All integers are LEB128, below
 * 2^31.
 *
 *   accounts: count, then the address ids
 *   slots: count of all, then for each storage: address id, incarnation, count, and each slot: length (1 byte), bytes
 *     without leading zeros
 *
 * Empty when there are none. */

/** A slot of an incarnation of an account. */
export interface SlotKey {
  readonly addressId: number
  readonly incarnation: number
  /** Without leading zeros. */
  readonly slot: Uint8Array
}

/** Called for each changed slot. `slot` has no leading zeros and is a view of the encoding. */
type SlotVisitor = (addressId: number, incarnation: number, slot: Uint8Array) => void

/** The blocks (above, upTo]. */
export interface ChangedRange {
  readonly above: number
  readonly upTo: number
}

/** The encoded keys of a block. */
interface EncodedKeys {
  readonly accounts: Uint8Array
  readonly slots: Uint8Array
}

/** Encodes the accounts of a block. */
export function encodeAccountKeys(addressIds: readonly number[]): Uint8Array {
  const output = new KeyBytes(addressIds.length)
  if (addressIds.length > 0) output.integer(addressIds.length)
  for (const id of addressIds) output.integer(id)
  return output.written()
}

/** Encodes the slots of a block one after another. */
interface SlotKeys {
  /** Starts the slots of a storage, which `count` slots must follow. */
  begin(addressId: number, incarnation: number, count: number): void
  /** Adds a slot: a range of `bytes` without leading zeros. */
  add(bytes: Uint8Array, from: number, to: number): void
  /** Returns a copy of the encoding and empties the encoder. */
  take(): Uint8Array
}

/** Creates an encoder whose memory grows with the largest block. */
export function createSlotKeys(): SlotKeys {
  let count = 0
  let storages = new KeyBytes(256)
  return {
    begin: (addressId, incarnation, slots) => {
      count += slots
      storages = storages.withRoom(slots + 1)
      storages.integer(addressId)
      storages.integer(incarnation)
      storages.integer(slots)
    },
    add: (bytes, from, to) => storages.slot(bytes, from, to),
    take: () => {
      const output = new KeyBytes(0)
      if (count > 0) output.integer(count)
      const encoded = concatBytes(output.written(), storages.written())
      storages.clear()
      count = 0
      return encoded
    },
  }
}

/** Encodes the slots of a block; those of a storage should come one after another. */
export function encodeSlotKeys(keys: readonly SlotKey[]): Uint8Array {
  const output = createSlotKeys()
  for (let from = 0; from < keys.length; ) {
    const { addressId, incarnation } = keys[from]
    let to = from + 1
    while (to < keys.length && keys[to].addressId === addressId && keys[to].incarnation === incarnation) to++
    output.begin(addressId, incarnation, to - from)
    for (; from < to; from++) output.add(keys[from].slot, 0, keys[from].slot.length)
  }
  return output.take()
}

// Three integers of at most 5 bytes, a length and a slot of 32 bytes.
const MAX_KEY_BYTES = 48

class KeyBytes {
  private readonly bytes: Uint8Array
  private length = 0

  /** Allocates room for `keys` keys and their count. */
  constructor(keys: number) {
    this.bytes = new Uint8Array(Math.ceil(keys + 1) * MAX_KEY_BYTES)
  }

  integer(value: number): void {
    let rest = value
    for (; rest >= 0x80; rest >>>= 7) this.bytes[this.length++] = (rest & 0x7f) | 0x80
    this.bytes[this.length++] = rest
  }

  slot(slot: Uint8Array, from: number, to: number): void {
    const { bytes } = this
    let at = this.length
    bytes[at++] = to - from
    for (let i = from; i < to; i++) bytes[at++] = slot[i] // faster than `set` for few bytes
    this.length = at
  }

  /** Returns these bytes, or a larger copy, with room for `keys` more keys. */
  withRoom(keys: number): KeyBytes {
    if (this.length + keys * MAX_KEY_BYTES <= this.bytes.length) return this
    const larger = new KeyBytes(2 * (this.length / MAX_KEY_BYTES + keys))
    larger.bytes.set(this.written())
    larger.length = this.length
    return larger
  }

  clear(): void {
    this.length = 0
  }

  written(): Uint8Array {
    return this.bytes.subarray(0, this.length)
  }
}

/** Decodes the address ids of accounts. @throws RangeError for an invalid encoding */
export function decodeAccountKeys(bytes: Uint8Array): number[] {
  if (bytes.length === 0) return []
  const cursor = { bytes, at: 0 }
  const ids: number[] = []
  for (let left = readInteger(cursor); left > 0; left--) ids.push(readInteger(cursor))
  requireEnd(bytes, cursor.at)
  return ids
}

/** Calls `visit` for each of the encoded slots, in their order. @throws RangeError for an invalid encoding, after some
 *  calls */
export function visitSlotKeys(encoded: Uint8Array, visit: SlotVisitor): void {
  if (encoded.length === 0) return
  const bytes = new Uint8Array(encoded.buffer, encoded.byteOffset, encoded.length) // Buffer views take twice as long
  const cursor = { bytes, at: 0 }
  for (let left = readInteger(cursor); left > 0; ) {
    const addressId = readInteger(cursor)
    const incarnation = readInteger(cursor)
    const count = readInteger(cursor)
    if (count === 0 || count > left) throw new RangeError(`${count} changed slots of a storage where ${left} are left`)
    left -= count
    for (let i = 0; i < count; i++) {
      const start = cursor.at + 1
      const end = start + bytes[cursor.at]
      if (!(end <= bytes.length)) throw new RangeError('the bytes end within a slot')
      cursor.at = end
      visit(addressId, incarnation, bytes.subarray(start, end))
    }
  }
  requireEnd(bytes, cursor.at)
}

/** Counts encoded accounts, or encoded slots. */
export function countKeys(bytes: Uint8Array): number {
  return bytes.length === 0 ? 0 : readInteger({ bytes, at: 0 })
}

function requireEnd(bytes: Uint8Array, at: number): void {
  if (at !== bytes.length) throw new RangeError(`${bytes.length - at} bytes after the last changed key`)
}

/** Reads the changed keys of an open database. */
export interface ChangedKeysReader {
  /** The keys of a block; undefined when it changed none. */
  block(blockNumber: number): EncodedKeys | undefined
  /** The keys of the blocks in a range, ascending. */
  blocks(range: ChangedRange): Iterable<EncodedKeys & { blockNumber: number }>
  /** Counts the accounts and slots that the blocks above `above` changed, once for each block. May stop at `limit` or
   *  above. */
  count(above: number, limit: number): number
}

/** Creates a reader with statements prepared once. */
export function createChangedKeysReader(db: Database): ChangedKeysReader {
  const selectBlock = db.prepare<[number], EncodedKeys>(
    'SELECT accounts, slots FROM changed_keys WHERE block_number = ?',
  )
  const selectBlocks = db.prepare<[ChangedRange], EncodedKeys & { blockNumber: number }>(
    `SELECT block_number AS blockNumber, accounts, slots FROM changed_keys
     WHERE block_number > @above AND block_number <= @upTo ORDER BY block_number`,
  )
  const blocks = (range: ChangedRange) => selectBlocks.iterate(range)
  return {
    block: (blockNumber) => selectBlock.get(blockNumber),
    blocks,
    count: (above, limit) => {
      let found = 0
      for (const { accounts, slots } of blocks({ above, upTo: Number.MAX_SAFE_INTEGER })) {
        found += countKeys(accounts) + countKeys(slots)
        if (found >= limit) break
      }
      return found
    },
  }
}

/** Reads the changed slots of a block with their values. */
interface ChangedSlotsReader {
  /** Calls `visit` for each slot; `value` has no leading zeros, and is undefined when the history lacks the row. */
  visit(blockNumber: number, visit: (key: SlotKey, value: Uint8Array | undefined) => void): void
}

/** Creates a reader with statements prepared once. */
export function createChangedSlotsReader(db: Database): ChangedSlotsReader {
  const keys = createChangedKeysReader(db)
  const where = 'address_id = ? AND incarnation = ? AND slot = ? AND block_number = ?'
  const select = db
    .prepare<unknown[], Uint8Array>(
      `${fromTables('storage', (table) => `SELECT value FROM ${table} WHERE ${where}`)} LIMIT 1`,
    )
    .pluck()
  return {
    visit: (blockNumber, visit) => {
      const found = keys.block(blockNumber)
      if (found === undefined) return
      visitSlotKeys(found.slots, (addressId, incarnation, slot) => {
        const key = [addressId, incarnation, slot, blockNumber]
        visit({ addressId, incarnation, slot }, select.get(...eachBound<unknown>(...key)))
      })
    },
  }
}
