import type { ResponseBudget } from '../../rpc/core/execute.js'

/** Memory reserved for one response, from the start of the work until the client has read the response. */
export interface Reservation extends ResponseBudget {
  /** Sets the final size of the response; false when there is no memory for it. */
  settle(bytes: number): boolean
  /** The response was read or abandoned. Idempotent. */
  release(): void
}

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

/** Memory for responses, shared by all connections. */
export interface OutputBudget {
  /** The share of a new connection. */
  open(): OutputShare
  /** Reserves memory for a response of about `bytes`, now or later: round-robin among owners, who may have many waiting
   *  requests each. */
  reserve(outputShare: OutputShare, owner: unknown, bytes: number, waiter: ReservationRequest): void
  /** Reserves memory for a finished response; undefined when it does not fit. */
  reserveNow(outputShare: OutputShare, bytes: number): Reservation | undefined
  /** True while requests wait for memory. */
  isContended(): boolean
  /** Gives up on requests that have waited too long. */
  sweep(nowMs: number): void
  /** Bytes in use by all connections. */
  usedBytes(): number
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

/** A budget of `totalBytes` for all connections and `connectionBytes` for each. */
export function createOutputBudget(options: { totalBytes: number; connectionBytes: number }): OutputBudget {
  const { totalBytes, connectionBytes } = options
  const total: Level = { used: 0, ready: 0, softBytes: totalBytes * 0.75, hardBytes: totalBytes, working: new Set() }
  const queues = new Map<unknown, Waiting[]>()
  const waitingBatches: (() => void)[] = []
  let isScheduled = false
  const isContended = () => queues.size > 0 || waitingBatches.length > 0

  const fits = (bytes: number) =>
    total.used + bytes <= (bytes <= SMALL_ANSWER_BYTES ? total.hardBytes : total.softBytes)

  /** Checks the queue after the work of this turn. */
  const admitLater = () => {
    if (isScheduled || !isContended()) return
    isScheduled = true
    setImmediate(() => {
      isScheduled = false
      admitWaiting()
    })
  }

  const open = (outputShare: ConnectionLevel, reserved: number, waiter?: ReservationRequest): Reservation => {
    const levels = [outputShare, total]
    let reservedBytes = 0
    let responseBytes = 0
    let ready = 0
    const resize = (bytes: number, readyBytes = 0) => {
      for (const level of levels) {
        level.used += bytes - reservedBytes
        level.ready += readyBytes - ready
      }
      reservedBytes = bytes
      ready = readyBytes
    }
    /** Only batches, from their first response on, ask whether to continue. */
    let isBatch = false
    const endWork = () => {
      if (isBatch) for (const level of levels) level.working.delete(reservation)
      admitLater()
    }
    let isReleased = false
    const reservation: Reservation = {
      maxConcurrent: waiter?.maxConcurrent,
      wait() {
        const mayContinue = levels.every((level) => level.used <= level.softBytes || mustContinue(level, reservation))
        return mayContinue ? undefined : new Promise<void>((resolve) => void waitingBatches.push(resolve))
      },
      add(bytes) {
        const more = responseBytes + bytes - reservedBytes
        if (!isBatch) for (const level of levels) level.working.add(reservation)
        isBatch = true
        if (more > 0 && levels.some((level) => level.used + more > level.hardBytes)) return false
        responseBytes += bytes
        if (more > 0) resize(responseBytes)
        return true
      },
      settle(bytes) {
        const more = bytes - reservedBytes
        if (more > 0 && total.used + more > total.hardBytes) return false
        // A connection may always have one response of any length.
        if (more > 0 && outputShare.used > reservedBytes && outputShare.used + more > outputShare.hardBytes)
          return false
        resize(bytes, bytes)
        endWork()
        return true
      },
      release() {
        if (isReleased) return
        isReleased = true
        waiter?.onRelease?.()
        resize(0)
        endWork()
      },
    }
    resize(reserved)
    return reservation
  }

  /** Starts waiting requests that now fit, and lets paused batches check again. */
  const admitWaiting = () => {
    for (const wake of waitingBatches.splice(0)) wake()
    for (const [owner, queue] of queues) {
      const { bytes, outputShare, waiter } = queue[0]
      if (!fits(bytes)) return
      queue.shift()
      queues.delete(owner)
      if (queue.length > 0) queues.set(owner, queue) // moves to the back
      if (waiter.request.isGone()) waiter.onGiveUp()
      else waiter.request.begin(open(outputShare, bytes, waiter))
    }
  }

  return {
    open() {
      const outputShare: ConnectionLevel = {
        used: 0,
        ready: 0,
        softBytes: connectionBytes,
        hardBytes: 2 * connectionBytes,
        working: new Set(),
        hasRoom: () =>
          outputShare.used <= outputShare.softBytes && (outputShare.used === 0 || total.used <= total.softBytes),
        usedBytes: () => outputShare.used,
      }
      return outputShare
    },
    reserve(outputShare, owner, bytes, waiter) {
      if (fits(bytes)) return waiter.request.begin(open(outputShare as ConnectionLevel, bytes, waiter))
      const waiting = { outputShare: outputShare as ConnectionLevel, bytes, waiter, sinceMs: performance.now() }
      const queue = queues.get(owner)
      if (queue === undefined) queues.set(owner, [waiting])
      else queue.push(waiting)
    },
    reserveNow(outputShare, bytes) {
      const reservation = open(outputShare as ConnectionLevel, 0)
      if (reservation.settle(bytes)) return reservation
      reservation.release()
      return undefined
    },
    isContended,
    sweep(nowMs) {
      for (const [owner, queue] of queues) {
        const [late, rest] = [[], []] as [Waiting[], Waiting[]]
        for (const each of queue)
          (nowMs - each.sinceMs > MAX_WAIT_MS || each.waiter.request.isGone() ? late : rest).push(each)
        if (rest.length > 0) queues.set(owner, rest)
        else queues.delete(owner)
        for (const { waiter } of late) waiter.onGiveUp()
      }
      admitWaiting()
    },
    usedBytes: () => total.used,
  }
}

/** True for the oldest batch while no finished response waits for a client. */
function mustContinue({ ready, working }: Level, reservation: Reservation): boolean {
  return ready === 0 && working.values().next().value === reservation
}
