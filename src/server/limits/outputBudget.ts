import type { AnswerRoom } from '../../rpc/core/answer.js'

/** Room for the answer to a request: from the begin of the work until the client has taken the answer. */
export interface Room extends AnswerRoom {
  /** The answer is made, and is so long; false when so much cannot be held. */
  settle(bytes: number): boolean
  /** The answer is taken, or nobody waits for it. May be called again. */
  release(): void
}

/** What one connection holds. */
export interface Lane {
  /** True when its next request may begin. */
  hasRoom(): boolean
  usedBytes(): number
  /** Whom requests without a key are counted for, once that was asked. */
  client?: string
}

/** A request that waits for room. */
export interface Waiter {
  /** Its turn has come. */
  begin(room: Room): void
  /** It has waited too long, or its client has left. */
  giveUp(): void
  isGone(): boolean
}

/** Memory for answers, shared by all connections. */
export interface OutputBudget {
  /** A connection. */
  openLane(): Lane
  /** Room for an answer of about so many bytes, now or in turn: by turns among owners, each of which may have many waiting. */
  reserve(lane: Lane, owner: unknown, bytes: number, waiter: Waiter): void
  /** Room for an answer that is made already; undefined when so much cannot be held. */
  hold(lane: Lane, bytes: number): Room | undefined
  /** True while requests wait for room. */
  isContended(): boolean
  /** Gives up on requests that have waited too long. */
  sweep(nowMs: number): void
  /** Made or not yet taken, of all connections. */
  usedBytes(): number
}

/** Answers up to this size may use the last quarter, so that small calls are answered while large answers wait. */
export const SMALL_ANSWER_BYTES = 65_536

/** Longest wait for room. Then the client is told to come again. */
const MAX_WAIT_MS = 10_000

/** A level at which bytes are counted. Above `softBytes` nothing is begun, and batches under way wait until clients have taken
 *  what is ready; when nothing is, the oldest goes on, so that something gets ready. Above `hardBytes` answers are thrown
 *  away. */
interface Level {
  used: number
  /** Of `used`, answers that are ready. */
  ready: number
  readonly softBytes: number
  readonly hardBytes: number
  /** Rooms of batches under way, that with the oldest answer first. */
  readonly working: Set<Room>
}

type ConnectionLevel = Level & Lane

interface Waiting {
  readonly lane: ConnectionLevel
  readonly bytes: number
  readonly waiter: Waiter
  readonly sinceMs: number
}

/** A budget of `totalBytes` over all connections and `connectionBytes` for each. */
export function createOutputBudget(options: { totalBytes: number; connectionBytes: number }): OutputBudget {
  const { totalBytes, connectionBytes } = options
  const total: Level = { used: 0, ready: 0, softBytes: totalBytes * 0.75, hardBytes: totalBytes, working: new Set() }
  const queues = new Map<unknown, Waiting[]>()
  const waitingBatches: (() => void)[] = []
  let isGoingOn = false
  const isContended = () => queues.size > 0 || waitingBatches.length > 0

  const fits = (bytes: number) =>
    total.used + bytes <= (bytes <= SMALL_ANSWER_BYTES ? total.hardBytes : total.softBytes)

  /** Looks at what waits once the work of this turn is done. */
  const goOnLater = () => {
    if (isGoingOn || !isContended()) return
    isGoingOn = true
    setImmediate(() => {
      isGoingOn = false
      goOn()
    })
  }

  const open = (lane: ConnectionLevel, reserved: number): Room => {
    const levels = [lane, total]
    let taken = 0
    let held = 0
    let ready = 0
    const resize = (bytes: number, readyBytes = 0) => {
      for (const level of levels) {
        level.used += bytes - taken
        level.ready += readyBytes - ready
      }
      taken = bytes
      ready = readyBytes
    }
    /** Only batches ask whether they may go on: from their first answer on. */
    let isBatch = false
    const endWork = () => {
      if (isBatch) for (const level of levels) level.working.delete(room)
      goOnLater()
    }
    const room: Room = {
      wait() {
        const mayGoOn = levels.every((level) => level.used <= level.softBytes || isNext(level, room))
        return mayGoOn ? undefined : new Promise<void>((resolve) => void waitingBatches.push(resolve))
      },
      hold(bytes) {
        const more = held + bytes - taken
        if (!isBatch) for (const level of levels) level.working.add(room)
        isBatch = true
        if (more > 0 && levels.some((level) => level.used + more > level.hardBytes)) return false
        held += bytes
        if (more > 0) resize(held)
        return true
      },
      settle(bytes) {
        const more = bytes - taken
        if (more > 0 && total.used + more > total.hardBytes) return false
        // A connection may always have one answer, however long.
        if (more > 0 && lane.used > taken && lane.used + more > lane.hardBytes) return false
        resize(bytes, bytes)
        endWork()
        return true
      },
      release() {
        resize(0)
        endWork()
      },
    }
    resize(reserved)
    return room
  }

  /** Begins what waits for room and finds some now, and lets batches look again whether they may go on. */
  const goOn = () => {
    for (const wake of waitingBatches.splice(0)) wake()
    for (const [owner, queue] of queues) {
      const { bytes, lane, waiter } = queue[0]
      if (!fits(bytes)) return
      queue.shift()
      queues.delete(owner)
      if (queue.length > 0) queues.set(owner, queue) // behind the others
      if (waiter.isGone()) waiter.giveUp()
      else waiter.begin(open(lane, bytes))
    }
  }

  return {
    openLane() {
      const lane: ConnectionLevel = {
        used: 0,
        ready: 0,
        softBytes: connectionBytes,
        hardBytes: 2 * connectionBytes,
        working: new Set(),
        hasRoom: () => lane.used <= lane.softBytes && (lane.used === 0 || total.used <= total.softBytes),
        usedBytes: () => lane.used,
      }
      return lane
    },
    reserve(lane, owner, bytes, waiter) {
      if (fits(bytes)) return waiter.begin(open(lane as ConnectionLevel, bytes))
      const waiting = { lane: lane as ConnectionLevel, bytes, waiter, sinceMs: performance.now() }
      const queue = queues.get(owner)
      if (queue === undefined) queues.set(owner, [waiting])
      else queue.push(waiting)
    },
    hold(lane, bytes) {
      const room = open(lane as ConnectionLevel, 0)
      if (room.settle(bytes)) return room
      room.release()
      return undefined
    },
    isContended,
    sweep(nowMs) {
      for (const [owner, queue] of queues) {
        const [late, rest] = [[], []] as [Waiting[], Waiting[]]
        for (const each of queue) (nowMs - each.sinceMs > MAX_WAIT_MS || each.waiter.isGone() ? late : rest).push(each)
        if (rest.length > 0) queues.set(owner, rest)
        else queues.delete(owner)
        for (const { waiter } of late) waiter.giveUp()
      }
      goOn()
    },
    usedBytes: () => total.used,
  }
}

/** True for the oldest batch while there is nothing that clients could take. */
function isNext({ ready, working }: Level, room: Room): boolean {
  return ready === 0 && working.values().next().value === room
}
