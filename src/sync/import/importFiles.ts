import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { logCrypto } from '../../chain/crypto.js'
import { genesisOfRollup, hashOfRollup } from '../../chain/eth/families/op/rollupConfig.js'
import { type ForkTimes, requireKnownForks } from '../../chain/eth/forkSchedule.js'
import { InvalidGenesis } from '../../chain/eth/genesisFields.js'
import type { L2NetworkName } from '../../chain/starknet/networks.js'
import type { L2VerifyFunction } from '../../chain/starknet/verify.js'
import type { EvmKind } from '../../evm/kinds.js'
import { messageOf, UsageError } from '../../lib/errors.js'
import { formatData } from '../../lib/hex.js'
import { parseJsonExact } from '../../lib/json.js'
import type { Logger } from '../../lib/logger.js'
import { yieldToEventLoop } from '../../lib/pause.js'
import { createProgress, noProgress } from '../../lib/progress.js'
import { CHAIN_RLP, openChainRlp, recogniseChainRlp } from '../../sources/files/chainRlp.js'
import { recogniseE2store, recogniseE2storeFormat } from '../../sources/files/e2store.js'
import { ERA1, openEra1 } from '../../sources/files/era1.js'
import { ERE, openEre } from '../../sources/files/ere.js'
import { readHead, readTextFile } from '../../sources/files/fileBytes.js'
import { openL2File, recogniseL2 } from '../../sources/files/starknetFile.js'
import type { SenderRecovery } from '../../sources/senders/senderRecovery.js'
import type { BlockSource } from '../../sources/source.js'
import type { Checkpoints } from '../../store/checkpoints.js'
import type { Database } from '../../store/database.js'
import { L2Writer } from '../../store/l2/l2Writer.js'
import { DATABASE_FILE } from '../../store/open.js'
import { openForWriting } from '../../store/openForWriting.js'
import {
  type ChainSource,
  type GenesisSource,
  genesisOfSource,
  isVerifiedSource,
  readChainSource,
} from '../../store/rows/chainSource.js'
import { truncateWriteAheadLog } from '../../store/writeAheadLog.js'
import { ChainNotNamed, openWritableChain, type StateMode, type WritableChain } from '../chainState.js'
import { withTotalDifficulty } from '../follow/firstDifficulty.js'
import { hashGenesisBlock } from '../genesisBlock.js'
import type { IndexChoices } from '../keptIndexes.js'
import { importBlocks } from '../pipeline.js'
import { readRecordedState } from '../sparse/recordedState.js'
import { nameCoreContract, reportMismatch } from '../stateUpdates.js'
import { type Checkpoint, checkHistory } from './checkHistory.js'
import type { ImportDirectory } from './importDirectory.js'
import { createImportProgress, type FileProgress, type ImportProgress, noImportProgress } from './importProgress.js'
import { importL2 } from './l2Import.js'
import { readFixtureManifest } from './recordedFixture.js'

/** File formats, the values of `--kind`. */
export const FILE_KINDS = [CHAIN_RLP, ERA1, ERE, 'starknet'] as const
export type FileKind = (typeof FILE_KINDS)[number]

export interface ImportOptions extends IndexChoices {
  datadir: string
  paths: string[]
  /** The chain of the Ethereum files; needed the first time only. */
  chain?: ChainSource
  stateMode?: StateMode
  /** Undefined: detected from the content of each file. */
  kind?: FileKind
  /** Hash of a trusted block, 32 bytes, from which the blocks of ere files must descend; those above it are not
   *  imported. */
  checkpoint?: Uint8Array
  /** Verifies layer-2 block hashes; undefined: no verification. */
  l2Verify?: L2VerifyFunction
  l2Network?: L2NetworkName
  /** The EVM; default: the built-in interpreter. */
  evm?: EvmKind
  /** Undefined: the writer runs its own checkpoints. */
  checkpoints?: Checkpoints
  /** Memory for the newest state and its trie; undefined: 256 MiB. */
  stateCacheBytes?: number
  /** Address (20 bytes) of the Starknet core contract; undefined: the stored one, or those of the known networks. */
  coreContract?: Uint8Array
  /** Times of forks to set (`--fork`). */
  forkTimes?: ForkTimes
  /** Store the access lists of blocks (EIP-7928). Default: false. */
  blockAccessLists?: boolean
  /** Blocks between two checks of the state root; 0 or undefined: chosen by the size of the state. */
  rootInterval?: number
  /** Recovers senders ahead in another thread. Default: the calling thread recovers all. */
  senderRecovery?: SenderRecovery
  /** The file with the proved state of a recording. */
  recordedState?: string
  log: Logger
  showProgress: boolean
  signal?: AbortSignal
  /** Store block 0 of `chain` even when no block is imported. */
  initsGenesis?: boolean
}

