import { equalBytes } from '../../lib/bytes.js'
import type { Logger } from '../../lib/logger.js'
import { type Clock, systemClock } from '../../sources/upstreams/clock.js'
import type { ReplicaPosition } from '../../store/replication/position.js'
import type { ReplicaChain } from '../apply/replicaChain.js'
import type { PositionedUnit, ReplicationSource, ReplicationUnit } from '../codec/types.js'
import { atStreamPlace, ReplicationGap } from '../errors.js'
import { createKnownBlocks, type KnownBlocks } from '../knownBlocks.js'
import { createStreamAssembler, type StreamAssembler } from './assembler.js'
import type { NatsLink } from './connection.js'
import { NotInStream, StreamDiverged, StreamMissing, StreamReplaced } from './errors.js'
import { findStart, firstMessage, type NatsStreamStart } from './findStart.js'
import { type ChainStream, openStream, type StreamMessage } from './stream.js'
import { readStream } from './streamReader.js'
import { describeFailure, isTransientError, untilAborted } from './transientError.js'

/** Options of `createNatsSource`. */
export interface NatsSourceOptions {
  /** The connection, which the source does not close. */
  readonly link: NatsLink
  readonly chain: ReplicaChain
  readonly log: Logger
  /** Called with the reason when nothing arrives, null when something does. */
  onProblem?(problem: string | null): void
  /** Called when the stream answers, also if it has nothing more. */
  onActivity?(): void
  /** Provides the change sets that the stream does not have any more. */
  readonly repair?: ReplicationSource
  /** The change sets end when this sequence was read, as `StreamEnd.sequence`: then the stream must exist.
   *  Undefined: they never end. */
  readonly until?: number
  /** Time and timers, for tests. */
  readonly clock?: Clock
}

const RETRY_MS = 500

/** Creates a source of the changes that a writer publishes to NATS. It reconnects forever, and finds a stream again
 *  that was deleted and created again. Otherwise `units` throws ReplicationGap for change sets that the stream does
 *  not have any more and NotInStream for a replica on a branch that is not in it, both unless `repair` is set;
 *  InvalidMessage and StaleEpoch for messages that are damaged, forged or out of order; StreamOfOtherChain; with
 *  `until`, StreamMissing. */
export function createNatsSource(options: NatsSourceOptions): ReplicationSource {
  return {
    units: async function* ({ position, locator, state }, signal) {
      const { link } = options
      const highest = locator[0]?.number ?? -1
      try {
        yield* followStream(options, { link, signal, blocks: createKnownBlocks(locator), position, state, highest })
      } catch (error) {
        if (!signal.aborted) throw error
      }
    },
  }
}

interface Reading {
  readonly link: NatsLink
  readonly signal: AbortSignal
  readonly blocks: KnownBlocks
  position?: ReplicaPosition
  /** With sparse state: the newest addition to it that the replica has or was sent. */
  state?: number
  /** Number of the highest block that the replica may have. */
  highest: number
}

/** Reads the stream, and each stream that replaces it. */
async function* followStream(options: NatsSourceOptions, reading: Reading): AsyncGenerator<PositionedUnit> {
  const { log, onProblem = () => {}, onActivity = () => {}, repair, until, clock = systemClock } = options
  const { link, signal } = reading
  while (!signal.aborted) {
    try {
      const stream = await untilAborted(openStream(link, options.chain), signal)
      const start = await locate(options, stream, reading)
      onActivity()
      if (start !== undefined) {
        onProblem(null)
        yield* readUnits(options, { stream, start, reading })
        return
      }
      if (until !== undefined && (await stream.range()).last === 0) return
      const head = reading.blocks.top()?.number
      if (until !== undefined) throw new NotInStream(stream.stream, head)
      onProblem(`stream ${stream.stream}: waiting for the writer to publish block ${head ?? 0}`)
    } catch (error) {
      if (signal.aborted) return
      if (isGap(error) && repair !== undefined) {
        log.warn({ problem: describeFailure(error) }, 'reading the missing blocks over HTTP')
        yield* repairUnits(options, reading, repair)
        continue
      }
      if (error instanceof StreamReplaced || error instanceof StreamDiverged)
        log.error({ problem: error.message }, 'looking for the newest block in the stream')
      else if (error instanceof StreamMissing ? until !== undefined : !isTransientError(error)) throw error
      onProblem(describeFailure(error))
    }
    await clock.sleep(RETRY_MS, signal).catch(() => {}) // aborted: the loop ends
  }
}

function isGap(error: unknown): boolean {
  return error instanceof ReplicationGap || error instanceof NotInStream
}

/** Finds where to resume; undefined while the stream has not reached the replica's newest block.
 *  @throws ReplicationGap, NotInStream */
