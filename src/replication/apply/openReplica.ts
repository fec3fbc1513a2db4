import { InvalidBlock } from '../../chain/eth/invalidBlock.js'
import { RestoredTrieDiffers } from '../../evm/state/pastTries.js'
import { equalBytes } from '../../lib/bytes.js'
import { UsageError } from '../../lib/errors.js'
import type { Logger } from '../../lib/logger.js'
import type { Progress } from '../../lib/progress.js'
import { type Clock, systemClock } from '../../sources/upstreams/clock.js'
import type { Checkpoints } from '../../store/checkpoints.js'
import { openForReading } from '../../store/open.js'
import type { ReplicaPosition } from '../../store/replication/position.js'
import { createChainReader } from '../../store/rows/chainReader.js'
import { type ChainSource, readChainSource } from '../../store/rows/chainSource.js'
import { STATE_CACHE_BYTES } from '../../sync/chainState.js'
import { describeStop, type Stopped } from '../../sync/follow/stopped.js'
import { ReorgBelowFinalized, StateRootDiffers } from '../../sync/head/errors.js'
import type { BlockRef } from '../../sync/head/events.js'
import { type OpenWriter, whenUnlocked } from '../../sync/openWriter.js'
import type { ReplicationStatus } from '../../sync/replicationStatus.js'
import { StorageOfOtherIncarnation } from '../../trie/blockChanges.js'
import type { ReplicaPlace, ReplicationSource } from '../codec/types.js'
import { InvalidMessage, ReplicationGap, StateEntriesMissing } from '../errors.js'
import { ReplicationGone } from '../http/errors.js'
import { createLagClock } from '../lagClock.js'
import { NotInStream, StreamOfOtherChain } from '../nats/errors.js'
import { Applier } from './applier.js'
import type { RemoteTrieHasher } from './catchUpTrie.js'
import { StaleEpoch, StateChangesMissing, StateModeDiffers, StateNodesMissing, UnknownAncestor } from './errors.js'
import { createLocator } from './locator.js'
import { removeAbove } from './removeAbove.js'
import { describeChain, openReplicaWriter, type ReplicaChain, type ReplicaSettings } from './replicaChain.js'
import { applyUnits } from './replicaLoop.js'
import { readAhead, type UnitQueue, type VerifyElsewhere } from './unitQueue.js'

/** What a replica needs in addition to its settings. */
export interface ReplicaParts {
  readonly log: Logger
  readonly signal: AbortSignal
  readonly checkpoints?: Checkpoints
  openSource(chain: ReplicaChain): ReplicationSource
  /** Returns the newest block of the locator that is on the source's chain; the blocks above it are removed.
   *  Undefined: none, or the source resumes from the position. Default: left to the source. */
  findPublished?(chain: ReplicaChain, place: ReplicaPlace, signal: AbortSignal): Promise<BlockRef | undefined>
  /** Number of the newest block that the source's chain is known to have, in addition to the blocks received.
   *  Default: not known. */
  sourceHead?(): number | undefined
  /** Opens a verifier for the blocks of the chain in another thread. Default: blocks are verified in the thread that
   *  writes. */
  openVerifier?(chain: ChainSource): { readonly verify: VerifyElsewhere; close(): Promise<void> }
  /** Opens a hasher for the state trie in another thread, for a replica that is behind. Default: the trie follows
   *  the rows. */
  openHasher?(data: { datadir: string; cacheBytes: number }): RemoteTrieHasher & { close(): Promise<void> }
  /** True for errors after which the replica restarts by itself. Default: all but UsageError. */
  recovers?(error: unknown): boolean
  /** Time and timers, for tests. */
  readonly clock?: Clock
  /** Shows the progress of upgrading an older database. */
  startProgress?(label: string, unit: string, total: number): Progress
}

/** A database that a replica writes. */
export interface OpenReplica {
  /** Applies the change sets of the source until the signal aborts or, with `untilEnd`, until the source ends. A
   *  refused change set is an alarm: the database is closed, so that `cairn rewind` can open it, and the replica
   *  restarts when the chain was rewound, and after a minute.
   *  @throws an error that `recovers` does not name */
  run(): Promise<void>
  status(): ReplicationStatus
  /** Closes the database, and ends the verifier thread. */
  close(): Promise<void>
}

