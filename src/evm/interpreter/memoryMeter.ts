import { CallMemoryExceeded } from '../errors.js'

/** A larger message leaves enough garbage for an immediate collection to pay off. */
export const LARGE_CALL_BYTES = 32 * 2 ** 20

/** Counts the memory of a message: growth of machine and journal since it began. They call it when arrays grow, which
 *  is rare. Counts capacity, not use. Without a limit until `begin`. */
export class MemoryMeter {
  private limit = Number.POSITIVE_INFINITY
  private taken = 0
  private most = 0

  /** Begins a message that may take `limit` bytes. */
  begin(limit: number): void {
    this.limit = limit
    this.taken = 0
    this.most = 0
  }

  /** Ends the message: reads between messages have no limit. */
  end(): void {
    this.begin(Number.POSITIVE_INFINITY)
  }

  /** Called before that many bytes are allocated. @throws CallMemoryExceeded */
  take(bytes: number): void {
    this.taken += bytes
    if (this.taken > this.limit) throw new CallMemoryExceeded(this.limit)
    if (this.taken > this.most) this.most = this.taken
  }

  /** Called when that many bytes are released. */
  give(bytes: number): void {
    this.taken -= bytes
  }

  /** Bytes left in the budget. */
  left(): number {
    return this.limit - this.taken
  }

  /** Peak bytes of the message. */
  peak(): number {
    return this.most
  }
}
