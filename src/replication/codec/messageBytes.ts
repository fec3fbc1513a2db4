import { bigIntToBytes, bytesToBigInt } from '../../lib/bytes.js'
import { InvalidMessage } from '../errors.js'

/** Writes the parts of a message in sequence. */
export class MessageWriter {
  private buffer = Buffer.allocUnsafe(0x4_0000)
  private used = 0

  /** Writes bytes whose length the reader knows. */
  raw(bytes: Uint8Array): void {
    this.reserve(bytes.length)
    this.buffer.set(bytes, this.used)
    this.used += bytes.length
  }

  byte(value: number): void {
    this.reserve(1)
    this.buffer[this.used++] = value
  }

  /** Writes an unsigned LEB128 integer below 2^53. */
  integer(value: number): void {
    this.reserve(8)
    let rest = value
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) this.buffer[this.used++] = (rest % 0x80) | 0x80
    this.buffer[this.used++] = rest
  }

  /** Writes bytes after their length. */
  bytes(bytes: Uint8Array): void {
    this.integer(bytes.length)
    this.raw(bytes)
  }

  /** Writes an unsigned integer of at most 256 bits: its minimal big-endian bytes after their length. */
  uint(value: bigint): void {
    this.bytes(bigIntToBytes(value))
  }

  /** Returns the written bytes: a view. */
  written(): Buffer {
    return this.buffer.subarray(0, this.used)
  }

  private reserve(length: number): void {
    const needed = this.used + length
    if (needed <= this.buffer.length) return
    const larger = Buffer.allocUnsafe(Math.max(2 * this.buffer.length, needed))
    larger.set(this.buffer.subarray(0, this.used))
    this.buffer = larger
  }
}

/** Reads the bytes of a `MessageWriter`, in canonical form only. All bytes are views. Every method accepts the name
 *  of the part for errors. @throws InvalidMessage where the bytes end or are not canonical */
export class MessageReader {
  private readonly data: Uint8Array
  private at = 0

  constructor(data: Uint8Array) {
    this.data = data
  }

  /** All bytes, including those already read. */
  get whole(): Uint8Array {
    return this.data
  }

  /** Number of bytes read. */
  get place(): number {
    return this.at
  }

  raw(length: number, part: string): Uint8Array {
    const start = this.skip(length, part)
    return this.data.subarray(start, this.at)
  }

  byte(part: string): number {
    if (this.at >= this.data.length) throw new InvalidMessage(part, 'expected a byte, got the end of the message')
    return this.data[this.at++]
  }

  /** @throws InvalidMessage also beyond `most` */
  integer(part: string, most = Number.MAX_SAFE_INTEGER): number {
    const first = this.byte(part)
    const value = first < 0x80 ? first : this.longInteger(first, part)
    if (value > most) throw new InvalidMessage(part, `expected at most ${most}, got ${value}`)
    return value
  }

  /** Reads the number of parts that follow, each of at least `least` bytes. */
  count(part: string, least: number): number {
    return this.integer(part, Math.floor((this.data.length - this.at) / least))
  }

  bytes(part: string): Uint8Array {
    return this.raw(this.integer(part), part)
  }

  /** Reads at most `most` bytes that do not begin with a zero: an integer's minimal form. */
  minimal(most: number, part: string): Uint8Array {
    const start = this.skipMinimal(most, part)
    return this.data.subarray(start, this.at)
  }

  /** As `minimal`, without a view. @returns the start of the bytes; they end at `place` */
  skipMinimal(most: number, part: string): number {
    const length = this.byte(part)
    if (length > most) throw new InvalidMessage(part, `expected at most ${most} bytes, got ${length}`)
    const start = this.skip(length, part)
    if (length > 0 && this.data[start] === 0) throw new InvalidMessage(part, 'expected no leading zero, got one')
    return start
  }

  /** Reads an unsigned integer of at most `most` bytes. */
  uint(most: number, part: string): bigint {
    return bytesToBigInt(this.minimal(most, part))
  }

  /** Returns the unread bytes. */
  rest(): Uint8Array {
    return this.data.subarray(this.at)
  }

  /** @throws InvalidMessage when bytes are left */
  end(): void {
    const left = this.data.length - this.at
    if (left > 0) throw new InvalidMessage('end', `expected the end of the message, got ${left} more bytes`)
  }

  /** @returns the start of the bytes */
  private skip(length: number, part: string): number {
    const start = this.at
    const end = start + length
    if (end > this.data.length) {
      throw new InvalidMessage(
        part,
        `expected ${length} bytes, got ${this.data.length - start}: the message is cut off`,
      )
    }
    this.at = end
    return start
  }

  private longInteger(first: number, part: string): number {
    let value = first & 0x7f
    for (let scale = 0x80; ; scale *= 0x80) {
      const byte = this.byte(part)
      value += (byte & 0x7f) * scale
      if (!Number.isSafeInteger(value))
        throw new InvalidMessage(part, 'expected an integer below 2^53, got a larger one')
      if (byte === 0) throw new InvalidMessage(part, 'expected the shortest form of an integer, got a longer one')
      if (byte < 0x80) return value
    }
  }
}
