import type { Readable } from 'node:stream'

/** Shares the reading of incomplete requests among all connections of a server. Without it, libuv reads up to 2 MB from
 *  each connection per event-loop turn, and 300 concurrent uploads delay all other clients by a second. */
export interface ReadBudget {
  /** Registers a source to read from. */
  open(source: ReadSource): ReadShare
  /** Reads and discards the rest of a stream. */
  discard(stream: Readable): void
}

/** A pausable source. */
export interface ReadSource {
  pause(): void
  /** Called once per `pause`, in a later turn. */
  resume(): void
}

/** Accounts for the bytes read from one source. */
export interface ReadShare {
  /** Counts received bytes. Pauses the source when the turn's budget is used up or others wait; resumes it in one of
   *  the next turns. */
  count(bytes: number): void
  /** True between `pause` and `resume`. */
  isWaiting(): boolean
  /** The source will not be resumed. */
  close(): void
}

/** About 0.3 ms of copying. libuv accepts one connection per turn, so turns must be short: with 4 MB per turn, a new
 *  client waited a second behind 300 others. */
const TURN_BYTES = 262_144

/** Largest read of a resumed source: libuv reads up to 64 KiB at once, and a paused stream takes up to two such chunks
 *  until it stops. A source that delivered little before is expected to deliver little again. */
const MOST_READ_BYTES = 131_072
const LEAST_READ_BYTES = 4096

/** Overhead per chunk, in bytes, so that tiny chunks are not undercharged. */
const PIECE_BYTES = 512

/** A budget of `turnBytes` per event-loop turn. Paused sources are resumed in the order in which they were paused. */
export function createReadBudget(turnBytes = TURN_BYTES): ReadBudget {
  /** Paused sources, oldest first, with their `resume` and their expected bytes. */
  const waiting = new Map<ReadShare, { resume: () => void; expectedBytes: number }>()
  let spent = 0
  let isTurnPlanned = false

  const planTurn = () => {
    if (isTurnPlanned) return
    isTurnPlanned = true
    setImmediate(beginTurn)
  }
  const beginTurn = () => {
    isTurnPlanned = false
    spent = 0
    let left = turnBytes
    for (const [readShare, { resume, expectedBytes }] of waiting) {
      if (left < expectedBytes && left < turnBytes) break
      left -= expectedBytes
      waiting.delete(readShare)
      resume()
    }
    if (waiting.size > 0) planTurn()
  }
  const open = (source: ReadSource): ReadShare => {
    const readShare: ReadShare = {
      count(bytes) {
        spent += bytes + PIECE_BYTES
        planTurn()
        // While others wait, each source gets one chunk per turn; otherwise the sources read first would take the whole
        // budget.
        if ((spent < turnBytes && waiting.size === 0) || waiting.has(readShare)) return
        const expectedBytes = Math.min(MOST_READ_BYTES, Math.max(LEAST_READ_BYTES, 2 * bytes))
        waiting.set(readShare, { resume: () => source.resume(), expectedBytes })
        source.pause()
      },
      isWaiting: () => waiting.has(readShare),
      close: () => void waiting.delete(readShare),
    }
    return readShare
  }
  return {
    open,
    discard(stream) {
      const readShare = open(stream)
      stream.on('data', (chunk: Buffer) => readShare.count(chunk.length))
      stream.once('close', readShare.close)
      stream.resume()
    },
  }
}
