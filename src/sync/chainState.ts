import { isDeepStrictEqual } from 'node:util'
import type { ForkTimes } from '../chain/eth/forkSchedule.js'
import type { ChainSpec } from '../chain/eth/forks/rules.js'
import { type Genesis, NETWORKS } from '../chain/eth/genesis.js'
import type { Block } from '../chain/eth/types.js'
import type { EvmKind } from '../evm/kinds.js'
import { createTrieHistoryExtension } from '../evm/state/extendTrieHistory.js'
import type { Executor } from '../evm/transition/blockExecutor.js'
import { loadExecutor } from '../evm/transition/loadExecutor.js'
import type { IndexKind } from '../index/segments/indexKind.js'
import { requireIndexSettings } from '../index/segments/indexSettings.js'
import { describeIndex } from '../index/segments/indexSummary.js'
import { completeIndex } from '../index/segments/reindex.js'
import { UsageError } from '../lib/errors.js'
import { type Logger, silentLogger } from '../lib/logger.js'
import { yieldToEventLoop } from '../lib/pause.js'
import { noProgress, type Progress } from '../lib/progress.js'
import type { Checkpoints } from '../store/checkpoints.js'
import type { Database } from '../store/database.js'
import {
  createMetaTable,
  META_CHAIN,
  META_CHAIN_ID,
  META_FORK_TIMES,
  META_STATE_MODE,
  META_TRACES,
} from '../store/meta.js'
import { createChainReader } from '../store/rows/chainReader.js'
import { type ChainSource, genesisOfSource, readChainSource, specOfSource } from '../store/rows/chainSource.js'
import type { ChainReader } from '../store/rows/types.js'
import { createStateReader } from '../store/state/stateReader.js'
import { createStateTrieTable } from '../store/state/stateTrieTable.js'
import { createTouchedAbove } from '../store/state/touchedAbove.js'
import { createTrieFlush, RecordedTrieTable } from '../store/state/trieHistory.js'
import { beginWriting, commitWriting, rollbackWriting } from '../store/writeTransaction.js'
import { rebuildStateTrie } from '../trie/rebuild.js'
import { createStateRoot } from '../trie/stateRoot.js'
import { findTrieBlock } from '../trie/trieBlock.js'
import { CHAIN_INDEXES } from './chainIndexer.js'
import { setForkTimes, withoutForkTimes } from './forkTimes.js'
import { genesisBlockOf, initGenesis, requireGenesisState, requireState } from './genesisBlock.js'
import { type BlockParts, ChainHead } from './head/chainHead.js'
import { StateRootDiffers } from './head/errors.js'
import { createExecutedState } from './head/executedState.js'
import { createLazyTrie, type LazyTrie, nextTrieBlock } from './head/lazyTrie.js'
import { createWrongRoots, type WrongRoots } from './head/wrongRoots.js'
import { decodeFirstBlock } from './import/recordedFixture.js'
import { type IndexChoices, keepsAddressIndex, keepsTraceIndex } from './keptIndexes.js'
import { beginRecorded } from './sparse/beginRecorded.js'
import { requireNoDumpImport, requireNoListedStates, requireNoStateDump } from './sparse/importStateDump.js'
import { verifyRecordedState } from './sparse/recordedSource.js'
import type { RecordedState } from './sparse/recordedState.js'
import { openSparseChain, type SparseChain } from './sparse/sparseChain.js'
import { createSparseHeadState } from './sparse/sparseHeadState.js'
import { openStateUpdates } from './stateUpdates.js'
import { acceptUnexecuted, type UnexecutedBlock } from './unexecutedBlock.js'
import { createAncestors, type RecentAncestors } from './validate/ancestors.js'

/** Execute blocks from the genesis and keep the state of every block; only store and check receipts; or begin at any
 *  block without state, execute every block after it, and fetch what is needed. */
export type StateMode = 'execute' | 'none' | 'sparse'

/** A new database needs a genesis or network for its blocks. */
export class ChainNotNamed extends UsageError {
  constructor() {
    super(`which chain is it? Name it with --genesis FILE, --rollup-config FILE or --network ${NETWORKS.join('|')}`)
  }
}

