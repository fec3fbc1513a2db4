import { familyOf } from '../../chain/eth/families/families.js'
import type { ChainSpec } from '../../chain/eth/forks/rules.js'
import type { Block, Header, Receipt } from '../../chain/eth/types.js'
import { withoutHiding } from '../../lib/errors.js'
import type { Database } from '../../store/database.js'
import type { MetaTable } from '../../store/meta.js'
import { createMetaTable, META_FINALITY, META_UPSTREAM_HEAD } from '../../store/meta.js'
import type { StateEntry } from '../../store/replication/stateLog.js'
import type { AppearanceWriter } from '../../store/rows/appearances.js'
import { createAppearanceWriter } from '../../store/rows/appearances.js'
import type { CallTrace } from '../../store/rows/callTraces.js'
import type { ChainWriter } from '../../store/rows/chainWriter.js'
import { createChainWriter } from '../../store/rows/chainWriter.js'
import type { PackedChanges } from '../../store/rows/packedChanges.js'
import type { BaseState, StateChanges, UsedNodes } from '../../store/rows/stateChanges.js'
import { createTraceWriter, type TraceWriter } from '../../store/rows/traceRows.js'
import type { ChainReader, Finality } from '../../store/rows/types.js'
import type { ChainIndexer } from '../chainIndexer.js'
import { createChainIndexer } from '../chainIndexer.js'
import type { StateUpdateAppender } from '../stateUpdates.js'
import { ReorgBelowFinalized, RewindOutOfRange } from './errors.js'
import type { BlockRef, HeadEvent, HeadListener } from './events.js'
import { compareRootsAbove } from './wrongRoots.js'

/** The parts of a block that the next one needs. */
export interface Head {
  hash: Uint8Array
  header: Header
  totalDifficulty: bigint
}

/** The stored parts of a block besides itself. */
export interface BlockParts {
  receipts: Receipt[]
  totalDifficulty: bigint
  /** Present where state is kept. */
  changes?: StateChanges | PackedChanges
  /** RLP (EIP-7928); present where it is to be stored. */
  blockAccessList?: Uint8Array
  /** By transaction: the addresses (20 bytes) in which it appears; they may repeat. Present where the address index is
   *  kept. */
  appearances?: readonly (readonly Uint8Array[])[]
  /** By transaction: its calls, in the order in which they began. Undefined for a block that was not executed. */
  traces?: readonly (readonly CallTrace[])[]
  /** True for a block that was executed here and verified by its outcome. Default: false. */
  isExecuted?: boolean
}

/** Keeps the state trie with the chain, within its transactions. */
export interface HeadState {
  /** Call it before the blocks (ancestor, upTo] are removed. @returns a function that unwinds the state once their rows
   *  are removed */
  beforeRemoval(ancestor: Head, upTo: number): () => void
  /** Call it before a commit, and within a transaction where the state after a block is to stay readable. `isNext`: the
   *  newest block is the only one appended since the last call. */
  beforeCommit(newest: BlockRef, isNext: boolean): void
  /** Call it after a rollback of the whole transaction. */
  afterRollback(): void
}

const NOTHING_FINAL: Finality = { safe: -1, finalized: -1 }

/** Options of `createChainHead`. */
export interface ChainHeadOptions {
  readonly spec: ChainSpec
  readonly state?: HeadState
  /** Writes within the same transactions. */
  readonly stateUpdates?: StateUpdateAppender
  /** Collect state rows and write them in the order of their keys; `flush` makes them readable in the open transaction.
   *  Default: false. */
  readonly collectsState?: boolean
  /** Keep what is added to sparse state for replicas. Default: false. */
  readonly logsState?: boolean
  /** Store the calls of each block's transactions. Default: false. */
  readonly keepsTraces?: boolean
  /** Called after blocks were discarded. */
  afterRollback(): void
}

/** The only way to change the chain: blocks, state, indexes and finality. Changes collect in one transaction, which the
 *  first of them begins; readers see them with `commit`, and listeners are notified after it. */
export class ChainHead {
  private readonly db: Database
  private readonly reader: ChainReader
  private readonly spec: ChainSpec
  private readonly state: HeadState | undefined
  private readonly stateUpdates: StateUpdateAppender | undefined
  private readonly writer: ChainWriter
  private readonly indexer: ChainIndexer
  private readonly addresses: AppearanceWriter
  private readonly traces: TraceWriter | undefined
  private readonly meta: MetaTable
  private readonly listeners = new Set<HeadListener>()
  private newestBlock: Head | undefined
  private marked: Head | undefined
  private added: BlockRef[] = []
  private addedAtMark = 0
  /** Number of the newest block added that its seals make final; -1 for none. */
  private sealedTo = -1
  /** Number of blocks added since the state was recorded. */
  private unrecorded = 0
  private unrecordedAtMark = 0
  private rewound: { ancestor: BlockRef; removed: readonly BlockRef[] } | undefined
  private finalityChanged = false
  /** True from `begin` to the commit or rollback; SQLite may have rolled back by itself before, on a full disk. */
  private isBegun = false
  private hasProvisional = false