/** Totals over all files. */
export interface ImportSummary {
  /** Newly stored blocks of the Ethereum chain. */
  blocks: number
  /** Blocks that were already stored. */
  skipped: number
  /** Newly stored layer-2 blocks, including pending ones. */
  l2Blocks: number
  l2Skipped: number
  /** Layer-2 blocks whose hash was recomputed. */
  l2Verified: number
  /** Layer-2 blocks whose hash could not be recomputed from the recording. */
  l2Unverifiable: number
  /** Stored layer-2 blocks whose recording was replaced by a fuller one. */
  l2Replaced: number
  /** Head of the Ethereum chain; undefined without blocks or when no Ethereum file was imported. */
  head?: number
  /** The file during which a signal arrived, and the number of files; undefined when all were imported. */
  interrupted?: { path: string; fileNumber: number; files: number }
}

/** Imports files in the order of the list into the database of `datadir`; creates it when missing. @throws UsageError
 *  for missing files and unknown formats; DatabaseLocked; InvalidGenesis; InvalidBlock, InvalidL2Block, SourceError,
 *  UnreadableL2File for refused input: everything before it stays stored */
export async function importFiles(options: ImportOptions): Promise<ImportSummary> {
  const files = options.paths.map((path) => ({ path, kind: options.kind ?? recogniseKind(path) }))
  const isKnown = options.chain !== undefined || existsSync(join(options.datadir, DATABASE_FILE))
  if (!isKnown && files.some(({ kind }) => kind !== 'starknet')) throw new ChainNotNamed() // before creating a database
  const ereFiles = files.filter(({ kind }) => kind === ERE).map(({ path }) => path)
  const checked = checkHistory(ereFiles, options)
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
  const run: ImportRun = { db, options, summary, progress, checked }
  try {
    if (options.coreContract) nameCoreContract(db, options.coreContract)
    if (options.initsGenesis || (options.coreContract && readChainSource(db))) await openChain(run)
    for (const [i, { path, kind }] of files.entries()) {
      await yieldToEventLoop() // signals would not be delivered between many small files
      const isDone = !options.signal?.aborted && (await importFile(run, path, kind))
      if (isDone) continue
      summary.interrupted = { path, fileNumber: i + 1, files: files.length }
      break
    }
    if (!summary.interrupted) await workOnTries(run)
    if (files.length > 0) progress.finish(describeHead(run))
    truncateWriteAheadLog(db)
  } finally {
    db.close()
  }
  return summary
}

/** State shared by all files of an import. */
interface ImportRun {
  readonly db: Database
  readonly options: ImportOptions
  readonly summary: ImportSummary
  readonly progress: ImportProgress
  /** The trusted block that the ere files lead to. */
  readonly checked?: Checkpoint
  /** Opened by the first Ethereum file. */
  chain?: WritableChain
}

/** @returns false when a signal ended it early */
async function importFile(run: ImportRun, path: string, kind: FileKind): Promise<boolean> {
  if (kind === 'starknet') return importL2File(run, path)
  return importChainFile(run, run.chain ?? (await openChain(run)), path, kind)
}

/** Log message for a recording whose state is not verified. */
export const UNVERIFIED = 'this recording is not verified: its state is partial, and no state root is compared'

async function openChain(run: ImportRun): Promise<WritableChain> {
  const {
    chain,
    showProgress,
    signal,
    checkpoints,
    stateCacheBytes,
    evm,
    blockAccessLists,
    addressIndex,
    traces,
    forkTimes,
    log,
  } = run.options
  const startProgress = (label: string, unit: string, total: number) =>
    showProgress ? createProgress({ label, unit, total }) : noProgress
  const limits = { signal, checkpoints, stateCacheBytes, evm, blockAccessLists, addressIndex, traces, forkTimes }
  const { recordedState: path } = run.options
  const recordedState = path === undefined ? undefined : readRecordedState(path)
  const opening = { ...limits, recordedState, startProgress, log }
  run.chain = await openWritableChain(run.db, chain, stateModeOf(run.options), opening)
  run.summary.head = run.chain.reader.head()
  if (!isVerifiedSource(run.db)) log.warn({}, UNVERIFIED)
  return run.chain
}

/** Returns the state mode of a new database. @throws UsageError for one that the files do not have the state for */
function stateModeOf({ stateMode, recordedState }: ImportOptions): StateMode | undefined {
  if (recordedState === undefined) return stateMode
  if (stateMode === undefined || stateMode === 'sparse') return 'sparse'
  throw new UsageError(
    `--state ${stateMode}: ${recordedState} has the state that the recorded blocks need and no more, so that the database has ` +
      'sparse state; leave --state out',
  )
}