/** A chain that is open for writing. */
export interface WritableChain {
  readonly spec: ChainSpec
  readonly stateMode: StateMode
  readonly reader: ChainReader
  readonly head: ChainHead
  /** Receives every accepted block. */
  readonly ancestors: RecentAncestors
  /** Present when blocks are executed. */
  readonly executor?: Executor
  /** Present when state roots that differ are accepted: on a development chain, if `acceptsWrongRoots`. */
  readonly wrongRoots?: WrongRoots
  /** Present with sparse state. */
  readonly sparse?: SparseChain
  /** Present when state is kept and blocks are not executed: they come with their state changes. */
  readonly trie?: LazyTrie
  /** Makes more of the state tries before the head readable, and writes pages of older ones; true when there is more to
   *  do. Call it when idle and outside a transaction. */
  workOnTries(): boolean
  /** Access lists of blocks are stored (EIP-7928). */
  readonly keepsAccessLists: boolean
  /** The address index gets every block. */
  readonly keepsAppearances: boolean
  /** The trace index gets every block. */
  readonly keepsTraces: boolean
  /** Returns block 0 of the genesis; its state is hashed on demand. Only without execution. */
  genesisBlock(): Promise<Block>
}

/** Options for opening a chain and bringing it up to date. */
export interface OpenChainOptions extends IndexChoices {
  /** Approximate memory for the newest state and its trie. */
  stateCacheBytes?: number
  /** Creates a progress display; undefined for none. */
  startProgress?: (label: string, unit: string, total: number) => Progress
  signal?: AbortSignal
  checkpoints?: Checkpoints
  /** The EVM; default: the built-in interpreter. */
  evm?: EvmKind
  /** Open a chain that keeps state without an executor: blocks come with their state changes, and the caller advances
   *  the trie. Default: false. */
  lazyTrie?: boolean
  /** On a development chain, accept a state root that differs, and compare no later root. Default: false. */
  acceptsWrongRoots?: boolean
  /** Store the access lists of blocks (EIP-7928). Default: false. */
  blockAccessLists?: boolean
  /** With sparse state: keep what is added to it for replicas. Default: false. */
  logsState?: boolean
  /** A state dump was imported and verified, and is completed next. Default: false; a part of one is refused. */
  completesStateDump?: boolean
  /** Times of forks to set. Default: those that the database has, or the chain's. */
  forkTimes?: ForkTimes
  /** The state of a recording, for sparse state: that of a new database, and what executing its blocks needs. */
  recordedState?: RecordedState
  log?: Logger
}

/** Default memory for the newest state and its trie. */
export const STATE_CACHE_BYTES = 256 * 2 ** 20

/** Opens the chain of a database opened for writing. The first time, `wanted` names the chain; with execution, its
 *  genesis state and block 0 are stored. An unfinished index, or a state trie that a replica left behind, is brought up
 *  to date in transactions of less than a second. @throws UsageError when the database contains another chain or state
 *  mode, or no chain is named; InvalidGenesis */
