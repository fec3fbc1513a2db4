import { headerLength, LIST, STRING, writeHeader } from './rlpBytes.js'

const MASK64 = 2n ** 64n - 1n

/** Writes RLP from its end to its beginning, so that the length of a list is known when its header is written: pass
 *  items in reverse order. A third of the time of `encodeRlp` for block access lists. */
export class RlpWriter {
  private buffer = new Uint8Array(0x1_0000)
  private view = new DataView(this.buffer.buffer)
  private used = 0 // at the end of the buffer

  /** Begins a list, at its end. Pass the result to `end`. */
  begin(): number {
    return this.used
  }

  /** Ends a list, at its beginning. */
  end(begun: number): void {
    this.header(LIST, this.used - begun)
  }

  string(bytes: Uint8Array): void {
    const { length } = bytes
    const at = this.take(length)
    for (let i = 0; i < length; i++) this.buffer[at + i] = bytes[i]
    if (length !== 1 || bytes[0] >= STRING) this.header(STRING, length)
  }

  /** A non-negative integer below 2^31, without leading zeros. */
  small(value: number): void {
    let length = 0
    for (let rest = value; rest > 0; rest >>>= 8) {
      const at = this.take(1) // may replace the buffer
      this.buffer[at] = rest & 0xff
      length++
    }
    if (value === 0 || value >= STRING) this.header(STRING, length)
  }

  /** A non-negative integer without leading zeros. */
  integer(value: bigint): void {
    if (value < 0x8000_0000n) {
      this.small(Number(value))
      return
    }
    const begun = this.used
    let rest = value
    for (; rest > MASK64; rest >>= 64n) this.view64(rest & MASK64)
    this.view64(rest)
    while (this.buffer[this.buffer.length - this.used] === 0) this.used--
    this.header(STRING, this.used - begun)
  }

  /** Returns a copy of what was written. */
  bytes(): Uint8Array {
    return this.buffer.slice(this.buffer.length - this.used)
  }

  private view64(value: bigint): void {
    const at = this.take(8)
    this.view.setBigUint64(at, value)
  }

  private header(base: number, length: number): void {
    const at = this.take(headerLength(length))
    writeHeader(this.buffer, at, base, length)
  }

  /** Reserves space before what was written; returns its offset. */
  private take(length: number): number {
    this.used += length
    if (this.used > this.buffer.length) {
      const larger = new Uint8Array(Math.max(2 * this.buffer.length, this.used))
      larger.set(this.buffer.subarray(this.buffer.length - this.used + length), larger.length - this.used + length)
      this.buffer = larger
      this.view = new DataView(larger.buffer)
    }
    return this.buffer.length - this.used
  }
}
