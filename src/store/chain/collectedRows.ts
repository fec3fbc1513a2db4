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

/** Most rows of a table that wait: of about 65 blocks that change 1,000 slots each, in 6 MB. */
export const MAX_COLLECTED = 2 ** 16

/* A key for sorting is an integer below 2^53: an address id modulo 2^25, the first 12 bits of the slot, the index of the row. Keys that
 * share them may be written in any order, and so may addresses 2^25 apart: the order is for speed alone. */
const ADDRESSES = 2 ** 25
const SLOT_BITS = 12

function sortKey(addressId: number, slotBits: number, index: number): number {
  return ((addressId % ADDRESSES) * 2 ** SLOT_BITS + slotBits) * MAX_COLLECTED + index
}

/** The indexes of rows in the order of their keys. */
function* inOrder(keys: Float64Array): Generator<number> {
  for (const key of keys.sort()) yield key % MAX_COLLECTED
}

/** Rows of accounts. */
export function createAccountRows(): CollectedRows<AccountRow> {
  const keys = new Float64Array(MAX_COLLECTED)
  let rows: AccountRow[] = []
  const clear = () => {
    rows = []
  }
  return {
    get length() {
      return rows.length
    },
    add: (row) => {
      keys[rows.length] = sortKey(row[0], 0, rows.length)
      rows.push(row)
    },
    take: (write) => {
      const taken = rows
      clear()
      for (const index of inOrder(keys.subarray(0, taken.length))) write(taken[index])
    },
    clear,
  }
}

const WORD = 32

/** Rows of slots: their bytes lie in one buffer, because objects that live as long as a transaction cost more than the rows do. */
export function createSlotRows(): CollectedRows<SlotRow> {
  const keys = new Float64Array(MAX_COLLECTED)
  const integers = new Float64Array(3 * MAX_COLLECTED) // address id, incarnation, block number
  const lengths = new Uint8Array(2 * MAX_COLLECTED) // of slot and value
  let bytes: Buffer | undefined
  let length = 0
  return {
    get length() {
      return length
    },
    add: ({ addressId, incarnation, slot, blockNumber, value }) => {
      bytes ??= Buffer.allocUnsafeSlow(2 * WORD * MAX_COLLECTED)
      const first = slot.length < 2 ? 0 : (slot[0] << 4) | (slot[1] >> 4)
      keys[length] = sortKey(addressId, first, length)
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
      for (const index of inOrder(keys.subarray(0, taken))) {
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
