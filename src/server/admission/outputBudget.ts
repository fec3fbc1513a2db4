import type { ResponseBudget } from '../../rpc/core/execute.js'

/** The responses of one connection. */
export interface OutputShare {
  /** True when its next request may start. */
  hasRoom(): boolean
  usedBytes(): number
  /** Client identity of requests without a key, computed on first use. */
  client?: string
}

/** A request that waits for memory. */
export interface ReservationRequest {
  readonly request: {
    /** Called when the memory is reserved. */
    begin(reservation: Reservation): void
    isGone(): boolean
  }
  /** Maximum calls of a batch that may run at once. */
  readonly maxConcurrent?: number
  /** Called when the reservation is released. */
  onRelease?(): void
  /** Called when it waited too long or its client disconnected. */
  onGiveUp(): void
}

/** Responses up to this size may use the last quarter of the budget, so small calls are answered while large responses
 *  wait. */
export const SMALL_ANSWER_BYTES = 65_536

/** Longest wait for memory. After that the client is asked to retry. */
const MAX_WAIT_MS = 10_000

/** A level at which bytes are counted. Above `softBytes` no request starts, and batches in progress pause until clients
 *  have read the finished responses; without finished responses, the oldest batch continues, so there is always
 *  progress. Above `hardBytes` responses are dropped. */
interface Level {
  used: number
  /** The part of `used` that belongs to finished responses. */
  ready: number
  readonly softBytes: number
  readonly hardBytes: number
  /** Reservations of batches in progress, oldest first. */
  readonly working: Set<Reservation>
}

type ConnectionLevel = Level & OutputShare

interface Waiting {
  readonly outputShare: ConnectionLevel
  readonly bytes: number
  readonly waiter: ReservationRequest
  readonly sinceMs: number
}

/** Memory reserved for one response, from the start of the work until the client has read the response. */
export class Reservation implements ResponseBudget {
  readonly #queue: ReservationQueue
  /** Those of its connection and of all connections. */
  readonly #levels: readonly [ConnectionLevel, Level]
  readonly #waiter: ReservationRequest | undefined
  #reservedBytes = 0
  #responseBytes = 0
  #readyBytes = 0
  /** Only batches, from their first response on, ask whether to continue. */
  #isBatch = false
  #isReleased = false

  constructor(queue: ReservationQueue, outputShare: ConnectionLevel, bytes: number, waiter?: ReservationRequest) {
    this.#queue = queue
    this.#levels = [outputShare, queue.total]
    this.#waiter = waiter
    this.#resize(bytes)
  }

  get maxConcurrent(): number | undefined {
    return this.#waiter?.maxConcurrent
  }

  wait(): Promise<void> | undefined {
    const mayContinue = this.#levels.every((level) => level.used <= level.softBytes || mustContinue(level, this))
    return mayContinue ? undefined : this.#queue.pause()
  }