  /** Creates the head of a database opened for writing. */
  constructor(
    db: Database,
    reader: ChainReader,
    { spec, state, stateUpdates, collectsState, logsState, keepsTraces, afterRollback }: ChainHeadOptions,
  ) {
    this.db = db
    this.reader = reader
    this.spec = spec
    this.state = state
    this.stateUpdates = stateUpdates
    this.writer = createChainWriter(db, {
      ...{ collectsState, logsState },
      beforeCommit: () => {
        const isRecorded = this.added.length > 0 && this.unrecorded === 0
        if (!isRecorded) this.recordState()
      },
      afterRollback: () => {
        state?.afterRollback()
        afterRollback()
      },
    })
    this.indexer = createChainIndexer(db)
    this.addresses = createAppearanceWriter(db)
    this.traces = keepsTraces ? createTraceWriter(db) : undefined
    this.meta = createMetaTable(db)
    this.newestBlock = readNewest(reader)
    this.marked = this.newestBlock
  }

  /** The newest block, in the transaction where one is open. */
  get newest(): Head | undefined {
    return this.newestBlock
  }

  get inTransaction(): boolean {
    return this.writer.inTransaction
  }

  /** Begins a transaction unless one is open: for what is stored with the first block. */
  begin(): void {
    if (!this.writer.inTransaction) this.writer.begin()
    this.isBegun = true
  }

  /** Returns the safe and finalized numbers: the newest block where none was ever stored, as with blocks from files. */
  finality(): Finality {
    const head = this.newestBlock?.header.number ?? -1
    return this.storedFinality() ?? { safe: head, finalized: head }
  }

  /** False where the head counts as final, since no finality was ever stored. */
  isFinalityStored(): boolean {
    return this.storedFinality() !== undefined
  }

  /** Adds a listener for all later events. @returns a function that removes it */
  listen(listener: HeadListener): () => void {
    this.listeners.add(listener)
    return () => void this.listeners.delete(listener)
  }

  /** Stores a verified block on top of the newest one. When it throws, the transaction is rolled back.
   *  @param isAtTip write its state rows to small tables first, from which `moveRecentState` moves them: readers see
   *  the block earlier, for more work in total */
  append(
    block: Block,
    { receipts, totalDifficulty, changes, blockAccessList, appearances, traces, isExecuted = false }: BlockParts,
    options?: { isAtTip?: boolean },
  ): void {
    this.giveUpOnError(() => {
      this.begin()
      this.writer.insertBlock(block, receipts, totalDifficulty, changes, options)
      if (blockAccessList) this.writer.insertBlockAccessList(block.header.number, blockAccessList)
      this.indexer.add(block, receipts, appearances && this.addresses.put(block.header.number, appearances))
      this.traces?.put(block.header.number, traces)
      this.stateUpdates?.add(block, receipts)
      this.newestBlock = { hash: block.hash, header: block.header, totalDifficulty }
      const { number } = block.header
      this.added.push({ number, hash: block.hash })
      if (familyOf(this.spec).sealsAreFinal?.(block.header, isExecuted)) this.sealedTo = number
      this.unrecorded++
    })
  }

  /** Stores the state trie of the newest block, whose root was compared, in the open transaction: it stays readable as
   *  if the block had been committed alone. A commit does this for its newest block. */
  recordState(): void {
    if (this.newestBlock === undefined) return
    const { hash, header } = this.newestBlock
    this.state?.beforeCommit({ number: header.number, hash }, this.unrecorded === 1)
    this.unrecorded = 0
  }

  /** Writes the collected state rows. Call it before reading rows of the open transaction. */
  flush(): void {
    this.writer.flush()
  }

  /** Marks a savepoint in the transaction for `rollbackToMark`; replaces an earlier mark. */
  mark(): void {
    this.begin()
    this.writer.mark()
    this.marked = this.newestBlock
    this.addedAtMark = this.added.length
    this.unrecordedAtMark = this.unrecorded
  }

