import type { Readable } from 'node:stream'

/** Shares the reading of unfinished requests among all connections of a server. Without it, libuv reads up to 2 MB from each
 *  connection in one turn of the event loop, and 300 uploads at once hold up every other client for a second. */
export interface ReadBudget {
  /** A source that is being read. */
  open(source: ReadSource): ReadTurns
  /** Reads the rest of a stream and throws it away. */
  discard(stream: Readable): void
}

/** What is read from. */
export interface ReadSource {
  pause(): void
  /** Called once for each `pause`, in a later turn. */
  resume(): void
}

/** Counts what is read from one source. */
export interface ReadTurns {
  /** Counts bytes that came. Pauses the source when the turn has none left or others wait; it is resumed in one of the next turns. */
  count(bytes: number): void
  /** True between `pause` and `resume`. */
  isWaiting(): boolean
  /** The source is not resumed any more. */
  close(): void
}

/** About 0.3 ms of copying. libuv accepts one connection in a turn, so turns have to be short: with 4 MB in each, a new client
 *  waited a second behind 300 others. */
const TURN_BYTES = 262_144

/** What a source may bring when it is resumed: libuv reads up to 64 KiB at once, and a paused stream takes up to two such chunks
 *  until it stops. One that brought little before is taken to bring little again, within reason. */
const MOST_READ_BYTES = 131_072
const LEAST_READ_BYTES = 4096

/** Work of a piece beside its bytes, so that a body in tiny chunks does not come cheaper than it is. */
const PIECE_BYTES = 512

/** A budget of `turnBytes` for each turn of the event loop. Paused sources are resumed in the order in which they were paused. */
export function createReadBudget(turnBytes = TURN_BYTES): ReadBudget {
  /** Paused sources, how they are resumed and what they may bring then, the one that has waited longest first. */
  const waiting = new Map<ReadTurns, { resume: () => void; expectedBytes: number }>()
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
    for (const [turns, { resume, expectedBytes }] of waiting) {
      if (left < expectedBytes && left < turnBytes) break
      left -= expectedBytes
      waiting.delete(turns)
      resume()
    }
    if (waiting.size > 0) planTurn()
  }
  const open = (source: ReadSource): ReadTurns => {
    const turns: ReadTurns = {
      count(bytes) {
        spent += bytes + PIECE_BYTES
        planTurn()
        // While others wait, each gets one piece in its turn: those that are read first would take all of it.
        if ((spent < turnBytes && waiting.size === 0) || waiting.has(turns)) return
        const expectedBytes = Math.min(MOST_READ_BYTES, Math.max(LEAST_READ_BYTES, 2 * bytes))
        waiting.set(turns, { resume: () => source.resume(), expectedBytes })
        source.pause()
      },
      isWaiting: () => waiting.has(turns),
      close: () => void waiting.delete(turns),
    }
    return turns
  }
  return {
    open,
    discard(stream) {
      const turns = open(stream)
      stream.on('data', (chunk: Buffer) => turns.count(chunk.length))
      stream.once('close', turns.close)
      stream.resume()
    },
  }
}
