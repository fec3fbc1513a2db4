import { equalBytes } from '../../lib/bytes.js'
import type { Logger } from '../../lib/logger.js'
import { type Clock, systemClock } from '../../sources/upstreams/clock.js'
import type { Finality } from '../../store/rows/types.js'
import type { BlockRef } from '../../sync/head/events.js'
import type { ReplicaChain } from '../apply/replicaChain.js'
import type { ReplicationUnit } from '../codec/types.js'
import type { ReplicatedChain } from '../replicatedChain.js'
import type { NatsLink } from './connection.js'
import { Fenced, StreamAdvanced, StreamReplaced, StreamWentBack } from './errors.js'
import { endsUnit } from './messageHead.js'
import { readPublisherCursor, writePublisherCursor } from './publisherCursor.js'
import { createSender, type StreamSender } from './sender.js'
import { type ChainStream, openStream, type StreamEnd } from './stream.js'
import { describeFailure, isTransientError, untilAborted } from './transientError.js'
import { HEADER_BYTES, messagesOf } from './unitMessages.js'

/** What `createPublisher` needs. */
export interface PublisherOptions {
  readonly link: NatsLink
  /** The feed over the writer's database. */
  readonly feed: ReplicatedChain
  /** The chain, whose stream is created if missing, also when it is deleted later. */
  readonly chain: ReplicaChain
  /** Epoch of the held lease. */
  readonly epoch: number
  /** Records what was acknowledged: `DATADIR/publisher.json`. */
  readonly cursorFile: string
  readonly log: Logger
  /** Aborts to end the publisher: the server stops, or the lease is lost. */
  readonly signal: AbortSignal
  /** Blocks below the head at which a new stream starts. */
  readonly publishBlocks: number
  /** `StreamEnd.sequence` up to which the stream was applied to the database; undefined: the stream may have more. */
  readonly applied?: number
  /** Time and timers, for tests. */
  readonly clock?: Clock
}

/** What a publisher has published. */
export interface PublisherStatus {
  /** `NAME@created`; undefined before the stream is open. */
  readonly stream: string | undefined
  /** Sequence of the last message. */
  readonly sequence: number
  /** Number of the newest published block; undefined before the first. */
  readonly block: number | undefined
  /** Why publishing fails; null when it works. */
  readonly problem: string | null
}

/** Publishes the chain of a writer. */
export interface Publisher {
  /** Publishes every change of the chain until the signal aborts. Resumes from the end of the stream: an interrupted
   *  process loses nothing and repeats nothing.
   *  @throws Fenced when another writer publishes; StreamAdvanced; StreamOfOtherChain; NoCommonBlock when none of
   *    the newest blocks in the stream is, or was, on this chain */
  run(): Promise<void>
  status(): PublisherStatus
}

/** Interval of the checks for a commit. A check takes 5 µs. */
const LOOK_MS = 4
const RETRY_MS = 1000
/** Interval of the cursor writes while it is busy. */
const CURSOR_MS = 1000
/** Number of recently published blocks kept, for a branch that was removed too long ago. */
const RECENT = 128
/** Max messages of an earlier writer that are read to find such a branch, each twice as far back as the one before. */
const MAX_LOOKS_BACK = 20

/** Creates a publisher of a chain. `run` may be called once. */
export function createPublisher(options: PublisherOptions): Publisher {
  const { epoch, log, signal, clock = systemClock } = options
  let status: PublisherStatus = { stream: undefined, sequence: 0, block: undefined, problem: null }
  const onProblem = (problem: string | null) => {
    status = { ...status, problem }
  }
  let { applied } = options
  const report = (stream: ChainStream, sender: StreamSender, published: BlockRef) => {
    status = { stream: stream.name, sequence: sender.sequence, block: published.number, problem: null }
  }
  const publish = async () => {
    const { stream, end } = await untilAborted(openEnd(options), signal)
    if (end.epoch > epoch) throw new Fenced(stream.stream, end.sequence, end.epoch)
    if (applied !== undefined && end.sequence > applied) throw new StreamAdvanced(stream.stream, applied, end.sequence)
    const start = await startOf(options, stream, end)
    const { top } = start
    const recent = await untilAborted(findRecent(options, stream, end, top), signal)
    const sender = createSender({ ...options, stream, sequence: end.sequence, onProblem })
    try {
      const state = start.state === undefined ? undefined : { before: start.state, after: start.state }
      await sendUnit(options, sender, { kind: 'epoch', epoch, head: top, state }, top)
    } catch (error) {
      if (!(error instanceof Fenced) || (error.epoch ?? epoch) > epoch) throw error
      // A writer that this message would have fenced published first once more.
      if (applied !== undefined) throw new StreamAdvanced(stream.stream, applied, error.sequence)
      return
    }
    applied = undefined
    report(stream, sender, top)
    log.info({ stream: stream.name, epoch, after: top.number, sequence: sender.sequence }, 'publishing')
    await publishChanges(options, { stream, sender, ...start, recent, finality: end.finality, report })
  }
  return {
    status: () => status,
    run: async () => {
      while (!signal.aborted) {
        try {
          await publish()
        } catch (error) {
          if (signal.aborted) return
          if (error instanceof StreamReplaced || error instanceof StreamWentBack) {
            log.error({ problem: error.message }, 'the stream lost published blocks; they are published again')
          } else if (!isTransientError(error)) throw error
          onProblem(`stream of chain ${options.chain.chainId}: ${describeFailure(error)}`)
          await clock.sleep(RETRY_MS, signal).catch(() => {})
        }
      }
    },
  }
}

