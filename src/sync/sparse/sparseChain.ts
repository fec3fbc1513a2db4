import { type ChainSpec, rulesAt } from '../../chain/eth/forks/rules.js'
import type { Header } from '../../chain/eth/types.js'
import { SparseState } from '../../evm/state/sparseState.js'
import type { Executor, ExecutorParts } from '../../evm/transition/blockExecutor.js'
import { loadExecutor } from '../../evm/transition/loadExecutor.js'
import { EMPTY_BYTES } from '../../lib/bytes.js'
import { UsageError } from '../../lib/errors.js'
import { formatData } from '../../lib/hex.js'
import type { EthRpc } from '../../sources/ethRpc/types.js'
import type { Database } from '../../store/database.js'
import { createMetaTable, META_ANCESTOR_HASHES, META_CLOSED_STATES, META_STATE_FIRST } from '../../store/meta.js'
import type { BlockInterval } from '../../store/rows/coverage.js'
import type { ChainReader } from '../../store/rows/types.js'
import { createBaseRows } from '../../store/state/baseRows.js'
import { countClosedStates, readStateFirst } from '../../store/state/sparseState.js'
import { createStateReader, type StateReader } from '../../store/state/stateReader.js'
import type { RecordedTrieTable } from '../../store/state/trieHistory.js'
import type { StateKeys } from '../../trie/missingNodes.js'
import { NodeSet } from '../../trie/nodeSet.js'
import { unknownStateHead } from '../../trie/partialState.js'
import { createStateRoot, type StateRoot } from '../../trie/stateRoot.js'
import { findTrieBlock } from '../../trie/trieBlock.js'
import type { Ancestors } from '../validate/header.js'
import { SparseExecutor } from './sparseExecutor.js'
import type { StateFigures } from './stateFigures.js'
import { BlockStateFetch, type StateFetchMode } from './stateSource.js'

/** Keys, and nodes of their proofs. */
export interface LearnedNodes {
  readonly keys: readonly StateKeys[]
  /** RLP. */
  readonly nodes: readonly Uint8Array[]
}

/** The state of a chain that begins at a block without state, and fetches what it needs. */
export interface SparseChain {
  readonly root: StateRoot
  readonly table: RecordedTrieTable
  readonly reader: StateReader
  readonly executor: Executor
  /** True while a block is executed, and its changes are not accepted: the trie must not change then. */
  isExecuting(): boolean
  /** Fills the trie of the newest block with nodes on the paths of keys, in the open transaction. */
  learn(proved: LearnedNodes): void
  /** False while blocks are stored without state, since the state after the newest block with state could not be had.
   * */
  readonly hasState: boolean
  /** The first block of the newest interval with state, if blocks have state. */
  readonly stateFirst: number | undefined
  /** Closes the interval of states at the newest block, within the open transaction: blocks are stored without state
   *  from then on. */
  close(last: number): void
  /** While there is no state: it begins again at that block, if it is above the newest one. */
  resumeAt(blockNumber: number): void
  /** True for a block that is stored without execution: its receipts are compared with the header instead. */
  skips(blockNumber: number): boolean
  /** Begins the state where it is due after the block that was just appended, within the open transaction: nothing of
   *  it is known but its root. @throws UsageError before Cancun: until then SELFDESTRUCT removes storage that was never
   *  read (EIP-6780) */
  appended(block: { hash: Uint8Array; header: Header }): void
  /** Removes the state that begins above `blockNumber`, whose blocks were removed, within the open transaction. */
  removeAbove(blockNumber: number): void
  /** Reads again what a rollback may have changed. */
  reload(): void
  /** Sets the hashes of the blocks before the first one, newest first, which `begin` stores. */
  setAncestors(hashes: Uint8Array): void
  /** Fetches state from these upstreams from now on. */
  connect(rpc: EthRpc, options?: { mode?: StateFetchMode; signal?: AbortSignal; figures?: StateFigures }): void
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
  /** The first block with state, and the intervals before it. */
  let stateFirst: number | undefined
  let closed = 0
  let resume = -1
  const reload = () => {
    stateFirst = readStateFirst(db)
    closed = countClosedStates(db)
  }
  reload()
  let source: { rpc: EthRpc; mode: StateFetchMode; signal?: AbortSignal; figures?: StateFigures } | undefined
  const sparse = new SparseExecutor({
    ...{ executor, state: state!, root, nodes },
    closedStates: () => closed,
    parentOf: ({ number }) => {
      const { hash, header } = ancestors.header(number - 1)!
      return { number: number - 1, hash, stateRoot: header.stateRoot }
    },
    fetching: (block, parent) => {
      if (source === undefined)
        throw new UsageError(
          'sparse state is fetched from an upstream: follow one (--upstream), files are not imported',
        )
      const { rpc, ...options } = source
      return new BlockStateFetch(rpc, block, parent, { ...options, isCodeKnown: (hash) => state!.isCodeKnown(hash) })
    },
  })
  return {
    root,
    table,
    reader: stateReader,
    executor: sparse,
    isExecuting: () => sparse.isExecuting,
    learn: ({ keys, nodes: proved }) => {
      nodes.clear()
      for (const node of proved) nodes.add(node)
      root.learn(keys)
    },
    setAncestors: (hashes) => {
      ancestorHashes = hashes
    },
    get stateFirst() {
      return stateFirst
    },
    get hasState() {
      return stateFirst !== undefined
    },
    close: (last) => {
      const closed = meta.get<BlockInterval[]>(META_CLOSED_STATES) ?? []
      meta.set(META_CLOSED_STATES, [...closed, { first: stateFirst!, last }])
      meta.set(META_STATE_FIRST, null)
      reload()
    },
    resumeAt: (blockNumber) => {
      resume = blockNumber
    },
    skips: (blockNumber) => stateFirst === undefined && blockNumber <= resume,
    appended: ({ hash, header }) => {
      const isFirst = closed === 0 && stateFirst === undefined
      if (!isFirst && (stateFirst !== undefined || header.number < resume)) return
      requireCancun(parts.spec, header)
      if (ancestorHashes.length > 0) meta.set(META_ANCESTOR_HASHES, formatData(ancestorHashes))
      if (!isFirst) createBaseRows(db).mark(header.number)
      meta.set(META_STATE_FIRST, header.number)
      table.removeFrom(0)
      table.setHead(unknownStateHead(header.stateRoot, { number: header.number, hash: formatData(hash) }))
      // Values of an earlier interval are in memory, too.
      sparse.reset()
      reload()
    },
    removeAbove: (blockNumber) => {
      if (stateFirst === undefined || stateFirst <= blockNumber) return
      createBaseRows(db).removeAt(stateFirst)
      meta.set(META_STATE_FIRST, null)
      reload()
    },
    reload,
    connect: (rpc, { mode = 'auto', ...options } = {}) => {
      source = { rpc, mode, ...options }
    },
  }
}

function requireCancun(spec: ChainSpec, { number, timestamp }: Header): void {
  if (rulesAt(spec, number, timestamp).keepsOldDestructed) return
  throw new UsageError(
    `block ${number} is before Cancun: --state sparse begins at a later block, since storage could be removed unseen before`,
  )
}

/** Replaces a stored trie of another block by the root of the newest one. */
function restoreRoot(table: RecordedTrieTable, reader: ChainReader): void {
  const number = reader.head()
  if (number === undefined || findTrieBlock(table, reader) !== undefined) return
  const { hash, header } = reader.blockByNumber(number)!
  table.removeFrom(0)
  table.setHead(unknownStateHead(header.stateRoot, { number, hash: formatData(hash) }))
}
