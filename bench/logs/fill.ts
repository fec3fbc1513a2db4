import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DATABASE_FILE } from '../../src/store/open.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { openWritableChain } from '../../src/sync/chainState.js'
import { Checkpointer } from '../../src/workers/checkpointer.js'
import { makeBlocks } from '../../test/support/chains/logBlocks.js'
import type { LogChain } from '../../test/support/chains/logChain.js'
import { quantile } from '../lib/client.js'
import { measureBytes } from '../lib/size.js'
import { openDuckDb } from './duckdb.js'
import { type BulkLoad, finishMerges, type Loading, loadBulk, loadTip, type TipBlocks } from './loadStores.js'
import type { PeerName } from './options.js'
import { openOrdinary } from './ordinary.js'
import { readShapeParameters, type ShapeParameters } from './parameters.js'
import { openPostgres } from './postgres.js'
import type { LogStore } from './store.js'

/** What is known of databases that were filled, kept beside them for `--reuse`. */
export interface Filled {
  logs: number
  seed: number
  parameters: ShapeParameters
  /** Names of the other stores that hold the same logs. */
  stores: string[]
  /** Members of the report. */
  figures: { [name: string]: number }
  /** By store. */
  peers: { [name: string]: PeerFigures }
}

/** What was measured of a peer while it was filled. */
export interface PeerFigures {
  version: string
  bulkLogsPerSecond: number
  bytesPerLog: number
  tipBlockP50Ms: number
}

/** A store beside ours that is asked the same. */
export type Peer = LogStore & { version: string }

const TIP_BLOCKS = 60
// In a process that has loaded nothing before, the first blocks meet code that is not compiled.
const TIP_WARM_UP = 100
const INDEX_BUDGET_MS = 2
const RECORD = 'bench.json'

/** Where our database of the benchmark is. */
export function cairnFolder(directory: string): string {
  return join(directory, 'cairn')
}

/** Opens the other stores in `directory` by name; they are made where they are not. */
export async function openStores(names: readonly string[], directory: string): Promise<LogStore[]> {
  const stores: LogStore[] = []
  for (const name of names) {
    if (name === 'ordinary') stores.push(openOrdinary(join(directory, 'ordinary.db')))
    if (name === 'duckdb') stores.push(await openDuckDb(join(directory, 'duckdb.db')))
    if (name === 'postgres') stores.push(await openPostgres(join(directory, 'postgres')))
  }
  return stores
}

/** What was filled in `directory` before. @throws Error when nothing was. */
export function readFilled(directory: string): Filled {
  const path = join(directory, RECORD)
  if (!existsSync(path)) throw new Error(`--reuse: ${directory} holds no databases of a finished load (no ${RECORD})`)
  return JSON.parse(readFileSync(path, 'utf8')) as Filled
}

/** Names of the stores that are filled beside ours. */
export function storeNames(ordinary: boolean, peers: readonly PeerName[]): string[] {
  return [...(ordinary ? ['ordinary'] : []), ...peers]
}

/** Fills a new database of ours and the other stores, and measures that.
 *  @throws Error when there is a database already. */
export async function fill(
  chain: LogChain,
  { logs, seed, directory, others }: { logs: number; seed: number; directory: string; others: readonly LogStore[] },
): Promise<Filled> {
  if (existsSync(join(cairnFolder(directory), DATABASE_FILE))) {
    throw new Error(`${directory} holds a database: measure it with --reuse, remove it, or name another --datadir`)
  }
  mkdirSync(directory, { recursive: true })
  const loading = await openLoading(directory, makeBlocks(chain, seed), others)
  const bulk = await loadBulk(loading, logs, reportProgress)
  process.stderr.write('\ntip blocks, and the rest of the merges\n')
  const merging = await loadTip(loading, TIP_BLOCKS, INDEX_BUDGET_MS)
  const mergesMs = await finishMerges(loading)
  const quiet = await loadTip(loading, TIP_BLOCKS, INDEX_BUDGET_MS)
  printTips(merging, quiet)
  process.stderr.write('checkpoints and sizes\n')
  await finish(loading, directory)
  const { db } = loading.cairn
  const figures = { ...measureBytes(db), ...loadFigures({ bulk, merging, quiet, mergesMs }) }
  process.stderr.write('counting logs for the shapes\n')
  const parameters = readShapeParameters(db, chain)
  db.close()
  const ordinary = others.find(({ name }) => name === 'ordinary')
  if (ordinary) Object.assign(figures, await ordinaryFigures(ordinary, { bulk, quiet }))
  const peers: Filled['peers'] = {}
  for (const other of others) if (other !== ordinary) peers[other.name] = await peerFigures(other, { bulk, quiet })
  const filled = { logs, seed, parameters, stores: others.map(({ name }) => name), figures, peers }
  writeRecord(directory, filled)
  return filled
}

/** Stores `count` blocks more, each alone, in all stores that hold the others, after `TIP_WARM_UP` that are not
 *  counted.
 *  @returns what is known of the databases then */
export async function addTips(
  chain: LogChain,
  filled: Filled,
  { count, directory, others }: { count: number; directory: string; others: readonly LogStore[] },
): Promise<Filled> {
  if (others.length < filled.stores.length) throw new Error(`--tips: needs all stores: ${filled.stores.join(', ')}`)
  const loading = await openLoading(directory, makeBlocks(chain, filled.seed, filled.parameters.head + 1), others)
  process.stderr.write(`${count} tip blocks\n`)
  await loadTip(loading, TIP_WARM_UP, INDEX_BUDGET_MS)
  const tips = await loadTip(loading, count, INDEX_BUDGET_MS)
  printQuietTips(tips)
  await finish(loading, directory)
  const parameters = readShapeParameters(loading.cairn.db, chain)
  loading.cairn.db.close()
  const figures: Filled['figures'] = { ...filled.figures, ...tipFigures(tips) }
  if (tips.othersMs.ordinary) figures.ordinaryTipBlockP50Ms = quantile(tips.othersMs.ordinary, 0.5)
  const peers = Object.entries(filled.peers).map(([name, peer]) => {
    return [name, { ...peer, tipBlockP50Ms: quantile(tips.othersMs[name], 0.5) }]
  })
  const renewed: Filled = { ...filled, parameters, figures, peers: Object.fromEntries(peers) }
  writeRecord(directory, renewed)
  return renewed
}

