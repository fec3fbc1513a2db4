import { EMPTY_BYTES } from '../../lib/bytes.js'

/* Rows of the state history that wait to be written in the order of their keys. */

/** A row of an account. */
export interface AccountRow {
  addressId: number
  blockNumber: number
  incarnation: number
  nonce: bigint
  /** Undefined when the account no longer exists. */
  balance: bigint | undefined
  codeId: number | null
}

/** A row of a slot. Slot and value are ranges of the bytes, without leading zeros. */
export interface SlotRow {
  addressId: number
  incarnation: number
  blockNumber: number
  bytes: Uint8Array
  slotFrom: number
  slotTo: number
  valueFrom: number
  valueTo: number
}

/** A template of the object that is reused for many rows. */
export const NO_SLOT: Readonly<SlotRow> = {
  addressId: 0,
  incarnation: 0,
  blockNumber: 0,
  bytes: EMPTY_BYTES,
  slotFrom: 0,
  slotTo: 0,
  valueFrom: 0,
  valueTo: 0,
}

/** Rows of one table. */
interface CollectedRows<Row> {
  readonly length: number
  add(row: Readonly<Row>): void
  /** Passes all rows to `write`, those of neighbouring keys one after another, and clears them. The row object is
   *  reused. */
  take(write: (row: Readonly<Row>) => void): void
  clear(): void
}

/** Maximum number of rows of a table that wait: about 500 blocks that change 1,000 slots each, in 53 MB. The more rows
 *  are written together, the more of them share a page: with 65,536 a row takes twice as long. */
export const MAX_COLLECTED = 2 ** 19

/* A key for sorting has 64 bits: an address id modulo 2^29, the first 16 bits of the slot, the index of the row. Keys
 * that share them may be written in any order, and so may addresses 2^29 apart: the order is for speed alone. */
const INDEX_BITS = 19
const SLOT_BITS = 16
const LOW_SLOT_BITS = 32 - INDEX_BITS
const INDEX_MASK = 2 ** INDEX_BITS - 1

/** Keys of rows, in the order in which the rows are written. */
interface SortKeys {
  set(index: number, addressId: number, slotBits: number): void
  /** The indexes of the first `length` rows in the order of their keys. */
  inOrder(length: number): Generator<number>
}

function createSortKeys(capacity: number): SortKeys {
  const keys = new BigUint64Array(capacity)
  // Halves are written and read by themselves: 64-bit integers of JavaScript are objects.
  const halves = new Uint32Array(keys.buffer)
  const low = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1 ? 0 : 1 // index of the low half, by byte order
  return {
    set: (index, addressId, slotBits) => {
      halves[2 * index + low] = (slotBits << INDEX_BITS) | index
      halves[2 * index + 1 - low] = addressId * 2 ** (SLOT_BITS - LOW_SLOT_BITS) + (slotBits >> LOW_SLOT_BITS)
    },
    inOrder: function* (length) {
      keys.subarray(0, length).sort()
      for (let i = 0; i < length; i++) yield halves[2 * i + low] & INDEX_MASK
    },
  }
}

// A balance has four words of 8 bytes, the lowest first.
const BALANCE_WORDS = 4
const NO_CODE = -1
const GONE = -2

/** Collects rows of accounts, at most `capacity`, in typed arrays: objects that live as long as a transaction cost more
 *  than the rows do. */