async function openEnd({ link, chain }: PublisherOptions): Promise<{ stream: ChainStream; end: StreamEnd }> {
  const stream = await openStream(link, chain, { create: true })
  return { stream, end: await stream.end() }
}

/** Where publishing resumes. */
interface PublishStart {
  /** The block before it. */
  readonly top: BlockRef
  /** With sparse state: the addition to it before it. */
  readonly state: number | undefined
}

/** Returns where publishing resumes. Waits for the first block of a new chain. */
async function startOf(options: PublisherOptions, stream: ChainStream, end: StreamEnd): Promise<PublishStart> {
  const { cursorFile, log, feed, publishBlocks, signal, clock = systemClock } = options
  const cursor = readPublisherCursor(cursorFile)
  if (cursor !== undefined) {
    const { stream: before, sequence, number, hash, state } = cursor
    if (before !== stream.name && before.split('@')[0] === stream.stream) {
      log.error({ before, now: stream.name }, 'the stream was deleted; publishing it again')
    } else if (before === stream.name && sequence > end.sequence) {
      log.error({ acknowledged: sequence, last: end.sequence }, 'the stream lost messages; they are published again')
    } else if (before === stream.name && sequence === end.sequence && end.head === undefined) {
      return startAt(feed, { number, hash }, state) // all messages expired
    }
  }
  if (end.head !== undefined) return startAt(feed, end.head, end.state)
  let head = feed.head()
  for (; head === undefined; head = feed.head()) await clock.sleep(LOOK_MS, signal)
  const from = Math.max(0, head - publishBlocks, feed.stateBounds()?.firstBlock ?? 0)
  const number = firstAvailable(feed, Math.min(head, from), head)
  return startAt(feed, { number, hash: feed.hash(number)! }, undefined)
}

/** @param published the last addition to sparse state that was published; undefined: none, or not known */
function startAt(feed: ReplicatedChain, top: BlockRef, published: number | undefined): PublishStart {
  return { top, state: feed.isSparse() ? (published ?? feed.stateAt(top.number)) : undefined }
}

/** Returns the first stored block from `from` on; `head` and all blocks between are stored. */
function firstAvailable(feed: ReplicatedChain, from: number, head: number): number {
  let [low, high] = [from, head]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (feed.hash(middle) === undefined) low = middle + 1
    else high = middle
  }
  return high
}

/** Returns blocks that were published before `top`, newest first, when `top` is not on the chain. */
async function findRecent(
  { feed }: PublisherOptions,
  stream: ChainStream,
  end: StreamEnd,
  top: BlockRef,
): Promise<BlockRef[]> {
  const held = feed.hash(top.number)
  if (end.head === undefined || (held !== undefined && equalBytes(held, top.hash))) return []
  const { first } = await stream.range()
  const found: BlockRef[] = []
  for (let back = 1, look = 0; look < MAX_LOOKS_BACK && end.sequence - back >= first; back *= 2, look++) {
    const message = await stream.message(end.sequence - back)
    const head = message?.head()
    if (head !== undefined && endsUnit(head) && head.block.number < (found.at(-1) ?? top).number) found.push(head.block)
  }
  return found
}

async function sendUnit({ epoch, link }: PublisherOptions, sender: StreamSender, unit: ReplicationUnit, top: BlockRef) {
  const maxBytes = link.maxPayload - HEADER_BYTES
  for (const message of messagesOf(unit, { epoch, top, maxBytes })) await sender.send(message)
}

interface Publishing {
  readonly stream: ChainStream
  readonly sender: StreamSender
  readonly top: BlockRef
  readonly state: number | undefined
  readonly recent: readonly BlockRef[]
  readonly finality: Finality | undefined
  report(stream: ChainStream, sender: StreamSender, published: BlockRef): void
}

/** Publishes the changes of the chain after `top`, until the signal aborts. */
async function publishChanges(options: PublisherOptions, publishing: Publishing): Promise<void> {
  const { feed, epoch, cursorFile, signal, clock = systemClock } = options
  const { stream, sender, report } = publishing
  let { top, state, recent, finality } = publishing
  let written = { sequence: 0, atMs: clock.nowMs() }
  const remember = () => {
    if (written.sequence === sender.sequence) return
    writePublisherCursor(cursorFile, { stream: stream.name, sequence: sender.sequence, epoch, ...top, state })
    written = { sequence: sender.sequence, atMs: clock.nowMs() }
  }
  try {
    while (!signal.aborted) {
      const version = feed.version()
      const units = feed.next({ locator: [top, ...recent], state }, finality)
      for (const unit of units) {
        await sendUnit(options, sender, unit, top)
        state = unit.state?.after ?? state
        if (unit.kind === 'blocks' || unit.kind === 'finality') finality = unit.finality ?? finality
        if (unit.kind === 'blocks') {
          const { ancestor, blocks } = unit
          const before = [top, ...recent].filter(({ number }) => ancestor === undefined || number <= ancestor.number)
          const [last, ...others] = [...blocks, ...(ancestor ? [ancestor] : [])].sort((a, b) => b.number - a.number)
          recent = [...others, ...before].slice(0, RECENT).map(({ number, hash }) => ({ number, hash }))
          top = { number: last.number, hash: last.hash }
        }
        report(stream, sender, top)
        if (clock.nowMs() - written.atMs >= CURSOR_MS) remember()
      }
      if (units.length > 0) continue
      remember()
      while (feed.version() === version) await clock.sleep(LOOK_MS, signal)
    }
  } finally {
    remember()
  }
}