type OpenCairn = Awaited<ReturnType<typeof openCairn>>

type OpenLoading = Loading & { cairn: OpenCairn; bare: OpenCairn }

function bareFolder(directory: string): string {
  return join(directory, 'bare')
}

async function openLoading(
  directory: string,
  blocks: Loading['blocks'],
  others: readonly LogStore[],
): Promise<OpenLoading> {
  rmSync(bareFolder(directory), { recursive: true, force: true }) // of a run that was broken off
  const cairn = await openCairn(cairnFolder(directory))
  return { blocks, cairn, bare: await openCairn(bareFolder(directory)), others }
}

/** Leaves the write-ahead logs copied and the stores as a careful operator would. Our database stays open. */
async function finish({ cairn, bare, others }: OpenLoading, directory: string): Promise<void> {
  for (const { checkpoints } of [cairn, bare]) await checkpoints.close()
  cairn.db.pragma('wal_checkpoint(TRUNCATE)')
  bare.db.close()
  rmSync(bareFolder(directory), { recursive: true })
  for (const other of others) await other.finish()
}

function writeRecord(directory: string, filled: Filled): void {
  writeFileSync(join(directory, RECORD), `${JSON.stringify(filled, null, 2)}\n`)
}

/** A database of ours, written as `cairn import` does; made where it is not there. */
export async function openCairn(folder: string) {
  const db = openForWriting(folder)
  db.pragma('wal_autocheckpoint = 0')
  const { head } = await openWritableChain(db, { network: 'mainnet' }, 'none')
  return { db, head, checkpoints: new Checkpointer(folder) }
}

interface Loads {
  bulk: BulkLoad
  /** Tip blocks while the index was being merged. */
  merging: TipBlocks
  /** Tip blocks while nothing else runs. */
  quiet: TipBlocks
  mergesMs: number
}

function loadFigures({ bulk, merging, quiet, mergesMs }: Loads) {
  return {
    bulkLogsPerSecond: perSecond(bulk.logs, bulk.cairnMs + mergesMs),
    bulkLogsPerSecondWithoutTransactions: perSecond(bulk.logs, bulk.cairnMs - bulk.bareMs + mergesMs),
    ...tipFigures(quiet),
    tipBlockMergingP50Ms: quantile(merging.cairnMs, 0.5),
    tipBlockMergingMaxMs: quantile(merging.cairnMs, 1),
  }
}

function tipFigures({ cairnMs, afterMs, bareMs }: TipBlocks) {
  return {
    tipBlockP50Ms: quantile(cairnMs, 0.5),
    tipBlockAfterP50Ms: quantile(afterMs, 0.5),
    tipBlockWithoutLogsP50Ms: quantile(bareMs, 0.5),
  }
}

async function ordinaryFigures(store: LogStore, { bulk, quiet }: Pick<Loads, 'bulk' | 'quiet'>) {
  return {
    ordinaryBytesPerLog: await store.bytesPerLog(),
    ordinaryBulkLogsPerSecond: perSecond(bulk.logs, bulk.othersMs[store.name]),
    ordinaryTipBlockP50Ms: quantile(quiet.othersMs[store.name], 0.5),
  }
}

async function peerFigures(store: LogStore, { bulk, quiet }: Pick<Loads, 'bulk' | 'quiet'>): Promise<PeerFigures> {
  return {
    version: (store as Peer).version,
    bulkLogsPerSecond: perSecond(bulk.logs, bulk.othersMs[store.name]),
    bytesPerLog: await store.bytesPerLog(),
    tipBlockP50Ms: quantile(quiet.othersMs[store.name], 0.5),
  }
}

function reportProgress({ logs, cairnMs, othersMs }: BulkLoad): void {
  const rates = [['cairn', cairnMs] as const, ...Object.entries(othersMs)].map(
    ([name, ms]) => `${name} ${Math.round(perSecond(logs, ms)).toLocaleString('en')}`,
  )
  process.stderr.write(`\r${logs.toLocaleString('en')} logs; logs/s: ${rates.join(', ')}   `)
}

function printTips(merging: TipBlocks, quiet: TipBlocks): void {
  const whether = merging.merging ? 'was' : 'was not always'
  console.log(`tip blocks while a merge ${whether} under way: ${spread(merging.cairnMs)}`)
  printQuietTips(quiet)
}

function printQuietTips({ cairnMs, afterMs, bareMs, othersMs }: TipBlocks): void {
  console.log(`tip blocks without: ${spread(cairnMs)}`)
  console.log(`after it, rows and index: ${spread(afterMs)}`)
  console.log(`of it for the block, its transactions and receipts: ${spread(bareMs)}`)
  for (const [name, times] of Object.entries(othersMs)) console.log(`tip blocks of ${name}: ${spread(times)}`)
}

function spread(times: number[]): string {
  return `${[0.5, 0.99, 1].map((share) => quantile(times, share).toFixed(2)).join(' / ')} ms (p50 / p99 / max)`
}

function perSecond(logs: number, ms: number): number {
  return (logs / ms) * 1_000
}