export async function openWritableChain(
  db: Database,
  wanted: ChainSource | undefined,
  wantedMode: StateMode | undefined,
  options: OpenChainOptions = {},
): Promise<WritableChain> {
  const stored = readOwnSource(db, options)
  const held = stored && withoutForkTimes(stored)
  const named = stored ?? wanted
  if (!named) throw new ChainNotNamed()
  if (held && wanted && !isDeepStrictEqual(held, wanted)) {
    throw new UsageError('the database was begun with another genesis or network; use another --datadir')
  }
  const meta = createMetaTable(db)
  const heldMode = meta.get<StateMode>(META_STATE_MODE)
  const stateMode = heldMode ?? wantedMode ?? 'execute'
  if (wantedMode !== undefined && wantedMode !== stateMode) {
    throw new UsageError(
      `--state ${wantedMode}: the database was begun with --state ${stateMode}; use another --datadir`,
    )
  }
  const source = options.forkTimes === undefined ? named : setForkTimes(db, named, options.forkTimes)
  const spec = specOfSource(source)
  const recorded = openRecorded(source, stateMode, options)
  const { stateCacheBytes = STATE_CACHE_BYTES, log = silentLogger } = options
  const lazyTrie = (options.lazyTrie ?? false) && stateMode !== 'sparse' // a partial trie follows with each block
  if (lazyTrie && !held && stateMode === 'execute') {
    await openWritableChain(db, wanted, wantedMode, { ...options, lazyTrie: false }) // the state of block 0
    return openWritableChain(db, undefined, undefined, options)
  }
  const reader = createChainReader(db)
  const wrongRoots = spec.isDevelopment && options.acceptsWrongRoots ? createWrongRoots(db, log) : undefined
  if (stateMode === 'execute') await catchUpStateTrie(db, { chain: reader, wrongRoots }, options)
  const indexing = { ...options, isExecuted: stateMode !== 'none' }
  const keepsAppearances = keepsAddressIndex(db, indexing, log)
  const keepsTraces = keepsTraceIndex(db, indexing, log)
  const collects = { withCallees: keepsAppearances, withTraces: keepsTraces }
  const openExecutor = async () => {
    const table = new RecordedTrieTable(db)
    const root = createStateRoot(table, stateCacheBytes / 2)
    const blockHashes = (number: number) => reader.ancestorHash(number)
    const cacheBytes = stateCacheBytes / 2
    const parts = { spec, reader: createStateReader(db), root, blockHashes, cacheBytes, ...collects }
    return { root, table, executor: await loadExecutor(options.evm ?? 'cairn', parts) }
  }
  const keepsState = stateMode === 'execute'
  const ancestors = createAncestors(reader)
  const sparseParts = { spec, reader, ancestors, ...collects }
  const sparse = stateMode === 'sparse' ? await openSparse(db, sparseParts, options) : undefined
  const trie =
    keepsState && lazyTrie ? createLazyTrie(db, { chain: reader, cacheBytes: stateCacheBytes, wrongRoots }) : undefined
  const executed = sparse ?? (keepsState && !lazyTrie ? await openExecutor() : undefined)
  const touched = createTouchedAbove(db, createStateReader(db))
  const ofExecution = executed && createExecutedState({ ...executed, chain: reader, touchedAbove: touched })
  const state = trie ?? (sparse ? createSparseHeadState(sparse, ofExecution!) : ofExecution)
  const executor = executed?.executor
  const stateUpdates = openStateUpdates(db, { l1ChainId: spec.chainId, log })
  const afterRollback = () => {
    ancestors.clear()
    sparse?.reload()
  }
  const { blockAccessLists: keepsAccessLists = false, logsState } = options
  const writing = { collectsState: lazyTrie, logsState, keepsTraces, afterRollback }
  const head = new ChainHead(db, reader, { spec, state, stateUpdates, ...writing })
  if (!held) {
    const genesis = genesisOfSource(source)
    const first = keepsState && executor && (await initFirstBlock(source, genesis, executor, keepsAppearances))
    head.begin()
    meta.set(META_CHAIN, withoutForkTimes(source))
    if (source.forkTimes !== undefined) meta.set(META_FORK_TIMES, source.forkTimes)
    meta.set(META_CHAIN_ID, spec.chainId.toString())
    meta.set(META_STATE_MODE, stateMode)
    if (keepsTraces) meta.set(META_TRACES, true)
    if (first) head.append(first.block, { ...first.parts, changes: executor!.accept() })
    if (recorded) beginRecorded({ db, ...sparseParts, keepsAppearances, head, sparse: sparse! }, recorded)
    head.commit()
  }
  if (recorded) sparse!.connect(recorded.state.source)
  for (const kind of CHAIN_INDEXES) await catchUp(db, kind, options)
  stateUpdates?.catchUp()
  const genesisBlock = async () => {
    const genesis = genesisOfSource(source)
    const known = genesisBlockOf(genesis, sparse !== undefined)
    if (known !== undefined) return known
    const scratch = (await openExecutor()).executor
    const block = await initGenesis(genesis, scratch)
    scratch.discard()
    return block
  }
  const workOnTries = createTrieWork(db, reader, stateMode)
  const keeps = { keepsAccessLists, keepsAppearances, keepsTraces }
  const parts = { spec, stateMode, reader, head, ancestors, executor, wrongRoots, trie, sparse }
  return { ...parts, workOnTries, ...keeps, genesisBlock }
}

/** Returns one step of the work that `workOnTries` of a writable chain does. */
function createTrieWork(db: Database, chain: ChainReader, stateMode: StateMode): () => boolean {
  const flush = createTrieFlush(db)
  if (stateMode !== 'execute') return flush
  const extend = createTrieHistoryExtension(db, { chain, reader: createStateReader(db) })
  return () => flush() || extend()
}

/** The chain of the database, if it has one. @throws UsageError for one with a part of a state dump, and with replicas
 *  for one with a whole dump, or with states from access lists */
function readOwnSource(
  db: Database,
  { completesStateDump = false, logsState }: OpenChainOptions,
): ChainSource | undefined {
  if (!completesStateDump) requireNoDumpImport(db)
  if (logsState) {
    requireNoStateDump(db)
    requireNoListedStates(db)
  }
  return readChainSource(db)
}

/** Verifies the state of a recording, which is that after its first block. @throws UsageError for a chain or state mode
 *  that it does not belong to; InvalidRecordedState */
function openRecorded(
  source: ChainSource,
  stateMode: StateMode,
  { recordedState }: OpenChainOptions,
): { first: UnexecutedBlock; state: ReturnType<typeof verifyRecordedState> } | undefined {
  if (recordedState === undefined) return undefined
  const given = 'recording' in source ? source.recording?.first : undefined
  if (given === undefined || stateMode !== 'sparse') {
    throw new UsageError(
      'the recorded state is that of the blocks it was recorded with, in a database with sparse state',
    )
  }
  const first = decodeFirstBlock(given, specOfSource(source))
  return { first, state: verifyRecordedState(recordedState, first.block.header, specOfSource(source)) }
}

