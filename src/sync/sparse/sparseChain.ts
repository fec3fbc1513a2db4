import type { Header } from '../../chain/eth/types.js'
import { SparseState } from '../../evm/state/sparseState.js'
import type { Executor, ExecutorParts } from '../../evm/transition/blockExecutor.js'
import { loadExecutor } from '../../evm/transition/loadExecutor.js'
import { EMPTY_BYTES } from '../../lib/bytes.js'
import { UsageError } from '../../lib/errors.js'
import { formatData } from '../../lib/hex.js'
import type { Database } from '../../store/database.js'
import { createMetaTable, META_ANCESTOR_HASHES } from '../../store/meta.js'
import { StateLog } from '../../store/replication/stateLog.js'
import type { UsedNodes } from '../../store/rows/stateChanges.js'
import type { ChainReader } from '../../store/rows/types.js'
import { readStateFirst } from '../../store/state/sparseState.js'
import { createStateReader, type StateReader } from '../../store/state/stateReader.js'
import type { RecordedTrieTable } from '../../store/state/trieHistory.js'
import type { StateKeys } from '../../trie/missingNodes.js'
import { NodeSet } from '../../trie/nodeSet.js'
import { createStateRoot, type StateRoot } from '../../trie/stateRoot.js'
import { findTrieBlock } from '../../trie/trieBlock.js'
import type { Ancestors } from '../validate/header.js'
import { canBeginSparse, type LogOptions, requireSparseStart, setUnknownTrie } from './beginState.js'
import { SparseExecutor } from './sparseExecutor.js'
import { StateIntervals } from './stateIntervals.js'
import { StateListing } from './stateListing.js'
import type { StateSource } from './stateSource.js'

/** Keys, and nodes of their proofs. */
export interface LearnedNodes {
  readonly keys: readonly StateKeys[]
  /** RLP. */
  readonly nodes: readonly Uint8Array[]
  /** Hashes of nodes that are branches, which a wrong root refutes. Default: none. */
  readonly branches?: readonly Uint8Array[]
}

/** The state of a chain that begins at a block without state, and fetches what it needs. */
export interface SparseChain {
  readonly root: StateRoot
  readonly table: RecordedTrieTable
  readonly reader: StateReader
  readonly executor: Executor
  /** True while a block is executed, and its changes are not accepted: the trie must not change then. */
  isExecuting(): boolean
  /** Fills the trie of the newest block with nodes on the paths of keys, in the open transaction. Returns what it did
   *  not have. @throws DecodeError for a malformed node */
  learn(proved: LearnedNodes): UsedNodes
  /** False while blocks are stored without state and execution, since the state after the newest block with state could
   *  not be had: their receipts are compared with the header instead. */
  readonly hasState: boolean
  /** The first block of the newest interval with state, if blocks have state. */
  readonly stateFirst: number | undefined
  /** The block of an imported state dump, as long as no block is stored: the first one is to be it. */
  dumpedBlock(): { readonly number: number; readonly hash: Uint8Array } | undefined
  /** True when all of the newest state is known, and nothing of it is fetched: from a state dump. */
  isComplete(): boolean
  /** Closes the interval of states at the newest block, within the open transaction: blocks are stored without state
   *  from then on. */
  close(last: number, options?: LogOptions): void
  /** Begins an interval of states at the newest block, as the writer of a replica did, within the open transaction. */
  begin(block: { hash: Uint8Array; header: Header }): void
  /** Number of closed intervals of states. */
  readonly closedStates: number
  /** States of blocks that come from access lists. */
  readonly listing: StateListing
  /** While there is no state: it begins again at that block, if it is above the newest one. */
  resumeAt(blockNumber: number): void
  /** Begins the state where it is due after the block that was just appended, within the open transaction: nothing of
   *  it is known but its root. @throws UsageError before Cancun: until then SELFDESTRUCT removes storage that was never
   *  read (EIP-6780) */
  appended(block: { hash: Uint8Array; header: Header }): void
  /** Removes the states of all blocks above `blockNumber`, which were removed, within the open transaction. Where the
   *  newest interval begins above it, later blocks are stored without state until it begins again. */
  removeAbove(blockNumber: number): void
  /** Replaces the trie by the root of the newest block, within the open transaction: the rest is fetched again. */
  dropTrie(block: { hash: Uint8Array; header: Header }): void
  /** Stores the hashes of the blocks before the first one, newest first, 32 bytes each, within the open transaction. */
  storeAncestors(hashes: Uint8Array, options?: LogOptions): void
  /** Reads again what a rollback may have changed. */
  reload(): void
  /** Sets the hashes of the blocks before the first one, newest first, which `begin` stores. */
  setAncestors(hashes: Uint8Array): void
  /** Begins the state at the first block of a recording, within the open transaction. It may be before Cancun: each
   *  base row is proved in the state of that block itself, so that no SELFDESTRUCT comes in between. */
  beginRecorded(block: { hash: Uint8Array; header: Header }): void
  /** Fetches state from this source from now on. */
  connect(source: StateSource): void
}

