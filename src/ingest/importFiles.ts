import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { logCrypto } from '../chain/crypto.js'
import type { L2NetworkName } from '../chain/starknet/networks.js'
import type { L2VerifyFunction } from '../chain/starknet/verify.js'
import type { EvmKind } from '../evm/kinds.js'
import { messageOf, UsageError } from '../lib/errors.js'
import { parseJsonExact } from '../lib/json.js'
import type { Logger } from '../lib/logger.js'
import { createProgress, noProgress } from '../lib/progress.js'
import { type ChainSource, genesisOfSource } from '../store/chain/chainSource.js'
import type { Database } from '../store/database.js'
import { createL2Writer } from '../store/l2/l2Writer.js'
import { DATABASE_FILE } from '../store/open.js'
import { openForWriting } from '../store/openForWriting.js'
import { truncateWriteAheadLog } from '../store/writeAheadLog.js'
import { ChainNotNamed, openWritableChain, type StateMode, type WritableChain } from './chainState.js'
import type { Checkpoints } from './checkpoints.js'
import { createImportProgress, type FileProgress, type ImportProgress, noImportProgress } from './importProgress.js'
import { importL2 } from './l2Import.js'
import { importBlocks } from './pipeline.js'
import { CHAIN_RLP, openChainRlp, recogniseChainRlp } from './sources/chainRlp.js'
import { ERA1, openEra1, recogniseEra1 } from './sources/era1.js'
import { readHead, readTextFile } from './sources/fileBytes.js'
import { openL2File, recogniseL2 } from './sources/starknetFile.js'

/** Kinds of files, as `--kind` says them. */
export const FILE_KINDS = [CHAIN_RLP, ERA1, 'starknet'] as const
export type FileKind = (typeof FILE_KINDS)[number]

export interface ImportOptions {
  datadir: string
  paths: string[]
  /** Which chain the Ethereum files are of; needed the first time only. */
  chain?: ChainSource
  stateMode?: StateMode
  /** Undefined: recognised from the content of each file. */
  kind?: FileKind
  /** Recomputes layer-2 block hashes; undefined: they are not checked. */
  l2Verify?: L2VerifyFunction
  l2Network?: L2NetworkName
  /** What executes blocks; our own interpreter when absent. */
  evm?: EvmKind
  /** Undefined: the writer makes its checkpoints itself. */
  checkpoints?: Checkpoints
  /** Memory for the newest state and its trie; undefined: 256 MiB. */
  stateCacheBytes?: number
  /** Blocks from one check of the state root to the next; 0 or undefined: as many as fits the size of the state. */
  rootInterval?: number
  log: Logger
  showProgress: boolean
  signal?: AbortSignal
  /** Stores block 0 of `chain` even when no file of it is imported. */
  laysGenesis?: boolean
}

/** What was done, over all files. */
export interface ImportSummary {
  /** Newly stored blocks of the Ethereum chain. */
  blocks: number
  /** Blocks of the files that were held already. */
  skipped: number
  /** Newly stored layer-2 blocks, and pending ones taken. */
  l2Blocks: number
  l2Skipped: number
  /** Layer-2 blocks whose hash was recomputed. */
  l2Verified: number
  /** Layer-2 blocks whose hash could not be recomputed from the recording. */
  l2Unverifiable: number
  /** Held layer-2 blocks whose recording a fuller one replaced. */
  l2Replaced: number
  /** Head of the Ethereum chain; undefined where there is none, or nothing was imported into it. */
  head?: number
  /** The file that a signal came in, and how many there are; undefined when all were imported. */
  interrupted?: { path: string; fileNumber: number; files: number }
}

/** Imports files in the order given into the database of `datadir`, which is made when it is not there.
 *  @throws UsageError for files that are missing or of no known kind; DatabaseLocked; InvalidGenesis; InvalidBlock,
 *    InvalidL2Block, SourceError, UnreadableL2File for what is refused: all before it stays. */
export async function importFiles(options: ImportOptions): Promise<ImportSummary> {
  const files = options.paths.map((path) => ({ path, kind: options.kind ?? recogniseKind(path) }))
  const isKnown = options.chain !== undefined || existsSync(join(options.datadir, DATABASE_FILE))
  if (!isKnown && files.some(({ kind }) => kind !== 'starknet')) throw new ChainNotNamed() // before a database is made
  const db = openForWriting(options.datadir)
  logCrypto(options.log)
  if (options.checkpoints) db.pragma('wal_autocheckpoint = 0')
  const summary: ImportSummary = {
    blocks: 0,
    skipped: 0,
    l2Blocks: 0,
    l2Skipped: 0,
    l2Verified: 0,
    l2Unverifiable: 0,
    l2Replaced: 0,
  }
  const progress = options.showProgress ? createImportProgress(files.map(({ path }) => sizeOf(path))) : noImportProgress
  const run: ImportRun = { db, options, summary, progress }
  try {
    if (options.laysGenesis) await openChain(run)
    for (const [i, { path, kind }] of files.entries()) {
      await new Promise(setImmediate) // many small files would never let a signal in
      const isDone = !options.signal?.aborted && (await importFile(run, path, kind))
      if (isDone) continue
      summary.interrupted = { path, fileNumber: i + 1, files: files.length }
      break
    }
    if (files.length > 0) progress.finish(describeHead(run))
    truncateWriteAheadLog(db)
  } finally {
    db.close()
  }
  return summary
}