async function importChainFile(run: ImportRun, chain: WritableChain, path: string, kind: FileKind): Promise<boolean> {
  const source = openSource(run, chain, path, kind)
  const file = run.progress.startFile(path)
  const sizeBytes = sizeOf(path)
  const bytesOf = (blocks: number) =>
    source.totalBlocks === undefined ? source.bytesRead?.() : (blocks / source.totalBlocks) * sizeBytes
  const progress: FileProgress = { update: (tally) => file.update({ ...tally, bytes: bytesOf(tally.blocks) }) }
  const { signal, checkpoints, rootInterval, senderRecovery } = run.options
  const done = await importBlocks(chain, source, { progress, signal, checkpoints, rootInterval, senderRecovery })
  run.summary.blocks += done.imported
  run.summary.skipped += done.skipped
  run.summary.head = chain.reader.head()
  finalizeHead(chain)
  if (!done.interrupted) run.progress.endFile(describeHead(run))
  return !done.interrupted
}

/** Returns the source of a file's blocks; for the first block of a database with its total difficulty where the file
 *  has none. */
function openSource({ checked }: ImportRun, chain: WritableChain, path: string, kind: FileKind): BlockSource {
  if (kind === ERA1) return openEra1(path)
  if (kind !== ERE) return openChainRlp(path)
  const source = openEre(path, { until: checked?.number })
  return chain.head.newest === undefined ? withFirstDifficulty(chain, source) : source
}

function withFirstDifficulty(chain: WritableChain, source: BlockSource): BlockSource {
  return {
    ...source,
    blocks: async function* (range) {
      for await (const raw of source.blocks(range)) {
        const isComplete = chain.head.newest !== undefined || raw.totalDifficulty !== undefined
        yield isComplete ? raw : await withTotalDifficulty(chain, raw)
      }
    },
  }
}

async function workOnTries({ chain, options: { signal, checkpoints } }: ImportRun): Promise<void> {
  while (!signal?.aborted && chain?.workOnTries()) {
    await checkpoints?.afterCommit()
    await yieldToEventLoop()
  }
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
  const writer = new L2Writer(db, { onMismatch: reportMismatch(db, log) })
  const done = await importL2(openL2File(path, { onRead }), writer, importing)
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

/** Detects the file format from the first bytes. @throws UsageError for a missing file or unknown format */
export function recogniseKind(path: string): FileKind {
  if (!existsSync(path)) throw new UsageError(`${path}: no such file`)
  const head = readHead(path)
  if (recogniseE2store(head)) return recogniseE2storeFormat(path)
  if (recogniseChainRlp(head)) return CHAIN_RLP
  if (recogniseL2(head)) return 'starknet'
  if (/"alloc"\s*:/.test(new TextDecoder().decode(head))) {
    throw new UsageError(`${path}: is a genesis, not blocks; name it with --genesis ${path}`)
  }
  throw new UsageError(
    `${path}: neither RLP blocks, era1, ere, nor layer-2 JSON; say --kind ${FILE_KINDS.join('|')} if it is`,
  )
}

// Mainnet's genesis has 0.7 MB. V8 strings are limited to 512 MB.
const MAX_GENESIS_BYTES = 256 * 1024 * 1024

/** Reads a genesis file in geth's format. Integers above 2^53 - 1 become decimal text. @throws UsageError when it
 *  cannot be read, is not JSON, is nested too deep, exceeds 256 MiB, or is not a genesis */
export function readGenesisFile(path: string): GenesisSource {
  try {
    const source = { genesis: parseJsonExact(readTextFile(path, MAX_GENESIS_BYTES)) }
    genesisOfSource(source) // validate before a database is created
    requireKnownForks((source.genesis as { config: { readonly [key: string]: unknown } }).config)
    return source
  } catch (cause) {
    throw new UsageError(`--genesis ${path}: ${messageOf(cause)}`, { cause })
  }
}

/** Reads the chain of a rollup configuration of op-node, and what it lacks from a genesis file. @throws UsageError as
 *  `readGenesisFile` */
export function readRollupConfig(path: string, genesis: string | undefined): GenesisSource {
  try {
    const own = genesis === undefined ? undefined : parseJsonExact(readTextFile(genesis, MAX_GENESIS_BYTES))
    const rollup = parseJsonExact(readTextFile(path, MAX_GENESIS_BYTES))
    const source = { genesis: genesisOfRollup(rollup, own) }
    // Validate before a database is created.
    const [expected, actual] = [hashGenesisBlock(source), hashOfRollup(rollup)].map(formatData)
    if (expected !== actual)
      throw new InvalidGenesis(`genesis.l2.hash: expected ${expected} of --genesis, got ${actual}`)
    return source
  } catch (cause) {
    throw new UsageError(`--rollup-config ${path}: ${messageOf(cause)}`, { cause })
  }
}

/** Returns the chain of an import directory that has a genesis. @throws UsageError as `readGenesisFile`, and for its
 *  manifest */
export function readDirectoryChain({
  genesis,
  manifest,
  recordedState,
}: Pick<ImportDirectory, 'manifest' | 'recordedState'> & { genesis: string }): ChainSource {
  const source = readGenesisFile(genesis)
  if (manifest === undefined) return source
  const { recording, network } = readFixtureManifest(manifest, recordedState)
  return network === undefined ? { ...source, recording } : { network, recording }
}
