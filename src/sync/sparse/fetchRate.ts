import type { Clock } from '../../sources/upstreams/clock.js'

/** Bounds how much is done in a second, over all who ask. */
export class FetchRate {
  /** Units a second; what was not used in a second is not saved. */
  readonly perSecond: number
  private readonly clock: Clock
  private level: number
  private filledMs: number

  /** Begins with the units of one second. */
  constructor(perSecond: number, clock: Clock) {
    this.perSecond = perSecond
    this.clock = clock
    this.level = perSecond
    this.filledMs = clock.nowMs()
  }

  /** Resolves when `units` may be done. More than there are left is a debt that the next one waits for, so that a large
   *  piece of work need not be split. @throws the reason of the signal */
  async take(units: number, signal: AbortSignal): Promise<void> {
    for (let ms = this.dueMs(); ms > 0; ms = this.dueMs()) await this.clock.sleep(ms, signal)
    this.level -= units
  }

  /** Milliseconds until there is a unit. */
  private dueMs(): number {
    const nowMs = this.clock.nowMs()
    this.level = Math.min(this.perSecond, this.level + ((nowMs - this.filledMs) / 1000) * this.perSecond)
    this.filledMs = nowMs
    return this.level > 0 ? 0 : Math.ceil(((1 - this.level) / this.perSecond) * 1000)
  }
}
