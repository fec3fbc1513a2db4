import { type ChainSpec, commitsToState, rulesAt } from '../../chain/eth/forks/rules.js'
import { decodeHeader } from '../../chain/eth/header.js'
import { CairnError } from '../../lib/errors.js'
import { parseHex } from '../../lib/hex.js'
import { type CommitWatch, createCommitWatch, readsInSnapshot } from '../commitWatch.js'
import type { Database } from '../database.js'
import {
  createMetaTable,
  META_ANCESTOR_HASHES,
  META_CHAIN_ID,
  META_CLOSED_STATES,
  META_FINALITY,
  META_FORK_TIMES,
  META_KNOWN_STATE,
  META_LISTED_STATES,
  META_STATE_FIRST,
  META_STATE_MODE,
  META_UNVERIFIED_FROM,
  META_UPSTREAM_HEAD,
  type MetaTable,
} from '../meta.js'
import { readStateDump } from '../state/stateDump.js'
import { eachUntilCommit, untilCommit } from '../untilCommit.js'
import { type BlockRow, decodeBlockRow } from './block.js'
import { createBlockBodies } from './blockBodies.js'
import { selectBlockOfLog } from './blockOfLog.js'
import { readChainSource, specOfSource } from './chainSource.js'
import type { BlockInterval, KnownState } from './coverage.js'
import type { ChainReader, Finality, StoredBlock } from './types.js'

/** No block has been imported yet. */
export class EmptyDatabase extends CairnError {
  constructor() {
    super('the database holds no chain yet; import one first')
  }
}

// Clients request the same recent blocks again: 100 and 1,500 bytes each.
const KEPT_HASHES = 1024
const KEPT_BLOCKS = 128

