import type { ByteBudget, ByteShare } from '../admission/byteBudget.js'
import { createGrowingBytes, type GrowingBytes } from '../connections/growingBytes.js'

/** Received bytes of a connection that are not consumed yet. */
export class UnreadBytes {
  readonly #byteShare: ByteShare
  /** The only chunk; most requests arrive in one. */
  #chunk: Buffer | undefined
  #growing: GrowingBytes | undefined
  #isCharged = false

  constructor(bodies: ByteBudget) {
    this.#byteShare = bodies.open()
  }

  append(next: Buffer): void {
    if (this.#chunk === undefined) this.#chunk = next
    else {
      if (this.#growing === undefined) {
        this.#growing = createGrowingBytes(Infinity)
        this.#growing.append(this.#chunk)
      }
      this.#growing.append(next)
    }
  }

  size(): number {
    return this.#growing?.sizeBytes() ?? this.#chunk?.length ?? 0
  }

  bytes(): Buffer {
    return this.#growing?.bytes() ?? this.#chunk ?? Buffer.alloc(0)
  }

  /** Discards all bytes before `index`. */
  consumeTo(index: number): void {
    this.#chunk = index < this.size() ? (this.#growing?.bytes() ?? this.#chunk!).subarray(index) : undefined
    this.#growing = undefined
    if (this.#isCharged) this.#byteShare.release()
    this.#isCharged = false
  }

  /** Charges the kept bytes to the budget; false when it is exhausted. */
  charge(): boolean {
    if (!this.#isCharged && this.size() === 0) return true
    this.#isCharged = true
    const chunk = this.#chunk
    // A slice would keep the whole large chunk in memory.
    if (chunk !== undefined && this.#growing === undefined && chunk.buffer.byteLength > 2 * chunk.length) {
      const rest = Buffer.allocUnsafeSlow(chunk.length)
      chunk.copy(rest)
      this.#chunk = rest
    }
    return this.#byteShare.resize(this.#growing?.capacityBytes() ?? this.size())
  }
}