  rollbackToMark(): void {
    this.writer.rollbackToMark()
    this.clearIndexes()
    this.newestBlock = this.marked
    this.added.length = this.addedAtMark
    this.sealedTo = Math.min(this.sealedTo, this.marked?.header.number ?? -1)
    this.unrecorded = this.unrecordedAtMark
  }

  /** Removes all blocks above `number` with everything that belongs to them: a reorg, once the new branch is appended
   *  and committed. Commits what was appended before. When it throws, the chain is unchanged.
   *  @param byOperator allows going below the finalized block, which is then lowered too; on a development chain this
   *  is always allowed
   *  @throws RewindOutOfRange, ReorgBelowFinalized */
  rewind(number: number, { byOperator = false }: { byOperator?: boolean } = {}): void {
    this.commit()
    const ancestor = readHead(this.reader, number)
    const coverage = this.reader.coverage()
    if (!ancestor || !coverage) throw new RewindOutOfRange(number, coverage)
    const mayGoBelow = byOperator || this.spec.isDevelopment
    if (!mayGoBelow && number < this.finality().finalized)
      throw new ReorgBelowFinalized(number, this.finality().finalized)
    if (number === coverage.head) return
    this.giveUpOnError(() => {
      this.begin()
      const removed = this.listeners.size === 0 ? [] : listRefs(this.reader, number + 1, coverage.head)
      for (const listener of this.listeners) listener.beforeRemoval?.(removed)
      this.remove(ancestor)
      this.newestBlock = ancestor
      this.rewound = { ancestor: { number, hash: ancestor.hash }, removed }
    })
  }

  /** Makes the appended blocks provisional: they stay in the open transaction until `confirm` commits them, and any
   *  other call that would commit discards them. */
  keepProvisional(): void {
    this.hasProvisional = this.writer.inTransaction
  }

  /** True while appended blocks are provisional. */
  get isProvisional(): boolean {
    return this.hasProvisional
  }

  /** Number of the first provisional block; undefined without one. */
  get provisionalFrom(): number | undefined {
    return this.hasProvisional ? this.added[0]?.number : undefined
  }

  /** Commits the provisional blocks. */
  confirm(): void {
    this.hasProvisional = false
    this.commit()
  }

  /** Commits the changes and notifies the listeners. */
  commit(): void {
    if (this.hasProvisional) this.rollback()
    if (!this.writer.inTransaction) return
    if (this.rewound) this.lower(this.newestBlock!.header.number)
    this.raiseSealed()
    this.commitRows()
    notify(this.listeners, this.takeEvents())
  }

  /** Discards everything since the last commit. */
  rollback(): void {
    this.hasProvisional = false
    if (!this.isBegun) return
    this.isBegun = false
    this.writer.rollback()
    this.clearIndexes()
    this.clear()
    this.newestBlock = readNewest(this.reader)
  }

  /** As `finalize`, within the transaction; begins one if something changes. Where no finality was ever stored, stores
   *  the numbers as they are. */
  raiseFinality(wanted: Finality): void {
    this.raise(wanted, this.storedFinality() ?? NOTHING_FINAL)
  }

  /** Stores safe and finalized numbers, each at most that of the newest block. They never decrease: a lower number is
   *  ignored. Commits earlier changes first. */
  finalize(wanted: Finality): void {
    this.commit()
    this.raise(wanted, this.finality())
    this.commit()
  }

  /** Stores the newest block of the upstreams before a gap to it is filled, so that readers know what is missing;
   *  undefined when nothing is. Commits earlier changes first. */
  expect(upstreamHead: number | undefined): void {
    const wanted = upstreamHead ?? null
    if ((this.meta.get<number>(META_UPSTREAM_HEAD) ?? null) === wanted) return
    this.commit()
    this.begin()
    this.meta.set(META_UPSTREAM_HEAD, wanted)
    this.commitRows()
  }

  /** Runs `write`, which stores facts about the chain, in a transaction of its own. Commits earlier changes first. */
  storeFacts(write: () => void): void {
    this.work(() => {
      write()
      return false
    })
  }

  /** Stores base rows of sparse state that were proved at the newest block, in a transaction of its own, in which
   *  `learn` fills the state trie. Commits earlier changes first. */
  storeBase(base: BaseState, learn: () => UsedNodes): void {
    this.work(() => {
      this.writer.insertBase(base, this.newestBlock!.header.number, learn)
      return false
    })
  }

  /** Stores an addition to sparse state that a writer made, with the base rows that it has, within the transaction;
   *  begins one. */
  putEntry(entry: StateEntry, base: BaseState): void {
    this.giveUpOnError(() => {
      this.begin()
      this.writer.putEntry(entry, base)
    })
  }

