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

/** About 5 ms of copying. */
const TURN_BYTES = 4_000_000

/** libuv reads up to 64 KiB at once; a paused stream takes up to two such chunks until it stops. */
const LEAST_READ_BYTES = 131_072

/** Work of a piece beside its bytes, so that a body in tiny chunks does not come cheaper than it is. */
const PIECE_BYTES = 512

/** A budget of `turnBytes` for each turn of the event loop. Paused sources are resumed in the order in which they were paused. */
export function createReadBudget(turnBytes = TURN_BYTES): ReadBudget {
  const resumedPerTurn = Math.max(1, Math.floor(turnBytes / LEAST_READ_BYTES))
  /** Paused sources and how they are resumed, the one that has waited longest first. */
  const waiting = new Map<ReadTurns, () => void>()
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
    let left = resumedPerTurn
    for (const [turns, resume] of waiting) {
      if (left-- === 0) break
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
        waiting.set(turns, () => source.resume())
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
