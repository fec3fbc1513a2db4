import type { L2VerifyFunction } from '../../chain/starknet/verify.js'
import { openForWriting } from '../../store/openForWriting.js'
import { closeWritten } from '../../store/writeAheadLog.js'
import { type EngineReply, openEngine } from '../engine/openEngine.js'
import { NoStateSource, type WantedState } from '../sparse/stateOnDemand.js'
import { nameCoreContract } from '../stateUpdates.js'
import { createL2Following, type L2Following } from './l2/l2Following.js'
import type { L2FollowStatus } from './l2/status.js'
import { type FollowerParts, type FollowSettings, openFollower } from './runFollower.js'
import type { FollowStatus } from './status.js'

/** Status of following on each layer; null where nothing is followed. */
export interface FollowersStatus {
  readonly l1: FollowStatus | null
  readonly l2: L2FollowStatus | null
}

/** A database that followers write. */
export interface OpenFollowers {
  /** Follows until the signal aborts. Layer 1 continues when layer 2 ends.
   *  @throws what `OpenFollower.run` throws, or with layer 2 alone what `L2Run.ended` rejects with */
  run(): Promise<void>
  status(): FollowersStatus
  /** As `OpenEngine.call`; absent where no consensus client drives the chain. */
  call?(method: string, params: unknown): Promise<EngineReply>
  /** As `OpenFollower.fetchState`. */
  fetchState(wanted: WantedState): Promise<number>
  /** Closes connections and database. */
  close(): void
}

/** Opens the database of `settings.datadir`, creating it if missing. Sends no request to an upstream yet.
 *  @throws UsageError for an address that cannot be used, and as `openWritableChain`; DatabaseLocked,
 *  L2NetworkMismatch */
export async function openFollowers(
  settings: FollowSettings,
  parts: Omit<FollowerParts, 'l2'> & { l2Verify: L2VerifyFunction },
): Promise<OpenFollowers> {
  if (settings.engine) {
    const { run, status, fetchState, close, call } = await openEngine(settings, parts)
    return { run, fetchState, close, call, status: () => ({ l1: status(), l2: null }) }
  }
  const l2 = settings.l2 && createL2Following(settings.l2, parts)
  if (settings.upstreams.length === 0 && l2) return openL2Alone(settings, l2)
  const { run, status, fetchState, close } = await openFollower(settings, { ...parts, l2 })
  return {
    run,
    fetchState,
    status: () => ({ l1: status(), l2: l2?.status() ?? null }),
    close: () => {
      l2?.close()
      close()
    },
  }
}

function openL2Alone({ datadir, coreContract }: FollowSettings, l2: L2Following): OpenFollowers {
  const db = openForWriting(datadir)
  const close = () => {
    l2.close()
    closeWritten(db)
  }
  try {
    db.pragma('wal_autocheckpoint = 0')
    if (coreContract) nameCoreContract(db, coreContract)
    l2.setNetwork(db)
  } catch (error) {
    close()
    throw error
  }
  return {
    run: async () => {
      const { ended, end } = l2.begin(db)
      await ended.finally(end)
    },
    status: () => ({ l1: null, l2: l2.status() }),
    fetchState: () => Promise.reject(new NoStateSource('no layer-1 upstream is followed')),
    close,
  }
}
