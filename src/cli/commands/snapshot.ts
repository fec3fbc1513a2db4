import { join } from 'node:path'
import { UsageError } from '../../lib/errors.js'
import type { ObjectStore } from '../../lib/objects/objectStore.js'
import { openObjectStore } from '../../lib/objects/openObjectStore.js'
import { didYouMean } from '../../lib/suggestion.js'
import { PUBLISHER_FILE, readPublisherCursor } from '../../replication/nats/publisherCursor.js'
import type { SnapshotManifest } from '../../snapshots/manifest.js'
import { packageVersion } from '../../store/packageVersion.js'
import type { Config } from '../config.js'
import type { ParsedArgs } from '../parseArgs.js'
import { showSnapshotSteps } from '../snapshotProgress.js'
import { printResult, printSummary } from '../standardStreams.js'
import { listenForStop } from '../stopSignal.js'
import { formatTable } from '../table.js'

const ACTIONS = ['create', 'list', 'restore'] as const
type Action = (typeof ACTIONS)[number]

/** `cairn snapshot create | list | restore`. SIGINT and SIGTERM end it with exit codes 130 and 143; the same command
 *  resumes it. */
export async function runSnapshot({ config, operands }: ParsedArgs): Promise<number> {
  const { action, target, name } = await parseRequest(operands)
  requireOptionsOf(action, config)
  const store = await openObjectStore(target, { endpoint: config.s3Endpoint, region: config.s3Region }, process.env)
  const stop = listenForStop()
  try {
    const request = { store, name, config, signal: stop.signal }
    const text = await RUNS[action](request)
    if (action === 'list') await printResult(text)
    else printSummary(text)
    return 0
  } catch (error) {
    if (stop.signal.aborted) return stop.exitCode()
    throw error
  } finally {
    stop.close()
  }
}

interface Request {
  readonly store: ObjectStore
  readonly name: string | undefined
  readonly config: Config
  readonly signal: AbortSignal
}

/** Each action returns the text to print. */
const RUNS: { readonly [K in Action]: (request: Request) => Promise<string> } = { create, list, restore }

async function parseRequest([word, target, name, surplus]: readonly string[]) {
  const action = ACTIONS.find((candidate) => candidate === word)
  if (action === undefined) {
    const unknown = word === undefined ? '' : `, got '${word}'${didYouMean(word, ACTIONS)}`
    throw new UsageError(`expected 'create', 'list' or 'restore'${unknown}; see 'cairn help snapshot'`)
  }
  if (target === undefined) {
    throw new UsageError(`snapshot ${action}: expected a directory or s3://BUCKET/PREFIX; see 'cairn help snapshot'`)
  }
  const extra = action === 'list' ? name : surplus
  if (extra !== undefined) throw new UsageError(`unexpected operand '${extra}'; see 'cairn help snapshot'`)
  const { isSnapshotName } = await import('../../snapshots/manifest.js')
  if (name !== undefined && !isSnapshotName(name)) {
    throw new UsageError(
      `snapshot ${action}: expected a name of 1 to 100 letters, digits, '.', '_' and '-', got ${JSON.stringify(name.slice(0, 100))}`,
    )
  }
  return { action, target, name }
}

/** @throws UsageError for an option that the action would ignore */
function requireOptionsOf(action: Action, { keep }: Config): void {
  if (keep !== undefined && action !== 'create') {
    throw new UsageError(`--keep is no option of 'cairn snapshot ${action}', but of 'snapshot create'`)
  }
}

async function create({ store, name, config, signal }: Request): Promise<string> {
  const { createSnapshot } = await import('../../snapshots/createSnapshot.js')
  const { removeOldSnapshots } = await import('../../snapshots/removeSnapshots.js')
  const { datadir, keep } = config
  const shown = showSnapshotSteps()
  try {
    const published = readPublisherCursor(join(datadir, PUBLISHER_FILE))
    const { onProgress } = shown
    const terms = { datadir, store, name, published, version: packageVersion(), signal, onProgress }
    const { manifest, uploaded, resumed } = await createSnapshot(terms)
    shown.finish()
    const how = resumed ? ' of an interrupted run' : ''
    const said = `${describe(manifest)}${how}: written to ${store.place}, ${megabytes(uploaded)} MB of it new`
    const removed = keep === undefined ? [] : await removeOldSnapshots(store, { chain: manifest, keep, signal })
    if (config.json) return JSON.stringify({ ...factsOf(manifest), place: store.place, uploaded, resumed, removed })
    return removed.length === 0 ? said : `${said}\nremoved ${removed.join(', ')}`
  } finally {
    shown.finish()
  }
}

async function list({ store, config, signal }: Request): Promise<string> {
  const { listSnapshots } = await import('../../snapshots/manifest.js')
  const snapshots = await listSnapshots(store, { signal })
  if (config.json) return JSON.stringify(snapshots.map(factsOf))
  if (snapshots.length === 0) return `no snapshots in ${store.place}; make one with 'cairn snapshot create'`
  const rows = snapshots.map(({ name, chainId, head, createdAt, bytes, position }) => [
    ...[name, chainId, String(head.number), createdAt.replace(/\.\d+Z$/, 'Z'), megabytes(bytes)],
    position === null ? '-' : String(position.sequence),
  ])
  return formatTable([['NAME', 'CHAIN', 'BLOCK', 'CREATED', 'MB', 'SEQUENCE'], ...rows])
}

async function restore({ store, name, config, signal }: Request): Promise<string> {
  const { restoreSnapshot } = await import('../../snapshots/restoreSnapshot.js')
  const { datadir } = config
  const shown = showSnapshotSteps()
  try {
    const { manifest, downloaded, leftOut } = await restoreSnapshot({
      store,
      name,
      datadir,
      signal,
      onProgress: shown.onProgress,
    })
    shown.finish()
    if (config.json) return JSON.stringify({ ...factsOf(manifest), datadir, downloaded, leftOut })
    const said = `${describe(manifest)}: restored to ${datadir}, ${megabytes(downloaded)} MB downloaded`
    return leftOut.length === 0 ? said : `${said}\nleft out of it: ${leftOut.join(', ')}`
  } finally {
    shown.finish()
  }
}

/** Facts of a snapshot, for JSON: its parts are counted. */
function factsOf({ parts, ...facts }: SnapshotManifest) {
  return { ...facts, parts: parts.length }
}

function describe({ name, head, bytes }: SnapshotManifest): string {
  return `snapshot ${name}, block ${head.number}, ${megabytes(bytes)} MB`
}

const megabytes = (bytes: number) => Math.ceil(bytes / 1e6).toLocaleString('en')