/** Opens the sparse state of a database opened for writing. A stored trie that is not that of the newest block is
 *  dropped: all but its root is then unknown, and fetched again. */
export async function openSparseChain(
  db: Database,
  {
    table,
    reader,
    ancestors,
    cacheBytes,
    ...parts
  }: {
    table: RecordedTrieTable
    reader: ChainReader
    ancestors: Ancestors
    cacheBytes: number
  } & Omit<ExecutorParts, 'reader' | 'root' | 'over' | 'cacheBytes'>,
): Promise<SparseChain> {
  const meta = createMetaTable(db)
  const stateReader = createStateReader(db)
  const nodes = new NodeSet()
  if (readStateFirst(db) !== undefined) restoreRoot(table, reader)
  const root = createStateRoot(table, cacheBytes / 2, { nodes })
  let state: SparseState | undefined
  const executor = await loadExecutor('cairn', {
    ...{ ...parts, root, reader: stateReader, cacheBytes: cacheBytes / 2 },
    over: (newest) => {
      state = new SparseState(newest, stateReader, nodes)
      return state
    },
  })
  let ancestorHashes: Uint8Array = EMPTY_BYTES
  const intervals = new StateIntervals(db)
  let resume = -1
  let source: StateSource | undefined
  const sparse = new SparseExecutor({
    ...{ spec: parts.spec, executor, state: state!, root, nodes },
    closedStates: () => intervals.closed,
    parentOf: ({ number }) => {
      const { hash, header } = ancestors.header(number - 1)!
      return { number: number - 1, hash, stateRoot: header.stateRoot }
    },
    fetching: (block, parent) => requireSource(source).begin(block, parent, (hash) => state!.isCodeKnown(hash)),
  })
  const log = new StateLog(db)
  const storeAncestors = (hashes: Uint8Array, { isLogged = true }: LogOptions = {}) => {
    meta.set(META_ANCESTOR_HASHES, formatData(hashes))
    if (isLogged) log.add('ancestors', reader.head()!, hashes)
  }
  const begin = (block: { hash: Uint8Array; header: Header }) => {
    if (ancestorHashes.length > 0) storeAncestors(ancestorHashes)
    intervals.begin(block)
    clear()
  }
  // Values of an earlier interval are in memory, too.
  const clear = () => {
    table.clear()
    sparse.reset()
  }
  const dropTrie: SparseChain['dropTrie'] = (block) => {
    setUnknownTrie(table, block)
    clear()
  }
  const listing = new StateListing({ intervals, reader: stateReader, source: () => source, dropTrie })
  return {
    root,
    table,
    reader: stateReader,
    executor: sparse,
    isExecuting: () => sparse.isExecuting,
    learn: (proved) => learnNodes(root, nodes, proved),
    begin: (block) => {
      intervals.begin(block, { isLogged: false })
      clear()
    },
    get closedStates() {
      return intervals.closed
    },
    setAncestors: (hashes) => {
      ancestorHashes = hashes
    },
    get stateFirst() {
      return intervals.first
    },
    get hasState() {
      return intervals.first !== undefined
    },
    dumpedBlock: () => intervals.dumpedBlock(),
    isComplete: () => intervals.isComplete(),
    listing,
    close: (last, options) => intervals.close(last, options),
    resumeAt: (blockNumber) => {
      resume = blockNumber
    },
    appended: (block) => {
      if (listing.isActive) return listing.appended(block)
      if (intervals.first !== undefined) return
      const { number } = block.header
      if (reader.coverage()!.first === number) requireSparseStart(parts.spec, block.header)
      else if (number < resume || !canBeginSparse(parts.spec, block.header)) return
      begin(block)
    },
    beginRecorded: begin,
    removeAbove: (blockNumber) => {
      intervals.removeAbove(blockNumber)
      clear()
    },
    dropTrie,
    storeAncestors,
    reload: () => intervals.reload(),
    connect: (from) => {
      source = from
    },
  }
}

/** @throws UsageError without a source */
function requireSource(source: StateSource | undefined): StateSource {
  if (source) return source
  throw new UsageError('sparse state is fetched from an upstream: follow one (--upstream), files are not imported')
}

function learnNodes(root: StateRoot, nodes: NodeSet, { keys, nodes: proved, branches = [] }: LearnedNodes): UsedNodes {
  nodes.clear()
  for (const node of proved) nodes.add(node)
  for (const hash of branches) nodes.markBranch(hash)
  root.learn(keys)
  return { keys, ...nodes.taken() }
}

/** Replaces a stored trie of another block by the root of the newest one. */
function restoreRoot(table: RecordedTrieTable, reader: ChainReader): void {
  const number = reader.head()
  if (number === undefined || findTrieBlock(table, reader) !== undefined) return
  setUnknownTrie(table, reader.blockByNumber(number)!)
}
