import { statSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import type { Header } from '../../chain/eth/types.js'
import { UsageError } from '../../lib/errors.js'
import { formatData } from '../../lib/hex.js'
import type { Logger } from '../../lib/logger.js'
import { yieldToEventLoop } from '../../lib/pause.js'
import type { Progress } from '../../lib/progress.js'
import { STANDARD_INPUT } from '../../sources/files/dumpText.js'
import { StateDumpFile } from '../../sources/files/stateDump.js'
import type { Database } from '../../store/database.js'
import { createMetaTable, META_STATE_DUMP, META_STATE_DUMP_IMPORT, META_STATE_MODE } from '../../store/meta.js'
import { createChainReader } from '../../store/rows/chainReader.js'
import { type ChainSource, readChainSource, specOfSource } from '../../store/rows/chainSource.js'
import { readListedStates } from '../../store/state/sparseState.js'
import { readStateDump, type StateDump } from '../../store/state/stateDump.js'
import { discardStateDump } from '../../store/state/stateDumpRows.js'
import { createStateTrieTable } from '../../store/state/stateTrieTable.js'
import { beginWriting, commitWriting, rollbackWriting } from '../../store/writeTransaction.js'
import { withoutForkTimes } from '../forkTimes.js'
import { requireSparseStart } from './beginState.js'
import { type DumpProgress, StateDumpLoader } from './stateDumpLoader.js'

/** What to import, and where. */
export interface StateDumpImport {
  /** Opened for writing. */
  readonly db: Database
  /** `-` for standard input. */
  readonly path: string
  /** The block after which the dump has the state. */
  readonly block: { readonly hash: Uint8Array; readonly header: Header }
  /** Undefined: the database names it. */
  readonly chain: ChainSource | undefined
  /** Stores the facts of the chain in the database, in mode sparse, once the state is verified. */
  openChain(): Promise<unknown>
  readonly progress: Progress
  /** As of `StateDumpLoaderParts`. */
  readonly batch?: number
  readonly log: Logger
  readonly signal?: AbortSignal
}

/** A part of a dump that was imported, and its file and block. */
interface StoredProgress extends DumpProgress {
  readonly path: string
  /** Null for standard input. */
  readonly sizeBytes: number | null
  readonly block: { readonly number: number; readonly hash: string }
}

/** Imports a state dump into a database without blocks, and verifies it against the header: its block is to be the
 *  first of the database. A dump that was interrupted is resumed. One that is wrong leaves nothing behind.
 *  @returns what was imported; undefined when the signal ended it: the same import resumes
 *  @throws UsageError for a database that cannot have it and for a block before Cancun; StateDumpError,
 *  StateDumpRootDiffers */
export async function importStateDump(options: StateDumpImport): Promise<StateDump | undefined> {
  const { db, path, block, chain, openChain, signal } = options
  requireImportable(db, chain)
  requireSparseStart(specOfSource(readChainSource(db) ?? chain!), block.header)
  const loaded = await load(options)
  if (loaded === undefined || signal?.aborted) return undefined
  await openChain()
  const { number } = block.header
  const hash = formatData(block.hash)
  const dump: StateDump = { number, hash, accounts: loaded.accounts, slots: loaded.slots }
  const meta = createMetaTable(db)
  beginWriting(db)
  createStateTrieTable(db).setHead({ ...loaded.trie, block: { number, hash } })
  meta.set(META_STATE_DUMP, dump)
  meta.set(META_STATE_DUMP_IMPORT, null)
  commitWriting(db)
  options.log.debug({ path, ...dump }, 'the state dump is complete')
  return dump
}

/** Requires that no dump is being imported into the database. @throws UsageError */
export function requireNoDumpImport(db: Database): void {
  const progress = createMetaTable(db).get<StoredProgress | null>(META_STATE_DUMP_IMPORT)
  if (progress == null) return
  const { number } = progress.block
  throw new UsageError(
    `the import of the state dump of block ${number} into this database is not complete: run the same 'cairn import ` +
      "--state-dump' again to resume it, or use another --datadir",
  )
}

/** Requires that the database has no state dump, which replicas would lack. @throws UsageError */
export function requireNoStateDump(db: Database): void {
  const dump = readStateDump(db)
  if (dump === undefined) return
  throw new UsageError(
    `the database began with the state dump of block ${dump.number}, which replicas would lack: leave --replication, ` +
      '--publish and --replica out, or give each server a copy of the database (cairn backup) and an upstream',
  )
}

/** Requires that no state of the database comes from an access list, without which replicas could not verify the
 *  blocks.
 *  @throws UsageError */
export function requireNoListedStates(db: Database): void {
  const listed = readListedStates(db)
  if (listed.length === 0) return
  const blocks = listed.map(({ first, last }) => `${first} to ${last}`).join(', ')
  throw new UsageError(
    `the states of blocks ${blocks} come from access lists, which replicas cannot verify: leave --replication, --publish ` +
      'and --replica out, or give each server a copy of the database (cairn backup) and an upstream',
  )
}

function requireImportable(db: Database, chain: ChainSource | undefined): void {
  const head = createChainReader(db).head()
  if (head !== undefined) {
    throw new UsageError(`the database has blocks up to ${head}; a state dump begins a new one: use another --datadir`)
  }
  const dump = readStateDump(db)
  if (dump) {
    const next = "'cairn serve --upstream URL' begins there"
    throw new UsageError(`the database has the state dump of block ${dump.number} already; ${next}`)
  }
  const stored = readChainSource(db)
  if (stored === undefined) return
  if (chain && !isDeepStrictEqual(withoutForkTimes(stored), chain)) {
    throw new UsageError('the database was begun with another genesis or network; use another --datadir')
  }
  const mode = createMetaTable(db).get<string>(META_STATE_MODE)
  if (mode !== 'sparse') throw new UsageError(`the database was begun with --state ${mode}; use another --datadir`)
}

/** Stores the accounts and slots, and makes the trie. */
async function load(options: StateDumpImport): Promise<DumpProgress | undefined> {
  const { db, path, block, progress, signal } = options
  const from = readProgress(options)
  const file = new StateDumpFile(path, from?.position)
  const meta = createMetaTable(db)
  const sizeBytes = sizeOf(path)
  const about = { path, sizeBytes, block: { number: block.header.number, hash: formatData(block.hash) } }
  const keep = (kept: DumpProgress) => meta.set(META_STATE_DUMP_IMPORT, { ...kept, ...about } satisfies StoredProgress)
  try {
    const parts = { db, file, table: createStateTrieTable(db), header: block.header, batch: options.batch, keep }
    const loader = new StateDumpLoader(parts, from)
    const show = () => {
      const { accounts, slots } = loader.figures
      const part = sizeBytes === null ? '' : `${((100 * file.position.offset) / sizeBytes).toFixed(1)} % of the file`
      progress.update(accounts + slots, part)
    }
    loader.save() // from now on, no other command begins the database
    for (const item of file.items()) {
      if (!loader.add(item)) continue
      show()
      await yieldToEventLoop() // signals are delivered only between transactions
      if (!signal?.aborted) continue
      rollbackWriting(db)
      return undefined
    }
    const done = loader.finish()
    show()
    commitWriting(db)
    return done
  } catch (error) {
    rollbackWriting(db)
    if (isDiskFailure(error)) throw error
    discardStateDump(db)
    throw error
  } finally {
    file.close()
  }
}

/** Where to resume: only the same file, and the same block. What was imported of another one is removed. */
function readProgress({ db, path, block, log }: StateDumpImport): StoredProgress | undefined {
  const stored = createMetaTable(db).get<StoredProgress | null>(META_STATE_DUMP_IMPORT) ?? undefined
  if (stored === undefined) return undefined
  const isSame = stored.path === path && stored.sizeBytes === sizeOf(path)
  const { line } = stored.position
  if (isSame && stored.block.hash === formatData(block.hash)) {
    log.info({ line, accounts: stored.accounts }, 'the import of the state dump is resumed')
    return stored
  }
  log.warn({ path: stored.path, line }, 'another state dump was begun; what was imported of it is removed')
  discardStateDump(db)
  return undefined
}

/** Null for standard input. */
function sizeOf(path: string): number | null {
  return path === STANDARD_INPUT ? null : statSync(path).size
}

/** True when the file may be right, and the import can be resumed. */
function isDiskFailure(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown }
  return typeof code === 'string'
}
