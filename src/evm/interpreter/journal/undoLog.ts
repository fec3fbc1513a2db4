import type { MemoryMeter } from '../memoryMeter.js'
import { LIMBS, type Words } from '../words/words.js'

// A 256-bit value with its array element.
const OBJECT_BYTES = 56

/** A stack of values to restore. An entry is its payload, then an id, then a kind; it is read in reverse order. */
export class UndoLog {
  /** Length of the log, used as a snapshot. */
  length = 0
  private data = new Int32Array(1024)
  private objects: unknown[] = []
  private readonly meter: MemoryMeter
  private metered = 0 // bytes of objects reported to the meter

  constructor(meter: MemoryMeter) {
    this.meter = meter
  }

  /** An entry with a 32-bit number. */
  push(payload: number, id: number, kind: number): void {
    this.reserve()
    this.data[this.length++] = payload
    this.data[this.length++] = id
    this.data[this.length++] = kind
  }

  /** An entry with any other payload. */
  pushObject(payload: unknown, id: number, kind: number): void {
    this.reserve()
    this.objects.push(payload)
    this.data[this.length++] = id
    this.data[this.length++] = kind
  }

  /** An entry with the word at `a`. */
  pushWord(s: Words, a: number, id: number, kind: number): void {
    this.reserve()
    const { data, length } = this
    for (let i = 0; i < LIMBS; i++) data[length + i] = s[a + i]
    data[length + LIMBS] = id
    data[length + LIMBS + 1] = kind
    this.length = length + LIMBS + 2
  }

  /** Pops the kind, then the id, then a number payload. */
  popNumber(): number {
    return this.data[--this.length]
  }

  popObject(): unknown {
    return this.objects.pop()
  }

  /** Pops a word to `a`. */
  popWord(s: Words, a: number): void {
    this.length -= LIMBS
    for (let i = 0; i < LIMBS; i++) s[a + i] = this.data[this.length + i]
  }

  clear(): void {
    this.length = 0
    if (this.objects.length > 0) this.objects = []
    this.metered = 0
    if (this.data.length > 0x10_0000) this.data = new Int32Array(1024)
  }

  private reserve(): void {
    if (this.length + LIMBS + 2 <= this.data.length) return
    // The number of objects may double before the next report.
    const objects = 2 * OBJECT_BYTES * this.objects.length
    this.meter.take(this.data.byteLength + objects - this.metered)
    this.metered = objects
    const data = new Int32Array(this.data.length * 2)
    data.set(this.data)
    this.data = data
  }
}
