import { trimLeft } from '../../../lib/bytes.js'
import type { MemoryMeter } from '../memoryMeter.js'
import {
  CURRENT_IS_ORIGINAL,
  CURRENT_ZERO,
  NEW_IS_CURRENT,
  NEW_IS_ORIGINAL,
  NEW_ZERO,
  ORIGINAL_ZERO,
} from '../state.js'
import { copyWord, enlarged, LIMBS, setSmall, type Words, wordToBytes } from '../words/words.js'
import { WordTable } from '../words/wordTable.js'

// Bytes per slot in the arrays below and in the lists of written slots.
const SLOT_BYTES = 2 * 4 * LIMBS + 3 * 4 + 1 + 2 * 8

/** Storage slots by id, one array per property. */
export class SlotTable {
  /** Ids by storage and slot. */
  readonly keys: WordTable
  current: Words = new Int32Array(256 * LIMBS)
  /** Values before the transaction whose epoch is in `epochs`. */
  original: Words = new Int32Array(256 * LIMBS)
  epochs = new Int32Array(256)
  /** Epoch in which it was accessed (EIP-2929). */
  warm = new Int32Array(256)
  /** Account id of each slot. */
  owners = new Int32Array(256)
  private marks = new Uint8Array(256)
  private changed: number[] = []
  private touched: number[] = []
  private readonly meter: MemoryMeter

  constructor(meter: MemoryMeter) {
    this.meter = meter
    this.keys = new WordTable(256, meter)
  }

  /** Adds a slot with value zero under the name last passed to `keys`. */
  add(storage: number, s: Words, a: number, owner: number): number {
    const id = this.keys.insertAbsent(storage, s, a)
    if (id >= this.epochs.length) this.grow()
    setSmall(this.current, id * LIMBS, 0)
    this.epochs[id] = 0
    this.warm[id] = 0
    this.marks[id] = 0
    this.owners[id] = owner
    return id
  }

  /** Marks it as written. */
  mark(id: number): void {
    const marks = this.marks[id]
    if ((marks & 1) === 0) this.changed.push(id)
    if ((marks & 2) === 0) this.touched.push(id)
    this.marks[id] = 3
  }

  /** Saves the value as the original one of that epoch's transaction, unless one is saved. Called before each write,
   *  and not before each read, because reads are more frequent. */
  keepOriginal(id: number, epoch: number): void {
    if (this.epochs[id] === epoch) return
    this.epochs[id] = epoch
    copyWord(this.current, id * LIMBS, this.original, id * LIMBS)
  }

  /** Returns how the word would change the slot, for its gas: bits such as `ORIGINAL_ZERO`. */
  change(slot: number, s: Words, a: number): number {
    const { current, original } = this
    const at = slot * LIMBS
    let o = 0
    let c = 0
    let n = 0
    let nc = 0
    let co = 0
    let no = 0
    for (let i = 0; i < LIMBS; i++) {
      const before = original[at + i]
      const now = current[at + i]
      const next = s[a + i]
      o |= before
      c |= now
      n |= next
      nc |= next ^ now
      co |= now ^ before
      no |= next ^ before
    }
    return (
      (o === 0 ? ORIGINAL_ZERO : 0) |
      (c === 0 ? CURRENT_ZERO : 0) |
      (n === 0 ? NEW_ZERO : 0) |
      (nc === 0 ? NEW_IS_CURRENT : 0) |
      (co === 0 ? CURRENT_IS_ORIGINAL : 0) |
      (no === 0 ? NEW_IS_ORIGINAL : 0)
    )
  }

  /** Slots written since the last call, by account id. */
  takeChanged(): Map<number, number[]> {
    for (const id of this.changed) this.marks[id] &= ~1
    const out = this.byOwner(this.changed)
    this.changed = []
    return out
  }

  /** Like `takeChanged`, for a second consumer. */
  takeTouched(): Map<number, number[]> {
    for (const id of this.touched) this.marks[id] &= ~2
    const out = this.byOwner(this.touched)
    this.touched = []
    return out
  }

  /** All slots, by account id. */
  all(): Map<number, number[]> {
    return this.byOwner(Array.from({ length: this.keys.count }, (_, id) => id))
  }

  private byOwner(ids: number[]): Map<number, number[]> {
    const out = new Map<number, number[]>()
    for (const id of ids) {
      const list = out.get(this.owners[id])
      if (list === undefined) out.set(this.owners[id], [id])
      else list.push(id)
    }
    return out
  }

  /** The slot key: 32 bytes. */
  keyBytes(id: number): Uint8Array {
    return wordToBytes(this.keys.words, id * LIMBS)
  }

  /** Its value without leading zeros. */
  valueBytes(id: number): Uint8Array {
    return trimLeft(wordToBytes(this.current, id * LIMBS))
  }

  /** Drops all slots. */
  clear(): void {
    this.keys.clear()
    this.changed = []
    this.touched = []
    if (this.epochs.length <= 0x1_0000) return
    this.current = new Int32Array(256 * LIMBS)
    this.original = new Int32Array(256 * LIMBS)
    this.epochs = new Int32Array(256)
    this.warm = new Int32Array(256)
    this.owners = new Int32Array(256)
    this.marks = new Uint8Array(256)
  }

  private grow(): void {
    this.meter.take(this.epochs.length * SLOT_BYTES)
    const capacity = this.epochs.length * 2
    this.current = enlarged(this.current, capacity * LIMBS)
    this.original = enlarged(this.original, capacity * LIMBS)
    this.epochs = enlarged(this.epochs, capacity)
    this.warm = enlarged(this.warm, capacity)
    this.owners = enlarged(this.owners, capacity)
    const marks = new Uint8Array(capacity)
    marks.set(this.marks)
    this.marks = marks
  }
}