/** Creates a reader over an open database, with statements prepared once. `watch`, if passed, is of the same
 *  connection. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a list of statements, prepared once, and their readers
export function createChainReader(db: Database, watch: CommitWatch = createCommitWatch(db)): ChainReader {
  const meta = createMetaTable(db)
  const selectHead = db.prepare<[], { first: number | null; head: number | null }>(
    'SELECT (SELECT min(number) FROM blocks) AS first, (SELECT max(number) FROM blocks) AS head',
  )
  const selectHeadHash = db.prepare<[], Uint8Array>('SELECT hash FROM blocks ORDER BY number DESC LIMIT 1').pluck()
  const selectBlock = db.prepare<[number], BlockRow>('SELECT * FROM blocks WHERE number = ?')
  const selectNumber = db.prepare<[Uint8Array], number>('SELECT number FROM blocks WHERE hash = ?').pluck()
  const selectHash = db.prepare<[number], Uint8Array>('SELECT hash FROM blocks WHERE number = ?').pluck()
  const selectByLog = db.prepare<[number], BlockRow>(`SELECT * FROM blocks WHERE number = (${selectBlockOfLog('?')})`)
  const selectUncleHashes = db
    .prepare<[number], Uint8Array>('SELECT hash FROM uncles WHERE block_number = ? ORDER BY idx')
    .pluck()
  const selectUncle = db
    .prepare<[number, number], Uint8Array>('SELECT header FROM uncles WHERE block_number = ? AND idx = ?')
    .pluck()
  const selectUncles = db
    .prepare<[number], Uint8Array>('SELECT header FROM uncles WHERE block_number = ? ORDER BY idx')
    .pluck()
  const selectAccessList = db
    .prepare<[number], Uint8Array>('SELECT list FROM block_access_lists WHERE block_number = ?')
    .pluck()

  const blockRow = (row: BlockRow | undefined) => row && decodeBlockRow(row)
  /** A cached block takes no read, so every other read of one begins the snapshot. */
  const inSnapshot = <T>(read: () => T): T => {
    watch.beforeRead()
    return read()
  }
  const bodies = readsInSnapshot(createBlockBodies(db), watch)

  const bounds = untilCommit(watch, () => selectHead.get()!)
  const headHash = untilCommit(watch, () => selectHeadHash.get())
  const storedFinality = untilCommit(watch, () => meta.get<Finality>(META_FINALITY))
  const upstreamHead = untilCommit(watch, () => meta.get<number | null>(META_UPSTREAM_HEAD))
  const blockByNumber = eachUntilCommit(watch, {
    read: (number: number) => blockRow(selectBlock.get(number)),
    most: KEPT_BLOCKS,
  })
  const blockHash = eachUntilCommit(watch, { read: (number: number) => selectHash.get(number), most: KEPT_HASHES })
  const ancestors = createAncestorHashes(watch, meta, () => bounds().first)
  const unverifiedFrom = untilCommit(watch, () => meta.get<number | null>(META_UNVERIFIED_FROM) ?? undefined)
  const chainIdText = lastingText(meta, META_CHAIN_ID)
  let chainId: bigint | undefined
  const stateMode = createStateMode(watch, meta)
  const sparseFirst = untilCommit(watch, () => meta.get<number | null>(META_STATE_FIRST))
  const closedStates = untilCommit(watch, () => meta.get<BlockInterval[]>(META_CLOSED_STATES))
  const listedStates = untilCommit(watch, () => meta.get<BlockInterval[]>(META_LISTED_STATES))
  const known = untilCommit(watch, () => meta.get<KnownState>(META_KNOWN_STATE))
  const stateDump = untilCommit(watch, () => readStateDump(db))
  const forkTimes = untilCommit(watch, () => JSON.stringify(meta.get(META_FORK_TIMES)))
  let spec: ChainSpec | undefined
  let timesOfSpec: string | undefined
  let holdsBlocks = false
  const requireSpec = () => {
    const times = forkTimes()
    const source = spec && times === timesOfSpec ? undefined : readChainSource(db)
    if (source) spec = specOfSource(source)
    timesOfSpec = times
    if (!spec) throw new EmptyDatabase()
    return spec
  }

  return {
    spec: requireSpec,
    commitsToState: (blockNumber) =>
      commitsToState(requireSpec(), blockNumber) &&
      !(requireSpec().isDevelopment && blockNumber >= (unverifiedFrom() ?? Infinity)),
    unverifiedFrom,
    rulesOf: ({ header, totalDifficulty }) =>
      rulesAt(requireSpec(), header.number, header.timestamp, totalDifficulty - header.difficulty),
    chainId: () => {
      if (chainId !== undefined) return chainId
      const text = chainIdText()
      if (text === undefined) throw new EmptyDatabase()
      chainId = BigInt(text)
      return chainId
    },
    coverage: () => {
      const row = bounds()
      if (row.first === null || row.head === null) return undefined
      const mode = stateMode()
      const { first, head } = row
      if (mode !== 'sparse') return { first, head, stateFirst: mode === 'execute' ? first : undefined }
      const stateFirst = sparseFirst() ?? undefined
      const dump = stateDump()
      const completeState = dump && { first: dump.number, ...(dump.last !== undefined && { last: dump.last }) }
      return {
        first,
        head,
        stateFirst,
        closedStates: closedStates(),
        listedStates: listedStates(),
        known: stateFirst === undefined ? undefined : known(),
        ...(completeState && { completeState }),
      }
    },
    gap: () => {
      const { head } = bounds()
      const to = upstreamHead() ?? -1
      return head !== null && to > head ? { from: head + 1, to } : undefined
    },
    holdsBlocks: () => {
      holdsBlocks ||= bounds().head !== null
      return holdsBlocks
    },
    head: () => bounds().head ?? undefined,
    headHash,
    finality: () => {
      const { head } = bounds()
      if (head === null) return undefined
      const { safe, finalized } = storedFinality() ?? { safe: head, finalized: head }
      // A reorg to a shorter branch may end below them.
      return { safe: Math.min(safe, head), finalized: Math.min(finalized, head) }
    },
    blockByNumber,
    blockHash,
    ancestorHash: (number) => blockHash(number) ?? ancestors(number),
    blockNumberByHash: (hash) => inSnapshot(() => selectNumber.get(hash)),
    blockOfLog: (logId) => inSnapshot(() => blockRow(selectByLog.get(logId))),
    transactionHashes: (block) => bodies.transactionHashes(block),
    transactions: (block) => bodies.transactions(block),
    transaction: (block, index) => (holds(block, index) ? bodies.transaction(block, index) : undefined),
    receipts: (block) => bodies.receipts(block),
    receipt: (block, index) => (holds(block, index) ? bodies.receipt(block, index) : undefined),
    transactionFees: (block) => bodies.transactionFees(block),
    uncleHashes: (blockNumber) => inSnapshot(() => selectUncleHashes.all(blockNumber)),
    uncle: (blockNumber, index) => {
      const header = inSnapshot(() => selectUncle.get(blockNumber, index))
      return header && decodeHeader(header)
    },
    uncles: (blockNumber) => inSnapshot(() => selectUncles.all(blockNumber)).map((header) => decodeHeader(header)),
    blockAccessList: (blockNumber) => inSnapshot(() => selectAccessList.get(blockNumber)),
  }
}

/** Reads the state mode, and caches it: only 'none' may still become another one. */
function createStateMode(watch: CommitWatch, meta: MetaTable): () => string | undefined {
  const read = untilCommit(watch, () => meta.get<string>(META_STATE_MODE))
  let lasting: string | undefined
  return () => {
    if (lasting !== undefined) return lasting
    const mode = read()
    if (mode !== 'none') lasting = mode
    return mode
  }
}

/** Reads hashes of blocks before the first one. */
function createAncestorHashes(watch: CommitWatch, meta: MetaTable, first: () => number | null) {
  const hashes = untilCommit(watch, () => {
    const text = meta.get<string>(META_ANCESTOR_HASHES)
    return text === undefined ? undefined : parseHex(text)
  })
  return (number: number): Uint8Array | undefined => {
    const above = (first() ?? 0) - 1 - number
    if (above < 0) return undefined
    const found = hashes()?.subarray(above * 32, above * 32 + 32)
    return found?.length === 32 ? found : undefined
  }
}

/** Reads a fact that never changes once set, and caches it: every call needs some of them. */
function lastingText(meta: MetaTable, key: string): () => string | undefined {
  let known: string | undefined
  return () => {
    known ??= meta.get<string>(key)
    return known
  }
}

function holds(block: StoredBlock, index: number): boolean {
  return index >= 0 && index < block.txCount
}
