import { CairnError, messageOf } from '../../lib/errors.js'
import { formatData } from '../../lib/hex.js'
import type { Finality } from '../../store/rows/types.js'
import type { BlockRef } from '../../sync/head/events.js'
import { StateEntriesMissing } from '../errors.js'
import type { StreamStart, StreamStop } from '../http/feed.js'
import { encodeFrame, encodeUnit, FRAME_FORMAT, SPARSE_FRAME_FORMAT } from '../http/frames.js'
import type { ReplicatedChain } from '../replicatedChain.js'

/** A replica requests blocks starting at one whose parent is not stored. */
class BlockUnavailable extends CairnError {
  constructor(from: number, head: number | undefined) {
    const held = head === undefined ? 'no block is available' : `the newest block is ${head}`
    super(`from: blocks from ${from} on are not available, their parent is not available: ${held}`)
  }
}

/** A replica of complete state, or of an earlier version, asks for a chain with sparse state. */
class SparseOnly extends CairnError {
  constructor() {
    super('this server has sparse state: begin the replica with --state sparse, of the same version of Cairn')
  }
}

/** Max bytes of frames that the client has not received. The last one may exceed it. */
const AHEAD_BYTES = 4 * 2 ** 20

/** A heartbeat is sent after this time without other frames. */
export const HEARTBEAT_MS = 5000

interface Stream {
  /** The newest block that the client has or was sent; undefined before the first. */
  top: BlockRef | undefined
  /** With sparse state: the newest entry that the client has or was sent. */
  state: number | undefined
  /** The blocks to search when a branch was removed too long ago. */
  base: readonly BlockRef[]
  sentFinality: Finality | undefined
  /** Bytes sent and not received by the client. */
  ahead: number
  /** The version of the database at which there was nothing more to send. */
  seen: number | undefined
  sentMs: number
}

/** The streams of replicas over one feed. */
interface ReplicationStreams {
  open(id: number, start: StreamStart): void
  /** The client of the stream has received this many more bytes. */
  taken(id: number, bytes: number): void
  close(id: number): void
  /** Makes frames for every stream below its limit, from at most one snapshot each. False when there was nothing to
   *  do. */
  work(nowMs: number): boolean
}

/** Starts without streams. `send` gets whole frames, `end` the reason why a stream cannot continue. */
export function createReplicationStreams(
  feed: ReplicatedChain,
  { send, end }: { send(id: number, frames: Buffer): void; end(id: number, end: StreamStop): void },
): ReplicationStreams {
  const streams = new Map<number, Stream>()
  const put = (id: number, stream: Stream, frames: readonly Buffer[], nowMs: number) => {
    const bytes = Buffer.concat(frames)
    stream.ahead += bytes.length
    stream.sentMs = nowMs
    send(id, bytes)
  }
  const advance = (id: number, stream: Stream, nowMs: number): boolean => {
    if (stream.ahead > AHEAD_BYTES) return false
    const version = feed.version()
    if (stream.seen === version) {
      if (nowMs - stream.sentMs >= HEARTBEAT_MS) put(id, stream, [heartbeat(feed)], nowMs)
      return false
    }
    const { state } = stream
    const units = feed.next({ locator: locatorOf(stream), state }, stream.sentFinality)
    if (units.length === 0) {
      stream.seen = version
      return false
    }
    for (const unit of units) {
      if (unit.kind === 'epoch') continue
      stream.state = unit.state?.after ?? stream.state
      if (unit.kind === 'state') continue
      stream.sentFinality = unit.finality ?? stream.sentFinality
      if (unit.kind === 'blocks') goOn(stream, unit)
    }
    put(id, stream, units.flatMap(encodeUnit), nowMs)
    return true
  }
  return {
    open(id, start) {
      try {
        const locator = 'locator' in start ? start.locator : [blockBefore(feed, start.from)]
        const state = stateOf(feed, start)
        feed.next({ locator, state }, undefined) // refuses a locator of another chain before the response begins
        const [top, ...base] = locator
        const stream = { top, base, state, sentFinality: undefined, ahead: 0, seen: undefined, sentMs: 0 }
        streams.set(id, stream)
        put(id, stream, [greeting(feed)], performance.now())
      } catch (error) {
        end(id, endOf(error))
      }
    },
    taken(id, bytes) {
      const stream = streams.get(id)
      if (stream !== undefined) stream.ahead -= bytes
    },
    close: (id) => void streams.delete(id),
    work(nowMs) {
      let isBusy = false
      for (const [id, stream] of streams) {
        try {
          if (advance(id, stream, nowMs)) isBusy = true
        } catch (error) {
          streams.delete(id)
          end(id, endOf(error))
        }
      }
      return isBusy
    },
  }
}

function locatorOf({ top, base }: Stream): BlockRef[] {
  return top === undefined ? [] : [top, ...base]
}

function endOf(error: unknown): StreamStop {
  return { problem: messageOf(error), isGap: error instanceof StateEntriesMissing }
}

/** Returns the newest entry of sparse state that the client has; undefined if it gets none. @throws SparseOnly */
function stateOf(feed: ReplicatedChain, { state }: StreamStart): number | undefined {
  if (state === 'none' || !feed.isSparse()) return undefined
  if (state === undefined) throw new SparseOnly()
  return state
}

function goOn(stream: Stream, { ancestor, blocks }: { ancestor?: BlockRef; blocks: readonly BlockRef[] }): void {
  const last = blocks.at(-1) ?? ancestor!
  stream.top = { number: last.number, hash: last.hash }
  if (ancestor !== undefined) stream.base = stream.base.filter(({ number }) => number <= ancestor.number)
}

function blockBefore(feed: ReplicatedChain, from: number): BlockRef {
  const hash = feed.hash(from - 1)
  if (hash !== undefined) return { number: from - 1, hash }
  throw new BlockUnavailable(from, feed.head())
}

function greeting(feed: ReplicatedChain): Buffer {
  const genesis = feed.hash(0)
  return encodeFrame({
    format: feed.isSparse() ? SPARSE_FRAME_FORMAT : FRAME_FORMAT,
    'chain-id': feed.chainId().toString(),
    genesis: genesis === undefined ? null : formatData(genesis),
  })
}

function heartbeat(feed: ReplicatedChain): Buffer {
  return encodeFrame({ kind: 'heartbeat', head: feed.head() ?? null })
}