const TRIE_INTERVAL = 1024
// Number of newest blocks that a local locator lists without a gap: more than a writer commits before it publishes.
const DENSE_BLOCKS = 256
// Interval of the checks whether the chain was rewound.
const LOOK_MS = 500
// Delay after a failure, doubled each time; after an alarm the maximum at once.
const FIRST_RETRY_MS = 1000
const MAX_RETRY_MS = 20_000
// An attempt without a change set that runs for this long counts as following again: the cause would have shown.
const RESUMED_MS = 2000
// Time that a stopping replica spends on moving recent state rows to the history.
const SETTLE_MS = 500
// Blocks behind what was read ahead at which a replica counts as catching up.
const CATCHING_UP_BLOCKS = 16

/** Opens the database of a replica, creating it if missing: a new one starts with the genesis of `settings.chain`.
 *  @throws UsageError and as `openWritableChain`; DatabaseLocked */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: opens parts in order, closes them in reverse
export async function openReplica(settings: ReplicaSettings, parts: ReplicaParts): Promise<OpenReplica> {
  const { log, signal, clock = systemClock, recovers = (error) => !(error instanceof UsageError) } = parts
  let writer: OpenWriter | undefined = await openReplicaWriter(settings, parts)
  const closeWriter = () => {
    writer?.close()
    writer = undefined
  }
  let source: ReplicationSource
  let described: ReplicaChain
  try {
    described = await describeChain(writer.chain)
    source = parts.openSource(described)
  } catch (error) {
    closeWriter()
    throw error
  }
  const verifier = parts.openVerifier?.(readChainSource(writer.db)!)
  // The thread gets as much memory as the writer, which does not use its own meanwhile.
  const { datadir, stateCacheBytes = STATE_CACHE_BYTES } = settings
  const hasher = parts.openHasher?.({ datadir, cacheBytes: stateCacheBytes })
  const figures = createFigures(settings.role ?? 'replica', writer, parts.sourceHead)
  const describe = (error: unknown): StoppedReplica => {
    const state = isAlarm(error) ? 'alarm' : 'failed'
    const isCut = CUTS.some((kind) => error instanceof kind)
    const stopped = describeStop(error, settings.datadir, figures.blocks() + 1)
    return { state, problem: stopped.reason, stopped, ...(isCut && { needsSnapshot: true }) }
  }
  const { findPublished } = parts
  const openApplier = async ({ db, chain }: OpenWriter) => {
    const { trieInterval = TRIE_INTERVAL } = settings
    const open = () => new Applier(db, chain, { log, trieInterval, hasher })
    const applier = open()
    if (findPublished === undefined) return applier
    const place = { position: applier.position, locator: createLocator(chain.reader, DENSE_BLOCKS) }
    const published = place.locator.length === 0 ? undefined : await findPublished(described, place, signal)
    const mayGoBelowFinalized = settings.role === 'standby'
    const hasChanged = published && (await removeAbove(chain, published, { ...parts, mayGoBelowFinalized }))
    return hasChanged ? open() : applier
  }
  const follow = async (own: OpenWriter) => {
    const { chain } = own
    const applier = await openApplier(own)
    for (let more = applier.workOnTrie(); more; more = applier.workOnTrie()) {
      await more
      await parts.checkpoints?.afterCommit()
    }
    if (signal.aborted) return
    const reading = new AbortController()
    const stop = () => reading.abort(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    const from = { position: applier.position, locator: createLocator(chain.reader), state: applier.state }
    const { spec } = chain
    const queue = readAhead(source.units(from, reading.signal), {
      spec,
      verify: verifier?.verify,
      ends: settings.untilEnd,
      signal: reading.signal,
    })
    figures.begins(applier, queue)
    try {
      await applyUnits(chain, { applier, queue, checkpoints: parts.checkpoints, signal })
      // What is left is moved after the next start.
      const untilMs = performance.now() + SETTLE_MS
      while (performance.now() < untilMs && chain.head.moveRecentState()) await parts.checkpoints?.afterCommit()
    } finally {
      signal.removeEventListener('abort', stop)
      reading.abort(new Error('applying ended'))
      figures.ends()
      await queue.closed()
    }
  }
  return {
    run: async () => {
      for (let retryMs = FIRST_RETRY_MS; ; retryMs = Math.min(2 * retryMs, MAX_RETRY_MS)) {
        const before = figures.blocks()
        try {
          writer ??= await whenUnlocked(() => openReplicaWriter(settings, parts), clock, signal)
          await follow(writer)
          return
        } catch (error) {
          if (signal.aborted) return
          const why = describe(error)
          const { state, problem } = why
          closeWriter() // first: who reads of the problem may open the database
          figures.stops(why)
          if (!recovers(error)) {
            log.error({ problem }, 'the replica ended')
            throw error
          }
          if (figures.blocks() > before) retryMs = FIRST_RETRY_MS
          const waitMs = state === 'alarm' ? MAX_RETRY_MS : retryMs
          log.error({ problem, retryInMs: waitMs }, 'the replica stopped applying blocks')
          try {
            await untilRewound(settings.datadir, waitMs, clock, signal)
          } catch (waiting) {
            if (signal.aborted) return
            throw waiting
          }
        }
      }
    },
    status: figures.status,
    close: async () => {
      await hasher?.close() // before the writer, whose connection clears the write-ahead log if it is the last
      closeWriter()
      await verifier?.close()
    },
  }
}

const ALARMS = [
  ...[
    ReorgBelowFinalized,
    StateRootDiffers,
    RestoredTrieDiffers,
    StorageOfOtherIncarnation,
    InvalidBlock,
    InvalidMessage,
    ReplicationGap,
  ],
  ...[UnknownAncestor, StateChangesMissing, StaleEpoch, StreamOfOtherChain, NotInStream],
  ...[StateEntriesMissing, StateModeDiffers, ReplicationGone],
]

/** Errors that a newer database solves. */
const CUTS = [ReplicationGap, ReplicationGone, NotInStream, StateEntriesMissing, StateNodesMissing]

/** True for errors that the writer or the operator must resolve. */
function isAlarm(error: unknown): boolean {
  return ALARMS.some((kind) => error instanceof kind)
}

/** Resolves after `ms`, or when the head of the database changes. @throws the reason of the signal */
async function untilRewound(datadir: string, ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
  const look = () => {
    try {
      const db = openForReading(datadir)
      try {
        return createChainReader(db).headHash()
      } finally {
        db.close()
      }
    } catch {
      return undefined // a failed disk may also prevent reading
    }
  }
  const seen = look()
  for (const until = clock.nowMs() + ms; clock.nowMs() < until; ) {
    await clock.sleep(Math.min(LOOK_MS, ms), signal)
    const now = look()
    if (seen && now && !equalBytes(seen, now)) return
  }
}

interface StoppedReplica {
  readonly state: 'alarm' | 'failed'
  readonly problem: string
  readonly stopped: Stopped
  readonly needsSnapshot?: true
}

/** Keeps the values of the status, also while the database is closed. */
function createFigures(
  role: 'replica' | 'standby',
  { chain }: OpenWriter,
  sourceHead: () => number | undefined = () => undefined,
) {
  let head = chain.head.newest
  let position: ReplicaPosition | undefined
  let newest: number | undefined
  let current: { applier: Applier; queue: UnitQueue } | undefined
  let stopped: { why: StoppedReplica; block: number; beganMs: number } | undefined
  const lag = createLagClock()
  const status = (): ReplicationStatus => {
    if (current) {
      head = current.applier.newest
      position = current.applier.position
      newest = current.queue.newest ?? newest
    }
    const own = head?.header.number ?? -1
    const hasResumed = stopped && current && performance.now() - stopped.beganMs > RESUMED_MS
    if (hasResumed || (stopped && own > stopped.block)) stopped = undefined
    const lagBlocks = Math.max(own, newest ?? own, sourceHead() ?? own) - own
    // The block at which it stopped exists, even if it was not counted.
    const lagSeconds = lag.seconds(own, own + Math.max(lagBlocks, stopped ? 1 : 0))
    const state = lagBlocks > CATCHING_UP_BLOCKS ? 'catching up' : 'following'
    const { epoch = 0, sequence = 0 } = position ?? {}
    return { role, epoch, sequence, lagBlocks, lagSeconds, state, problem: null, ...stopped?.why }
  }
  return {
    status,
    blocks: () => head?.header.number ?? -1,
    begins: (applier: Applier, queue: UnitQueue) => {
      if (stopped) stopped.beganMs = performance.now()
      current = { applier, queue }
    },
    ends: () => {
      status()
      current = undefined
    },
    stops: (why: StoppedReplica) => {
      stopped = { why, block: head?.header.number ?? -1, beganMs: performance.now() }
    },
  }
}