/** What all files of an import share. */
interface ImportRun {
  readonly db: Database
  readonly options: ImportOptions
  readonly summary: ImportSummary
  readonly progress: ImportProgress
  /** Undefined until it is opened, by the first file of it. */
  chain?: WritableChain
}

/** @returns false when a signal ended it early. */
async function importFile(run: ImportRun, path: string, kind: FileKind): Promise<boolean> {
  if (kind === 'starknet') return importL2File(run, path)
  return importChainFile(run, run.chain ?? (await openChain(run)), path, kind)
}

async function openChain(run: ImportRun): Promise<WritableChain> {
  const { chain, stateMode, showProgress, signal, checkpoints, stateCacheBytes, evm } = run.options
  const startProgress = (label: string, unit: string, total: number) =>
    showProgress ? createProgress({ label, unit, total }) : noProgress
  const opening = { startProgress, signal, checkpoints, stateCacheBytes, evm }
  run.chain = await openWritableChain(run.db, chain, stateMode, opening)
  run.summary.head = run.chain.reader.head()
  return run.chain
}

async function importChainFile(run: ImportRun, chain: WritableChain, path: string, kind: FileKind): Promise<boolean> {
  const source = kind === ERA1 ? openEra1(path) : openChainRlp(path)
  const file = run.progress.startFile(path)
  const sizeBytes = sizeOf(path)
  const bytesOf = (blocks: number) =>
    source.totalBlocks === undefined ? source.bytesRead?.() : (blocks / source.totalBlocks) * sizeBytes
  const progress: FileProgress = { update: (tally) => file.update({ ...tally, bytes: bytesOf(tally.blocks) }) }
  const { signal, checkpoints, rootInterval } = run.options
  const done = await importBlocks(chain, source, { progress, signal, checkpoints, rootInterval })
  run.summary.blocks += done.imported
  run.summary.skipped += done.skipped
  run.summary.head = chain.reader.head()
  finalizeHead(chain)
  if (!done.interrupted) run.progress.endFile(describeHead(run))
  return !done.interrupted
}

/** Blocks from files are final. */
function finalizeHead({ head }: WritableChain): void {
  const number = head.newest?.header.number
  if (number !== undefined && head.isFinalityStored()) head.finalize({ safe: number, finalized: number })
}

async function importL2File({ db, options, summary, progress }: ImportRun, path: string): Promise<boolean> {
  const file = progress.startFile(path)
  let bytes = 0
  const onRead = (count: number) => {
    bytes += count
  }
  const update = (blocks: number) => file.update({ blocks, transactions: 0, gas: 0, bytes })
  const { l2Verify: verify, l2Network: network, log, signal } = options
  const importing = { verify, network, log, signal, progress: { update, finish() {} } }
  const done = await importL2(openL2File(path, { onRead }), createL2Writer(db), importing)
  summary.l2Blocks += done.outcomes.stored + done.outcomes.pending + done.outcomes.promoted
  summary.l2Skipped += done.outcomes.skipped
  summary.l2Verified += done.verified
  summary.l2Unverifiable += done.unverifiable
  summary.l2Replaced += done.outcomes.replaced
  if (!done.interrupted) progress.endFile('layer 2')
  return !done.interrupted
}

function describeHead({ summary: { head } }: ImportRun): string {
  return head === undefined ? 'layer 2' : `head ${head}`
}

function sizeOf(path: string): number {
  return statSync(path).size
}

/** What a file holds, by its first bytes. @throws UsageError when it is missing or of no known kind. */
export function recogniseKind(path: string): FileKind {
  if (!existsSync(path)) throw new UsageError(`${path}: no such file`)
  const head = readHead(path)
  if (recogniseEra1(head)) return ERA1
  if (recogniseChainRlp(head)) return CHAIN_RLP
  if (recogniseL2(head)) return 'starknet'
  if (/"alloc"\s*:/.test(new TextDecoder().decode(head))) {
    throw new UsageError(`${path}: is a genesis, not blocks; name it with --genesis ${path}`)
  }
  throw new UsageError(
    `${path}: neither RLP blocks, era1, nor layer-2 JSON; say --kind ${FILE_KINDS.join('|')} if it is`,
  )
}

// Mainnet's genesis has 0.7 MB. V8 holds texts of up to 512 MB.
const MAX_GENESIS_BYTES = 256 * 1024 * 1024

/** The chain of a genesis file in geth's format. Integers beyond 2^53 - 1 are their decimal text in it.
 *  @throws UsageError when it cannot be read, is no JSON, is nested too deep, has more than 256 MiB, or is no genesis. */
export function readGenesisFile(path: string): ChainSource {
  try {
    const source = { genesis: parseJsonExact(readTextFile(path, MAX_GENESIS_BYTES)) }
    genesisOfSource(source) // or a database would be made before it is refused
    return source
  } catch (cause) {
    throw new UsageError(`--genesis ${path}: ${messageOf(cause)}`, { cause })
  }
}
