import { dirname } from 'node:path'
import { decodeShortString } from '../../../chain/starknet/felt.js'
import type { L2NetworkName } from '../../../chain/starknet/networks.js'
import type { L2VerifyFunction } from '../../../chain/starknet/verify.js'
import { messageOf } from '../../../lib/errors.js'
import type { Logger } from '../../../lib/logger.js'
import { openL2Upstreams } from '../../../sources/starknet/l2Upstreams.js'
import type { L2UpstreamsOptions } from '../../../sources/starknet/types.js'
import { type Clock, systemClock } from '../../../sources/upstreams/clock.js'
import { linkAbort } from '../../../sources/upstreams/linkedAbort.js'
import type { UpstreamAddress } from '../../../sources/upstreams/types.js'
import type { Checkpoints } from '../../../store/checkpoints.js'
import type { Database } from '../../../store/database.js'
import { createL2Reader, type L2Reader } from '../../../store/l2/l2Reader.js'
import { L2Writer } from '../../../store/l2/l2Writer.js'
import { reportMismatch } from '../../stateUpdates.js'
import { isTransient } from '../errors.js'
import { createFollowFigures } from '../status.js'
import { describeStop } from '../stopped.js'
import { isL2Alarm } from './errors.js'
import { L2Follower } from './l2Follower.js'
import type { L2FollowStatus } from './status.js'
import { createWriteTurns } from './writeTurns.js'

/** What to follow of layer 2. */
export interface L2FollowSettings {
  /** Nodes with Starknet JSON-RPC. */
  readonly rpc: readonly UpstreamAddress[]
  readonly feeders: readonly UpstreamAddress[]
  /** Default: that of the database, or unknown. */
  readonly network?: L2NetworkName
  /** Recompute block hashes. */
  readonly verify: boolean
  /** First block to store in an empty database. Default: 0. */
  readonly from?: number
}

interface L2Parts {
  readonly log: Logger
  readonly signal: AbortSignal
  readonly checkpoints: Checkpoints
  readonly l2Verify: L2VerifyFunction
  /** Failures after which following resumes by itself. Default: alarms, and `isTransient`. */
  recovers?(error: unknown): boolean
  /** Time and timers, for tests. */
  readonly clock?: Clock
}

/** Follows layer 2 over connections that the caller opens. */
export interface L2Following {
  /** Sets the network of a database opened for writing. @throws L2NetworkMismatch */
  setNetwork(db: Database): void
  /** Begins following over this connection. */
  begin(db: Database): L2Run
  status(): L2FollowStatus
  /** Closes the connections to the upstreams. */
  close(): void
}

/** Following over one connection. */
export interface L2Run {
  /** For the connection's other writer: its commits let layer 2 write. */
  readonly checkpoints: Checkpoints
  /** Resolves when the signal aborts. Rejects with a failure after which following does not resume. */
  readonly ended: Promise<void>
  /** Stops following; the connection may then be closed. */
  end(): Promise<void>
}

// After an alarm or a failure: the upstream may have the accepted blocks again, or the disk may have space.
const FIRST_RETRY_MS = 1000
const MAX_RETRY_MS = 20_000

/** Creates a follower of layer 2 that sends no request yet. @throws UsageError for an address that cannot be used */
export function createL2Following(settings: L2FollowSettings, parts: L2Parts): L2Following {
  const { rpc, feeders, network, verify, from } = settings
  const { log, signal: outer, checkpoints, l2Verify, recovers = isTransient, clock = systemClock } = parts
  const figures = createFollowFigures()
  let store: { reader: L2Reader; writer: L2Writer } | undefined
  let follower: L2Follower | undefined
  let acceptedOnL1: number | null = null
  const upstreams = openL2Upstreams({
    ...{ rpc, feeders, verify: verify ? l2Verify : undefined, log, clock },
    expected: () => (store ? describeAvailable(store.reader, store.writer) : {}),
  })
  const open = (db: Database) => ({
    reader: createL2Reader(db),
    writer: new L2Writer(db, { source: 'upstream', onMismatch: reportMismatch(db, log) }),
  })

  const next = () => (figures.status().block ?? (from ?? 0) - 1) + 1
  const stall = (datadir: string) => {
    const found = upstreams.stall()
    return found && { stopped: describeStop(found.error, datadir, next()), ms: found.ms }
  }
  let datadir = ''
  const run = async (db: Database, turns: ReturnType<typeof createWriteTurns>, signal: AbortSignal): Promise<void> => {
    datadir = dirname(db.name)
    for (let retryMs = FIRST_RETRY_MS; !signal.aborted; retryMs = Math.min(2 * retryMs, MAX_RETRY_MS)) {
      const before = figures.status().block
      try {
        store = open(db)
        follower = new L2Follower({ ...store, turns }, upstreams, { signal, log, from, checkpoints, figures, clock })
        await upstreams.start(signal)
        await follower.run()
      } catch (error) {
        if (signal.aborted) return
        figures.stops(isL2Alarm(error) ? 'alarm' : 'failed', describeStop(error, datadir, next()))
        const { problem, block } = figures.status()
        const fields = { problem, error: messageOf(error) }
        if (!isL2Alarm(error) && !recovers(error)) {
          log.error(fields, 'following layer 2 ended')
          throw error
        }
        if (block !== before) retryMs = FIRST_RETRY_MS
        log.error({ ...fields, retryInMs: retryMs }, 'following layer 2 stopped; it begins again by itself')
        await clock.sleep(retryMs, signal).catch(() => {})
      }
    }
  }
  return {
    setNetwork: (db) => {
      if (network !== undefined) new L2Writer(db).setNetwork(network)
    },
    begin: (db) => {
      const turns = createWriteTurns(db)
      const linked = linkAbort(outer)
      const running = run(db, turns, linked.signal)
      running.catch(() => {}) // the status reports it
      return {
        checkpoints: {
          afterCommit: () => {
            turns.afterCommit()
            return checkpoints.afterCommit()
          },
        },
        ended: running,
        end: async () => {
          linked.abort(new Error('following ended'))
          linked.release()
          await running.catch(() => {})
          try {
            acceptedOnL1 = store?.writer.acceptedOnL1() ?? null
          } finally {
            store = undefined
          }
        },
      }
    },
    status: () => ({
      ...{ ...figures.status(stall(datadir)), upstreams: upstreams.status() },
      upstreamHash: follower?.upstreamHash() ?? null,
      acceptedOnL1: store ? (store.writer.acceptedOnL1() ?? null) : acceptedOnL1,
    }),
    close: upstreams.close,
  }
}

/** Returns what a database knows of its chain: chain id and network if known, and its first block if layer 1 accepted
 *  it. */
export function describeAvailable(reader: L2Reader, writer: L2Writer): ReturnType<L2UpstreamsOptions['expected']> {
  const chainId = reader.chainId()
  const first = reader.first()
  const isFinal = first !== undefined && first.number <= (writer.acceptedOnL1() ?? -1)
  return {
    chainId: chainId === undefined ? undefined : decodeShortString(chainId),
    network: writer.network(),
    block: isFinal ? first : undefined,
  }
}
