import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf, UsageError } from '../lib/errors.js'
import type { Logger } from '../lib/logger.js'
import { openObjectStore } from '../lib/objects/openObjectStore.js'
import { SnapshotMissing } from '../snapshots/errors.js'
import type { SnapshotManifest } from '../snapshots/manifest.js'
import { finishReplacing, REPLACED, setAside } from '../snapshots/replaceDatabase.js'
import { DATABASE_FILE, openForReading } from '../store/open.js'
import { createChainReader } from '../store/rows/chainReader.js'
import { type ChainSource, specOfSource } from '../store/rows/chainSource.js'
import type { IngestWorker } from '../sync/thread/ingestWorker.js'
import type { Config } from './config.js'
import { readFollowSettings } from './followSettings.js'
import { showSnapshotSteps } from './snapshotProgress.js'

interface Control {
  readonly log: Logger
  readonly signal: AbortSignal
}

const openStore = ({ snapshots, s3Endpoint, s3Region }: Config) =>
  openObjectStore(snapshots!, { endpoint: s3Endpoint, region: s3Region }, process.env)

/** Restores the newest snapshot of `--snapshots` if the database is missing. Without a snapshot, the server starts from
 *  genesis. Does nothing without `--snapshots`. @throws as `restoreSnapshot`; UsageError for a snapshot of another
 *  chain */
export async function bootstrapReplica(config: Config, { log, signal }: Control): Promise<void> {
  const { datadir } = config
  if (config.snapshots === undefined) return
  const store = await openStore(config)
  if (!existsSync(join(datadir, DATABASE_FILE))) {
    const { chain } = await readFollowSettings(config)
    const { restoreSnapshot } = await import('../snapshots/restoreSnapshot.js')
    const shown = showSnapshotSteps()
    const accept = (manifest: SnapshotManifest) => requireChain(manifest, chain)
    try {
      const restoring = { store, datadir, signal, accept, onProgress: shown.onProgress }
      const { manifest, leftOut } = await restoreSnapshot(restoring)
      if (leftOut.length > 0) log.warn({ snapshot: manifest.name, leftOut }, 'the snapshot has what none should have')
      log.info({ snapshot: manifest.name, block: manifest.head.number }, 'the database was restored from a snapshot')
    } catch (error) {
      if (!(error instanceof SnapshotMissing)) throw error
      log.warn({ place: store.place }, 'there is no snapshot to begin with')
      return
    } finally {
      shown.finish()
    }
  }
  if (existsSync(join(datadir, REPLACED))) finishReplacing(datadir)
}

/** @throws UsageError when the options name another chain */
function requireChain(
  { name, chainId }: SnapshotManifest,
  chain: ChainSource | { development: unknown } | undefined,
): void {
  if (chain === undefined || 'development' in chain) return
  const wanted = String(specOfSource(chain).chainId)
  if (wanted !== chainId) {
    throw new UsageError(`--snapshots: ${name} is of chain ${chainId}, --network or --genesis names chain ${wanted}`)
  }
}

/** Poll intervals of the status, and of the snapshots. */
const LOOK_MS = 1000
const RETRY_MS = 60_000

/** Resolves with true once the replica needs a newer database and a snapshot provides one, with false on abort. Never
 *  resolves with true without `--snapshots`. */
export async function untilCut(config: Config, ingest: IngestWorker, { log, signal }: Control): Promise<boolean> {
  while (!signal.aborted) {
    const isCut = config.snapshots !== undefined && ingest.replication?.().needsSnapshot === true
    if (isCut && (await hasNewer(config, { log, signal }))) return true
    await pause(isCut ? RETRY_MS : LOOK_MS, signal)
  }
  return false
}

/** True when the newest snapshot is beyond the head of the database. */
async function hasNewer(config: Config, { log, signal }: Control): Promise<boolean> {
  const { datadir } = config
  const db = openForReading(datadir)
  try {
    const reader = createChainReader(db)
    const { listSnapshots } = await import('../snapshots/manifest.js')
    const chainId = reader.holdsBlocks() ? String(reader.chainId()) : undefined
    const [newest] = await listSnapshots(await openStore(config), { signal })
    return (
      newest !== undefined &&
      (chainId ?? newest.chainId) === newest.chainId &&
      newest.head.number > (reader.head() ?? -1)
    )
  } catch (error) {
    if (!signal.aborted) log.error({ problem: messageOf(error) }, 'snapshots cannot be read')
    return false
  } finally {
    db.close()
  }
}

/** Moves the database aside, so that `bootstrapReplica` restores a newer one. No process may have it open. */
export function replaceDatabase({ datadir }: Config, log: Logger): void {
  log.warn(
    { datadir },
    'what follows the newest block is not available any more: the database is replaced by a snapshot',
  )
  setAside(datadir)
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end)
  })
}