export function createAccountRows(capacity: number): CollectedRows<AccountRow> {
  let keys: SortKeys | undefined
  const integers = new Float64Array(4 * capacity) // address id, block number, incarnation, code id
  const nonces = new BigUint64Array(capacity)
  const balances = new BigUint64Array(BALANCE_WORDS * capacity)
  let length = 0
  const setBalance = (index: number, balance: bigint) => {
    const at = BALANCE_WORDS * index
    balances[at] = balance
    const rest = balance >> 64n
    balances[at + 1] = rest
    const isLong = rest >= 2n ** 64n
    balances[at + 2] = isLong ? rest >> 64n : 0n
    balances[at + 3] = isLong ? rest >> 128n : 0n
  }
  const balanceOf = (index: number): bigint => {
    const at = BALANCE_WORDS * index
    const lower = balances[at + 1] === 0n ? balances[at] : (balances[at + 1] << 64n) | balances[at]
    const upper = balances[at + 3] === 0n ? balances[at + 2] : (balances[at + 3] << 64n) | balances[at + 2]
    return upper === 0n ? lower : (upper << 128n) | lower
  }
  return {
    get length() {
      return length
    },
    add: ({ addressId, blockNumber, nonce, balance, codeId, incarnation }) => {
      keys ??= createSortKeys(capacity)
      const index = length++
      keys.set(index, addressId, 0)
      integers[4 * index] = addressId
      integers[4 * index + 1] = blockNumber
      integers[4 * index + 2] = incarnation
      integers[4 * index + 3] = balance === undefined ? GONE : (codeId ?? NO_CODE)
      nonces[index] = nonce
      setBalance(index, balance ?? 0n)
    },
    take: (write) => {
      const taken = length
      length = 0
      if (taken === 0) return
      const row: AccountRow = { addressId: 0, blockNumber: 0, incarnation: 0, nonce: 0n, balance: 0n, codeId: null }
      for (const index of keys!.inOrder(taken)) {
        const code = integers[4 * index + 3]
        row.addressId = integers[4 * index]
        row.blockNumber = integers[4 * index + 1]
        row.incarnation = integers[4 * index + 2]
        row.nonce = nonces[index]
        row.balance = code === GONE ? undefined : balanceOf(index)
        row.codeId = code < 0 ? null : code
        write(row)
      }
    },
    clear: () => {
      length = 0
    },
  }
}

const WORD = 32

/** Collects rows of slots, at most `capacity`: their bytes are in one buffer. */
export function createSlotRows(capacity: number): CollectedRows<SlotRow> {
  let keys: SortKeys | undefined
  const integers = new Float64Array(3 * capacity) // address id, incarnation, block number
  const lengths = new Uint8Array(2 * capacity) // of slot and value
  let bytes: Uint8Array | undefined
  let length = 0
  return {
    get length() {
      return length
    },
    add: ({ addressId, incarnation, blockNumber, bytes: given, slotFrom, slotTo, valueFrom, valueTo }) => {
      bytes ??= new Uint8Array(2 * WORD * capacity)
      keys ??= createSortKeys(capacity)
      const slotLength = slotTo - slotFrom
      keys.set(length, addressId, slotLength < 2 ? 0 : (given[slotFrom] << 8) | given[slotFrom + 1])
      integers[3 * length] = addressId
      integers[3 * length + 1] = incarnation
      integers[3 * length + 2] = blockNumber
      lengths[2 * length] = slotLength
      lengths[2 * length + 1] = valueTo - valueFrom
      for (let from = slotFrom, at = 2 * WORD * length; from < slotTo; ) bytes[at++] = given[from++]
      for (let from = valueFrom, at = 2 * WORD * length + WORD; from < valueTo; ) bytes[at++] = given[from++]
      length++
    },
    take: (write) => {
      const taken = length
      length = 0
      if (taken === 0) return
      const row: SlotRow = { ...NO_SLOT, bytes: bytes! }
      for (const index of keys!.inOrder(taken)) {
        const at = 2 * WORD * index
        row.addressId = integers[3 * index]
        row.incarnation = integers[3 * index + 1]
        row.blockNumber = integers[3 * index + 2]
        row.slotFrom = at
        row.slotTo = at + lengths[2 * index]
        row.valueFrom = at + WORD
        row.valueTo = at + WORD + lengths[2 * index + 1]
        write(row)
      }
    },
    clear: () => {
      length = 0
    },
  }
}
