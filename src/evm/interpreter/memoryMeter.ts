import { CallMemoryExceeded } from '../errors.js'

/** A message that takes more leaves so much garbage that it is worth collecting at once. */
export const LARGE_CALL_BYTES = 32 * 2 ** 20

/** Counts what a message takes of memory: what machine and journal hold more than when it began. They ask where arrays grow,
 *  which is seldom. What is counted is capacity, not use. Without a limit until a message begins with one. */
export class MemoryMeter {
  private limit = Number.POSITIVE_INFINITY
  private taken = 0
  private most = 0

  /** Begins a message, which may take so many bytes. */
  begin(limit: number): void {
    this.limit = limit
    this.taken = 0
    this.most = 0
  }

  /** Ends the message: what is read between messages has no limit. */
  end(): void {
    this.begin(Number.POSITIVE_INFINITY)
  }

  /** To be asked before so many bytes are taken. @throws CallMemoryExceeded */
  take(bytes: number): void {
    this.taken += bytes
    if (this.taken > this.limit) throw new CallMemoryExceeded(this.limit)
    if (this.taken > this.most) this.most = this.taken
  }

  /** To be told when so many are given back. */
  give(bytes: number): void {
    this.taken -= bytes
  }

  /** Bytes that may still be taken. */
  left(): number {
    return this.limit - this.taken
  }

  /** The most bytes that the message had at a time. */
  peak(): number {
    return this.most
  }
}
