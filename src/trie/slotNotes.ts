import { keccakInput } from '../chain/crypto.js'
import { KEY_BYTES } from './nodeFormat.js'
import { createRecordTable } from './recordTable.js'
import { createKeySorter, type SortedChanges } from './trieChanges.js'

/** Slots of accounts and their last values. */
export interface SlotNotes {
  readonly count: number
  /** Calls of `set`. */
  readonly changes: number
  /** Sets the value of a slot of the account with that index. Both are ranges of `bytes` without leading zeros, of at
   *  most 32 bytes. */
  set(account: number, bytes: Uint8Array, slotFrom: number, slotTo: number, valueFrom: number, valueTo: number): void
  /** Returns the slots by hash, sorted for each account. Account i has those set from the `since[i]`-th change on,
   *  which begin at `starts[i]`. Valid until the next `set`. */
  sorted(since: Float64Array): { slots: SortedChanges; starts: Uint32Array }
}

// A record, in words of 4 bytes: index of the account, slot, number of the change, length of the value, value.
const SLOT_WORDS = KEY_BYTES / 4
const SLOT = 1
const CHANGED_AT = SLOT + SLOT_WORDS
const LENGTH = CHANGED_AT + 1
const VALUE = LENGTH + 1
const RECORD = VALUE + SLOT_WORDS

/** Creates notes without slots. */
export function createSlotNotes(): SlotNotes {
  const table = createRecordTable(SLOT_WORDS, RECORD)
  const slot = new Uint8Array(KEY_BYTES)
  let changes = 0
  return {
    get count() {
      return table.count
    },
    get changes() {
      return changes
    },
    set: (account, given, slotFrom, slotTo, valueFrom, valueTo) => {
      const zeros = KEY_BYTES - (slotTo - slotFrom)
      for (let i = 0; i < zeros; i++) slot[i] = 0
      for (let i = zeros, from = slotFrom; i < KEY_BYTES; i++) slot[i] = given[from++]
      const at = table.find(account, slot) * RECORD
      const { words, bytes } = table
      for (let from = valueFrom, to = 4 * (at + VALUE); from < valueTo; from++) bytes[to++] = given[from]
      words[at + LENGTH] = valueTo - valueFrom
      words[at + CHANGED_AT] = changes++
    },
    sorted: (since) => {
      const { words, bytes, count } = table
      const { starts, records } = recordsByAccount(words, count, since)
      const { keys, order } = sortByHash(words, records, starts)
      const change: SortedChanges['change'] = (index, value) => {
        const at = order[index] * RECORD
        value.bytes = bytes
        value.from = 4 * (at + VALUE)
        value.to = value.from + words[at + LENGTH]
      }
      return { slots: { keys, change }, starts }
    },
  }
}

/** Returns the records of each account, as in `sorted`. */
function recordsByAccount(words: Int32Array, count: number, since: Float64Array) {
  const starts = new Uint32Array(since.length + 1)
  const end = count * RECORD
  for (let at = 0; at < end; at += RECORD) if (words[at + CHANGED_AT] >= since[words[at]]) starts[words[at] + 1]++
  for (let i = 0; i < since.length; i++) starts[i + 1] += starts[i]
  const next = starts.slice()
  const records = new Uint32Array(starts[since.length])
  for (let at = 0, record = 0; at < end; at += RECORD, record++) {
    if (words[at + CHANGED_AT] >= since[words[at]]) records[next[words[at]]++] = record
  }
  return { starts, records }
}

/** Sorts the records of each account by the hashes of their slots. */
function sortByHash(words: Int32Array, records: Uint32Array, starts: Uint32Array) {
  const hashes = new Uint8Array(records.length * KEY_BYTES)
  const input = new Int32Array(keccakInput.bytes.buffer, keccakInput.bytes.byteOffset, SLOT_WORDS)
  for (let i = 0; i < records.length; i++) {
    const at = records[i] * RECORD + SLOT
    for (let word = 0; word < SLOT_WORDS; word++) input[word] = words[at + word]
    keccakInput.hashInto(KEY_BYTES, hashes, i * KEY_BYTES)
  }
  const keys = new Uint8Array(hashes.length)
  const order = new Uint32Array(records.length)
  const sort = createKeySorter()
  for (let account = 0; account + 1 < starts.length; account++) {
    const [from, to] = [starts[account], starts[account + 1]]
    if (from === to) continue
    const sorted = sort(hashes, keys, { from, to })
    for (let i = from; i < to; i++) order[i] = records[from + sorted[i - from]]
  }
  return { keys, order }
}