  /** Does about `budgetMs` of index work, in a transaction of its own; true when there is more. Commits earlier changes
   *  first. */
  workOnIndexes(budgetMs: number): boolean {
    return this.work(() => this.indexer.work(budgetMs))
  }

  /** True when state rows of enough blocks were written at the tip that moving them pays. */
  isMoveDue(): boolean {
    return this.writer.isMoveDue()
  }

  /** Moves some state rows that were written at the tip to the history, in a transaction of its own of about a
   *  millisecond; true when there are more, save those of blocks appended since the first call that returned true.
   *  Commits earlier changes first. */
  moveRecentState(): boolean {
    return this.writer.recentBlocks() > 0 && this.work(() => this.writer.moveRecent())
  }

  /** Lets `workOnIndexes` seal full chunks at once, although a reorg could still replace their newest blocks. */
  sealIndexes(): void {
    this.indexer.sealNow()
  }

  private clearIndexes(): void {
    this.indexer.clear()
    this.addresses.clear()
  }

  private commitRows(): void {
    this.writer.commit()
    this.isBegun = false
  }

  private clear(): void {
    this.added = []
    this.sealedTo = -1
    this.unrecorded = 0
    this.rewound = undefined
    this.finalityChanged = false
  }

  /** Blocks that two thirds of the validators have sealed are final at once, in the transaction that stores them. */
  private raiseSealed(): void {
    if (this.sealedTo < 0) return
    this.raise({ safe: this.sealedTo, finalized: this.sealedTo }, this.storedFinality() ?? NOTHING_FINAL)
  }

  private storedFinality() {
    return this.meta.get<Finality>(META_FINALITY)
  }

  private takeEvents(): HeadEvent[] {
    const events: HeadEvent[] = []
    if (this.rewound) events.push({ kind: 'reorg', ...this.rewound, added: this.added })
    else if (this.added.length > 0) events.push({ kind: 'append', blocks: this.added })
    if (this.finalityChanged) events.push({ kind: 'finalized', ...this.finality() })
    this.clear()
    return events
  }

  /** Numbers above a lowered head. */
  private lower(head: number): void {
    const stored = this.storedFinality()
    if (!stored || stored.safe <= head) return
    this.meta.set(META_FINALITY, { safe: head, finalized: Math.min(stored.finalized, head) })
    this.finalityChanged = true
  }

  private raise(wanted: Finality, now: Finality): void {
    const head = this.newestBlock?.header.number ?? -1
    const finalized = Math.max(now.finalized, Math.min(wanted.finalized, head))
    const safe = Math.max(now.safe, Math.min(wanted.safe, head), finalized)
    if (this.storedFinality() && safe === now.safe && finalized === now.finalized) return
    this.begin()
    this.meta.set(META_FINALITY, { safe, finalized })
    this.finalityChanged = true
  }

  private remove(ancestor: Head): void {
    const { number } = ancestor.header
    const unwind = this.state?.beforeRemoval(ancestor, this.newestBlock!.header.number)
    const removeEntries = this.writer.rewindTo(number)
    this.indexer.truncate()
    this.stateUpdates?.removeAbove(number)
    compareRootsAbove(this.db, number)
    unwind?.()
    removeEntries()
  }

  private giveUpOnError(work: () => void): void {
    try {
      work()
    } catch (error) {
      withoutHiding(error, () => this.rollback()) // half of the work may be in the transaction
    }
  }

  /** Runs some work in a transaction of its own. @returns what it returns: whether there is more */
  private work(some: () => boolean): boolean {
    this.commit()
    let more = false
    this.giveUpOnError(() => {
      this.begin()
      more = some()
      this.commitRows()
    })
    return more
  }
}

function notify(listeners: ReadonlySet<HeadListener>, events: readonly HeadEvent[]): void {
  const errors: unknown[] = []
  for (const event of events) {
    for (const listener of [...listeners]) {
      try {
        listener.changed(event)
      } catch (error) {
        errors.push(error)
      }
    }
  }
  if (errors.length > 0) throw errors[0]
}

function readNewest(reader: ChainReader): Head | undefined {
  const number = reader.head()
  return number === undefined ? undefined : readHead(reader, number)
}

function readHead(reader: ChainReader, number: number): Head | undefined {
  const block = reader.blockByNumber(number)
  return block && { hash: block.hash, header: block.header, totalDifficulty: block.totalDifficulty }
}

function listRefs(reader: ChainReader, from: number, to: number): BlockRef[] {
  return Array.from({ length: to - from + 1 }, (_, i) => ({ number: from + i, hash: reader.blockHash(from + i)! }))
}