/** Opens sparse state. @throws UsageError for an interpreter that cannot execute on it */
function openSparse(
  db: Database,
  given: {
    spec: ChainSpec
    reader: ChainReader
    ancestors: RecentAncestors
    withCallees: boolean
    withTraces: boolean
  },
  { evm = 'cairn', stateCacheBytes = STATE_CACHE_BYTES }: OpenChainOptions,
): Promise<SparseChain> {
  if (evm !== 'cairn') throw new UsageError(`--evm ${evm} needs a complete state; leave it out with --state sparse`)
  const blockHashes = (number: number) => given.reader.ancestorHash(number)
  return openSparseChain(db, { ...given, table: new RecordedTrieTable(db), blockHashes, cacheBytes: stateCacheBytes })
}

async function catchUp(
  db: Database,
  kind: IndexKind<unknown>,
  { startProgress, signal, checkpoints }: OpenChainOptions,
): Promise<void> {
  const { sealed, tail } = describeIndex(db, kind)
  if (tail < 2 * 2 ** requireIndexSettings(db).chunkBits) return // a full chunk waits until a reorg is unlikely
  const progress = startProgress?.(kind.name, kind.items, sealed + tail) ?? noProgress
  await completeIndex(db, kind, { progress, signal, afterCommit: () => checkpoints?.afterCommit() })
  progress.finish()
}

interface StoredRoots {
  readonly chain: ChainReader
  readonly wrongRoots?: WrongRoots
}

async function catchUpStateTrie(
  db: Database,
  { chain: reader, wrongRoots }: StoredRoots,
  options: OpenChainOptions,
): Promise<void> {
  const table = createStateTrieTable(db)
  const number = reader.head()
  if (number === undefined) return
  const found = findTrieBlock(table, reader)
  if (found && (options.lazyTrie || (await extendStateTrie(db, { chain: reader, wrongRoots }, options)))) return
  const { hash, header } = reader.blockByNumber(number)!
  if (!reader.commitsToState(number)) return
  const { startProgress, signal, checkpoints } = options
  const state = createStateReader(db)
  const progress = startProgress?.('state trie', 'addresses', state.countAddresses()) ?? noProgress
  const head = { number, hash, stateRoot: header.stateRoot }
  await rebuildStateTrie(table, head, {
    reader: state,
    progress,
    signal,
    begin: () => beginWriting(db),
    commit: async () => {
      commitWriting(db)
      await checkpoints?.afterCommit()
      await yieldToEventLoop() // signals are delivered only between transactions
    },
  })
  progress.finish()
}

/** Advances the trie from an earlier block, where a replica left it, to the head, in transactions of less than a
 *  second.
 *  @returns false when the root of the rows differs from a header */
async function extendStateTrie(
  db: Database,
  { chain, wrongRoots }: StoredRoots,
  { checkpoints, stateCacheBytes = STATE_CACHE_BYTES }: OpenChainOptions,
): Promise<boolean> {
  const head = { number: chain.head()!, hash: chain.headHash()! }
  const trie = createLazyTrie(db, { chain, cacheBytes: stateCacheBytes, wrongRoots })
  while (trie.block.number < head.number) {
    beginWriting(db)
    try {
      trie.advance(nextTrieBlock(trie, head.number))
      trie.beforeCommit(head, false)
      commitWriting(db)
    } catch (error) {
      rollbackWriting(db)
      if (error instanceof StateRootDiffers) return false
      throw error
    }
    await checkpoints?.afterCommit()
  }
  return true
}

/** Initializes the state of a new database with the accounts of the genesis. Returns its first block: block 0, or that
 *  of a recording.
 *  @throws InvalidGenesis if their root is not the block's; InvalidBlock */
async function initFirstBlock(
  source: ChainSource,
  genesis: Genesis,
  executor: Executor,
  keepsAppearances: boolean,
): Promise<{ block: Block; parts: BlockParts }> {
  const recorded = 'recording' in source ? source.recording?.first : undefined
  if (recorded) {
    const given = decodeFirstBlock(recorded, genesis.spec)
    const parts = acceptUnexecuted({ spec: genesis.spec, keepsAppearances }, given)
    requireState(genesis.spec, given.block.header, await executor.initGenesis(genesis))
    return { block: given.block, parts }
  }
  requireGenesisState(genesis)
  const block = await initGenesis(genesis, executor)
  const appearances = keepsAppearances ? [] : undefined
  return { block, parts: { receipts: [], totalDifficulty: block.header.difficulty, appearances } }
}