async function locate(
  { until, chain: { stateMode } }: NatsSourceOptions,
  stream: ChainStream,
  { link, signal, blocks, position, state }: Reading,
): Promise<NatsStreamStart | undefined> {
  const isSparse = stateMode === 'sparse' // begins with the first block that has state, or with a copy
  // The state before the search, which then covers these messages.
  const [first, { head }] = await untilAborted(Promise.all([firstMessage(stream), stream.end()]), signal)
  const start = await untilAborted(
    findStart(link, stream, { position, locator: blocks.locator(), state }, { signal }),
    signal,
  )
  const top = blocks.top()
  if (top === undefined && isSparse) throw new NotInStream(stream.stream, undefined)
  if (start !== undefined || top === undefined) return start
  if (first === undefined || head === undefined) return undefined
  const lowest = first.head().block.number
  if (lowest > top.number) throw new ReplicationGap(`stream ${stream.stream}`, top.number + 1, lowest)
  if (head.number > top.number || until !== undefined) throw new NotInStream(stream.stream, top.number)
  return undefined
}

/** Yields the change sets from `start` on. Ends at the sequence `until`, or when the signal aborts. */
async function* readUnits(
  { onProblem, onActivity, until, clock }: NatsSourceOptions,
  { stream, start, reading }: { stream: ChainStream; start: NatsStreamStart; reading: Reading },
): AsyncGenerator<PositionedUnit> {
  const { link, signal } = reading
  if (until !== undefined && start.sequence > until) return
  const assembler = createStreamAssembler({ stream, ...start })
  // Above its start block, the replica may have other blocks than the stream: they are replaced.
  let isBelow = start.top !== undefined && start.top.number < reading.highest
  const reader = readStream(link, stream, { from: start.sequence, signal, onProblem, onActivity, clock })
  for await (const message of reader) {
    if (beginsElsewhere(message, reading) && (await stream.range()).first === message.sequence) {
      reading.position = undefined // the message at it is gone, and does not show where to resume
      throw new StreamDiverged(stream.stream, message.sequence - 1, 'a new beginning behind it')
    }
    const positioned = takeMessage(assembler, message)
    if (positioned !== undefined) {
      const given = isBelow ? withAncestor(positioned) : positioned
      reading.position = given.position
      isBelow = countUnit(reading, given.unit, isBelow)
      yield given
    }
    if (until !== undefined && message.sequence >= until) return
  }
}

function takeMessage(assembler: StreamAssembler, message: StreamMessage): PositionedUnit | undefined {
  try {
    return assembler.take(message)
  } catch (error) {
    throw atStreamPlace(error, () => `${describeBlock(message)}message ${message.sequence} of the stream`)
  }
}

function describeBlock({ head }: StreamMessage): string {
  try {
    return `block ${head().block.number}, `
  } catch {
    return '' // the header itself is damaged
  }
}

/** True for the epoch message of a writer that continues after another block than the replica's newest one. A writer
 *  that finds an empty stream and does not know what was published starts this way, some blocks below its head. */
function beginsElsewhere(message: StreamMessage, { blocks }: Reading): boolean {
  const top = blocks.top()
  try {
    const { kind, block } = message.head()
    return kind === 'epoch' && top !== undefined && !equalBytes(top.hash, block.hash)
  } catch {
    return false // the assembler reports the problem
  }
}

/** Counts a change set as passed to the replica. @returns true if the replica may still have other blocks above it */
function countUnit(reading: Reading, unit: ReplicationUnit, isBelow: boolean): boolean {
  reading.state = unit.state?.after ?? reading.state
  if (unit.kind !== 'blocks') return isBelow
  reading.blocks.add(unit)
  const { number } = reading.blocks.top()!
  const isStillBelow = isBelow && number <= reading.highest
  if (!isStillBelow) reading.highest = number
  return isStillBelow
}

/** Makes the change set replace what follows the block before it. */
function withAncestor(positioned: PositionedUnit): PositionedUnit {
  const { unit, position } = positioned
  if (unit.kind !== 'blocks' || unit.ancestor !== undefined) return positioned
  const [{ number, parentHash }] = unit.blocks
  return { unit: { ...unit, ancestor: { number: number - 1, hash: parentHash } }, position }
}

/** Yields the change sets of another source, until the newest block is in the stream. */
async function* repairUnits(
  options: NatsSourceOptions,
  reading: Reading,
  repair: ReplicationSource,
): AsyncGenerator<PositionedUnit> {
  const { blocks, signal } = reading
  reading.position = undefined
  const ended = new AbortController()
  const either = AbortSignal.any([signal, ended.signal])
  try {
    for await (const positioned of repair.units({ locator: blocks.locator(), state: reading.state }, either)) {
      const { unit } = positioned
      countUnit(reading, unit, false)
      yield positioned
      if (unit.kind === 'blocks' && (await isInStream(options, reading))) return
    }
  } finally {
    ended.abort(new Error('the stream holds what follows'))
  }
}

async function isInStream(options: NatsSourceOptions, reading: Reading): Promise<boolean> {
  const { link, blocks, signal } = reading
  const top = blocks.top()
  try {
    const stream = await openStream(link, options.chain)
    const [first, { head }] = [await firstMessage(stream), await stream.end()]
    if (first === undefined || head === undefined || top === undefined) return false
    if (first.head().block.number > top.number || head.number < top.number) return false
    return (await findStart(link, stream, { locator: [top] }, { signal, isNear: true })) !== undefined
  } catch (error) {
    const isChanging = [StreamMissing, StreamReplaced, StreamDiverged].some((kind) => error instanceof kind)
    if (signal.aborted || isTransientError(error) || isChanging) return false
    throw error
  }
}
