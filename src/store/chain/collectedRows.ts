/* Rows of the state history that wait to be written in the order of their keys. */

/** A row of an account, as it is bound. */
export type AccountRow = readonly [
  addressId: number,
  blockNumber: number,
  nonce: bigint | string,
  balance: bigint | string | null,
  codeId: number | null,
  incarnation: number,
]

/** A row of a slot, as it is bound. Slot and value have no leading zeros. */
export interface SlotRow {
  readonly addressId: number
  readonly incarnation: number
  readonly slot: Uint8Array
  readonly blockNumber: number
  readonly value: Uint8Array
}

/** Rows of one table. */
export interface CollectedRows<Row> {
  readonly length: number
  add(row: Row): void
  /** Gives the rows, those of neighbouring keys one after another, and forgets them. */
  take(write: (row: Row) => void): void
  clear(): void
}

/** Most rows of a table that wait: of about 500 blocks that change 1,000 slots each, in 53 MB. The more rows are written together, the more
 *  of them share a page: with 65,536 a row takes twice as long. */
export const MAX_COLLECTED = 2 ** 19

/* A key for sorting has 64 bits: an address id modulo 2^29, the first 16 bits of the slot, the index of the row. Keys that share them may be
 * written in any order, and so may addresses 2^29 apart: the order is for speed alone. */
const INDEX_BITS = 19
const SLOT_BITS = 16
const LOW_SLOT_BITS = 32 - INDEX_BITS
const INDEX_MASK = 2 ** INDEX_BITS - 1

/** Keys of rows, in the order of which the rows are written. */
interface SortKeys {
  set(index: number, addressId: number, slotBits: number): void
  /** The indexes of the first `length` rows in the order of their keys. */
  inOrder(length: number): Generator<number>
}

function createSortKeys(capacity: number): SortKeys {
  const keys = new BigUint64Array(capacity)
  // Halves are written and read by themselves: 64-bit integers of JavaScript are objects.
  const halves = new Uint32Array(keys.buffer)
  const low = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1 ? 0 : 1 // where the low half lies, by the byte order of the machine
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

/** Rows of accounts, at most `capacity`: a list for each column, because an object for each row would live as long as the transaction. */
export function createAccountRows(capacity: number): CollectedRows<AccountRow> {
  let keys: SortKeys | undefined
  const integers = new Float64Array(3 * capacity) // address id, block number, incarnation
  let nonces: AccountRow[2][] = []
  let balances: AccountRow[3][] = []
  let codeIds: AccountRow[4][] = []
  const clear = () => {
    nonces = []
    balances = []
    codeIds = []
  }
  return {
    get length() {
      return nonces.length
    },
    add: ([addressId, blockNumber, nonce, balance, codeId, incarnation]) => {
      keys ??= createSortKeys(capacity)
      const index = nonces.length
      keys.set(index, addressId, 0)
      integers[3 * index] = addressId
      integers[3 * index + 1] = blockNumber
      integers[3 * index + 2] = incarnation
      nonces.push(nonce)
      balances.push(balance)
      codeIds.push(codeId)
    },
    take: (write) => {
      const [ownNonces, ownBalances, ownCodeIds] = [nonces, balances, codeIds]
      clear()
      if (ownNonces.length === 0) return
      for (const i of keys!.inOrder(ownNonces.length)) {
        const [addressId, blockNumber, incarnation] = [integers[3 * i], integers[3 * i + 1], integers[3 * i + 2]]
        write([addressId, blockNumber, ownNonces[i], ownBalances[i], ownCodeIds[i], incarnation])
      }
    },
    clear,
  }
}

const WORD = 32

/** Rows of slots, at most `capacity`: their bytes lie in one buffer, because objects that live as long as a transaction cost more than the rows do. */
export function createSlotRows(capacity: number): CollectedRows<SlotRow> {
  let keys: SortKeys | undefined
  const integers = new Float64Array(3 * capacity) // address id, incarnation, block number
  const lengths = new Uint8Array(2 * capacity) // of slot and value
  let bytes: Buffer | undefined
  let length = 0
  return {
    get length() {
      return length
    },
    add: ({ addressId, incarnation, slot, blockNumber, value }) => {
      bytes ??= Buffer.allocUnsafeSlow(2 * WORD * capacity)
      keys ??= createSortKeys(capacity)
      keys.set(length, addressId, slot.length < 2 ? 0 : (slot[0] << 8) | slot[1])
      integers[3 * length] = addressId
      integers[3 * length + 1] = incarnation
      integers[3 * length + 2] = blockNumber
      lengths[2 * length] = slot.length
      lengths[2 * length + 1] = value.length
      bytes.set(slot, 2 * WORD * length)
      bytes.set(value, 2 * WORD * length + WORD)
      length++
    },
    take: (write) => {
      const taken = length
      length = 0
      if (taken === 0) return
      for (const index of keys!.inOrder(taken)) {
        const at = 2 * WORD * index
        write({
          addressId: integers[3 * index],
          incarnation: integers[3 * index + 1],
          slot: bytes!.subarray(at, at + lengths[2 * index]),
          blockNumber: integers[3 * index + 2],
          value: bytes!.subarray(at + WORD, at + WORD + lengths[2 * index + 1]),
        })
      }
    },
    clear: () => {
      length = 0
    },
  }
}