  add(bytes: number): boolean {
    const more = this.#responseBytes + bytes - this.#reservedBytes
    if (!this.#isBatch) for (const level of this.#levels) level.working.add(this)
    this.#isBatch = true
    if (more > 0 && this.#levels.some((level) => level.used + more > level.hardBytes)) return false
    this.#responseBytes += bytes
    if (more > 0) this.#resize(this.#responseBytes)
    return true
  }

  /** Sets the final size of the response; false when there is no memory for it. */
  resize(bytes: number): boolean {
    const [outputShare, total] = this.#levels
    const more = bytes - this.#reservedBytes
    if (more > 0 && total.used + more > total.hardBytes) return false
    // A connection may always have one response of any length.
    const hasOthers = outputShare.used > this.#reservedBytes
    if (more > 0 && hasOthers && outputShare.used + more > outputShare.hardBytes) return false
    this.#resize(bytes, bytes)
    this.#endWork()
    return true
  }

  /** The response was read or abandoned. Idempotent. */
  release(): void {
    if (this.#isReleased) return
    this.#isReleased = true
    this.#waiter?.onRelease?.()
    this.#resize(0)
    this.#endWork()
  }

  #resize(bytes: number, readyBytes = 0): void {
    for (const level of this.#levels) {
      level.used += bytes - this.#reservedBytes
      level.ready += readyBytes - this.#readyBytes
    }
    this.#reservedBytes = bytes
    this.#readyBytes = readyBytes
  }

  #endWork(): void {
    if (this.#isBatch) for (const level of this.#levels) level.working.delete(this)
    this.#queue.admitLater()
  }
}

/** Requests and batches that wait for memory. */
class ReservationQueue {
  /** The level of all connections. */
  readonly total: Level
  readonly #waiting = new Map<unknown, Waiting[]>()
  readonly #pausedBatches: (() => void)[] = []
  #isScheduled = false

  constructor(totalBytes: number) {
    this.total = { used: 0, ready: 0, softBytes: totalBytes * 0.75, hardBytes: totalBytes, working: new Set() }
  }

  isContended(): boolean {
    return this.#waiting.size > 0 || this.#pausedBatches.length > 0
  }

  fits(bytes: number): boolean {
    const { used, hardBytes, softBytes } = this.total
    return used + bytes <= (bytes <= SMALL_ANSWER_BYTES ? hardBytes : softBytes)
  }

  add(owner: unknown, waiting: Waiting): void {
    const queue = this.#waiting.get(owner)
    if (queue === undefined) this.#waiting.set(owner, [waiting])
    else queue.push(waiting)
  }

  /** Resolves when a batch should check again. */
  pause(): Promise<void> {
    return new Promise<void>((resolve) => void this.#pausedBatches.push(resolve))
  }

  /** Checks the queue after the work of this turn. */
  admitLater(): void {
    if (this.#isScheduled || !this.isContended()) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#admit()
    })
  }

  sweep(nowMs: number): void {
    for (const [owner, queue] of this.#waiting) {
      const [late, rest] = [[], []] as [Waiting[], Waiting[]]
      for (const each of queue)
        (nowMs - each.sinceMs > MAX_WAIT_MS || each.waiter.request.isGone() ? late : rest).push(each)
      if (rest.length > 0) this.#waiting.set(owner, rest)
      else this.#waiting.delete(owner)
      for (const { waiter } of late) waiter.onGiveUp()
    }
    this.#admit()
  }

  /** Starts waiting requests that now fit, and lets paused batches check again. */
  #admit(): void {
    for (const wake of this.#pausedBatches.splice(0)) wake()
    for (const [owner, queue] of this.#waiting) {
      const { bytes, outputShare, waiter } = queue[0]
      if (!this.fits(bytes)) return
      queue.shift()
      this.#waiting.delete(owner)
      if (queue.length > 0) this.#waiting.set(owner, queue) // moves to the back
      if (waiter.request.isGone()) waiter.onGiveUp()
      else waiter.request.begin(new Reservation(this, outputShare, bytes, waiter))
    }
  }
}

/** Memory for responses, shared by all connections: `totalBytes`, and `connectionBytes` for each. */
export class OutputBudget {
  readonly #queue: ReservationQueue
  readonly #connectionBytes: number

  constructor({ totalBytes, connectionBytes }: { totalBytes: number; connectionBytes: number }) {
    this.#queue = new ReservationQueue(totalBytes)
    this.#connectionBytes = connectionBytes
  }

  /** The share of a new connection. */
  open(): OutputShare {
    const { total } = this.#queue
    const outputShare: ConnectionLevel = {
      used: 0,
      ready: 0,
      softBytes: this.#connectionBytes,
      hardBytes: 2 * this.#connectionBytes,
      working: new Set(),
      hasRoom: () =>
        outputShare.used <= outputShare.softBytes && (outputShare.used === 0 || total.used <= total.softBytes),
      usedBytes: () => outputShare.used,
    }
    return outputShare
  }

  /** Reserves memory for a response of about `bytes`, now or later: round-robin among owners, who may have many waiting
   *  requests each. */
  reserve(outputShare: OutputShare, owner: unknown, bytes: number, waiter: ReservationRequest): void {
    const level = outputShare as ConnectionLevel
    if (this.#queue.fits(bytes)) waiter.request.begin(new Reservation(this.#queue, level, bytes, waiter))
    else this.#queue.add(owner, { outputShare: level, bytes, waiter, sinceMs: performance.now() })
  }

  /** Reserves memory for a finished response; undefined when it does not fit. */
  reserveNow(outputShare: OutputShare, bytes: number): Reservation | undefined {
    const reservation = new Reservation(this.#queue, outputShare as ConnectionLevel, 0)
    if (reservation.resize(bytes)) return reservation
    reservation.release()
    return undefined
  }

  /** True while requests wait for memory. */
  isContended(): boolean {
    return this.#queue.isContended()
  }

  /** Gives up on requests that have waited too long. */
  sweep(nowMs: number): void {
    this.#queue.sweep(nowMs)
  }

  /** Bytes in use by all connections. */
  usedBytes(): number {
    return this.#queue.total.used
  }
}

/** True for the oldest batch while no finished response waits for a client. */
function mustContinue({ ready, working }: Level, reservation: Reservation): boolean {
  return ready === 0 && working.values().next().value === reservation
}
