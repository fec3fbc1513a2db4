import type { ChainSpec } from '../../chain/eth/forks.js'
import type { Block, Header, Receipt } from '../../chain/eth/types.js'
import { withoutHiding } from '../../lib/errors.js'
import type { Database } from '../../store/database.js'
import { createMetaTable, META_FINALITY, META_UPSTREAM_HEAD } from '../../store/meta.js'
import { createAppearanceWriter } from '../../store/rows/appearances.js'
import { createChainWriter } from '../../store/rows/chainWriter.js'
import type { PackedChanges } from '../../store/rows/packedChanges.js'
import type { StateChanges } from '../../store/rows/stateChanges.js'
import type { ChainReader, Finality } from '../../store/rows/types.js'
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
}

/** The only way to change the chain: blocks, state, indexes and finality. Changes collect in one transaction, which the
 *  first of them begins; readers see them with `commit`, and listeners are notified after it. */
export interface ChainHead {
  /** The newest block, in the transaction where one is open. */
  readonly newest: Head | undefined
  readonly inTransaction: boolean
  /** Begins a transaction unless one is open: for what is stored with the first block. */
  begin(): void
  /** Returns the safe and finalized numbers: the newest block where none was ever stored, as with blocks from files. */
  finality(): Finality
  /** False where the head counts as final, since no finality was ever stored. */
  isFinalityStored(): boolean
  /** Adds a listener for all later events. @returns a function that removes it */
  listen(listener: HeadListener): () => void
  /** Stores a verified block on top of the newest one. When it throws, the transaction is rolled back.
   *  @param isAtTip write its state rows to small tables first, from which `moveRecentState` moves them: readers see
   *  the block earlier, for more work in total */
  append(block: Block, parts: BlockParts, options?: { isAtTip?: boolean }): void
  /** Writes the collected state rows. Call it before reading rows of the open transaction. */
  flush(): void
  /** Marks a savepoint in the transaction for `rollbackToMark`; replaces an earlier mark. */
  mark(): void
  rollbackToMark(): void
  /** Removes all blocks above `number` with everything that belongs to them: a reorg, once the new branch is appended
   *  and committed. Commits what was appended before. When it throws, the chain is unchanged.
   *  @param byOperator allows going below the finalized block, which is then lowered too; on a development chain this
   *  is always allowed
   *  @throws RewindOutOfRange, ReorgBelowFinalized */
  rewind(number: number, options?: { byOperator?: boolean }): void
  /** Commits the changes and notifies the listeners. */
  commit(): void
  /** Discards everything since the last commit. */
  rollback(): void
  /** As `finalize`, within the transaction; begins one if something changes. Where no finality was ever stored, stores
   *  the numbers as they are. */
  raiseFinality(finality: Finality): void
  /** Stores safe and finalized numbers, each at most that of the newest block. They never decrease: a lower number is
   *  ignored. Commits earlier changes first. */
  finalize(finality: Finality): void
  /** Stores the newest block of the upstreams before a gap to it is filled, so that readers know what is missing;
   *  undefined when nothing is. Commits earlier changes first. */
  expect(upstreamHead: number | undefined): void
  /** Does about `budgetMs` of index work, in a transaction of its own; true when there is more. Commits earlier changes
   *  first. */
  workOnIndexes(budgetMs: number): boolean
  /** Moves some state rows that were written at the tip to the history, in a transaction of its own of about a
   *  millisecond; true when there are more. Commits earlier changes first. */
  moveRecentState(): boolean
  /** Lets `workOnIndexes` seal full chunks at once, although a reorg could still replace their newest blocks. */
  settleIndexes(): void
}

/** Keeps the state trie with the chain, within its transactions. */
export interface HeadState {
  /** Call it before the blocks (ancestor, upTo] are removed. @returns a function that unwinds the state once their rows
   *  are removed */
  beforeRemoval(ancestor: Head, upTo: number): () => void
  /** Call it before a commit. `isNext`: the newest block is the only one appended since the last commit. */
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
  /** Called after blocks were discarded. */
  afterRollback(): void
}

/** Creates the head of a database opened for writing. */
export function createChainHead(
  db: Database,
  reader: ChainReader,
  { spec, state, stateUpdates, collectsState, afterRollback }: ChainHeadOptions,
): ChainHead {
  const writer = createChainWriter(db, {
    collectsState,
    beforeCommit: () => {
      if (newest) state?.beforeCommit({ number: newest.header.number, hash: newest.hash }, added.length === 1)
    },
    afterRollback: () => {
      state?.afterRollback()
      afterRollback()
    },
  })
  const indexer = createChainIndexer(db)
  const addresses = createAppearanceWriter(db)
  const forgetIndexes = () => {
    indexer.forget()
    addresses.forget()
  }
  const meta = createMetaTable(db)
  const listeners = new Set<HeadListener>()
  let newest = readNewest(reader)
  let marked = newest
  let added: BlockRef[] = []
  let addedAtMark = 0
  let rewound: { ancestor: BlockRef; removed: readonly BlockRef[] } | undefined
  let finalityChanged = false
  /** True from `begin` to the commit or rollback; SQLite may have rolled back by itself before, on a full disk. */
  let isBegun = false

  const begin = () => {
    if (!writer.inTransaction) writer.begin()
    isBegun = true
  }
  const commitRows = () => {
    writer.commit()
    isBegun = false
  }
  const clear = () => {
    added = []
    rewound = undefined
    finalityChanged = false
  }
  const storedFinality = () => meta.get<Finality>(META_FINALITY)
  const finality = (): Finality => {
    const head = newest?.header.number ?? -1
    return storedFinality() ?? { safe: head, finalized: head }
  }
  const takeEvents = (): HeadEvent[] => {
    const events: HeadEvent[] = []
    if (rewound) events.push({ kind: 'reorg', ...rewound, added })
    else if (added.length > 0) events.push({ kind: 'append', blocks: added })
    if (finalityChanged) events.push({ kind: 'finalized', ...finality() })
    clear()
    return events
  }
  const commit = () => {
    if (!writer.inTransaction) return
    if (rewound) lower(newest!.header.number)
    commitRows()
    notify(listeners, takeEvents())
  }
  const rollback = () => {
    if (!isBegun) return
    isBegun = false
    writer.rollback()
    forgetIndexes()
    clear()
    newest = readNewest(reader)
  }
  /** Numbers above a lowered head. */
  const lower = (head: number) => {
    const stored = storedFinality()
    if (!stored || stored.safe <= head) return
    meta.set(META_FINALITY, { safe: head, finalized: Math.min(stored.finalized, head) })
    finalityChanged = true
  }
  const raise = (wanted: Finality, now: Finality) => {
    const head = newest?.header.number ?? -1
    const finalized = Math.max(now.finalized, Math.min(wanted.finalized, head))
    const safe = Math.max(now.safe, Math.min(wanted.safe, head), finalized)
    if (storedFinality() && safe === now.safe && finalized === now.finalized) return
    begin()
    meta.set(META_FINALITY, { safe, finalized })
    finalityChanged = true
  }
  const remove = (ancestor: Head) => {
    const { number } = ancestor.header
    const unwind = state?.beforeRemoval(ancestor, newest!.header.number)
    writer.rewindTo(number)
    indexer.truncate()
    stateUpdates?.removeAbove(number)
    compareRootsAbove(db, number)
    unwind?.()
  }
  const giveUpOnError = (work: () => void) => {
    try {
      work()
    } catch (error) {
      withoutHiding(error, rollback) // half of the work may be in the transaction
    }
  }
  /** Runs some work in a transaction of its own. @returns what it returns: whether there is more */
  const work = (some: () => boolean): boolean => {
    commit()
    let more = false
    giveUpOnError(() => {
      begin()
      more = some()
      commitRows()
    })
    return more
  }
  return {
    get newest() {
      return newest
    },
    get inTransaction() {
      return writer.inTransaction
    },
    begin,
    finality,
    isFinalityStored: () => storedFinality() !== undefined,
    listen: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    append: (block, { receipts, totalDifficulty, changes, blockAccessList, appearances }, options) =>
      giveUpOnError(() => {
        begin()
        writer.insertBlock(block, receipts, totalDifficulty, changes, options)
        if (blockAccessList) writer.insertBlockAccessList(block.header.number, blockAccessList)
        indexer.add(block, receipts, appearances && addresses.put(block.header.number, appearances))
        stateUpdates?.add(block, receipts)
        newest = { hash: block.hash, header: block.header, totalDifficulty }
        added.push({ number: block.header.number, hash: block.hash })
      }),
    flush: writer.flush,
    mark: () => {
      begin()
      writer.mark()
      marked = newest
      addedAtMark = added.length
    },
    rollbackToMark: () => {
      writer.rollbackToMark()
      forgetIndexes()
      newest = marked
      added.length = addedAtMark
    },
    rewind: (number, { byOperator = false } = {}) => {
      commit()
      const ancestor = readHead(reader, number)
      const coverage = reader.coverage()
      if (!ancestor || !coverage) throw new RewindOutOfRange(number, coverage)
      const mayGoBelow = byOperator || spec.isDevelopment
      if (!mayGoBelow && number < finality().finalized) throw new ReorgBelowFinalized(number, finality().finalized)
      if (number === coverage.head) return
      giveUpOnError(() => {
        begin()
        const removed = listeners.size === 0 ? [] : listRefs(reader, number + 1, coverage.head)
        for (const listener of listeners) listener.beforeRemoval?.(removed)
        remove(ancestor)
        newest = ancestor
        rewound = { ancestor: { number, hash: ancestor.hash }, removed }
      })
    },
    commit,
    rollback,
    raiseFinality: (wanted) => raise(wanted, storedFinality() ?? NOTHING_FINAL),
    finalize: (wanted) => {
      commit()
      raise(wanted, finality())
      commit()
    },
    expect: (upstreamHead) => {
      const wanted = upstreamHead ?? null
      if ((meta.get<number>(META_UPSTREAM_HEAD) ?? null) === wanted) return
      commit()
      begin()
      meta.set(META_UPSTREAM_HEAD, wanted)
      commitRows()
    },
    settleIndexes: () => indexer.settle(),
    workOnIndexes: (budgetMs) => work(() => indexer.work(budgetMs)),
    moveRecentState: () => writer.isMoveDue() && work(writer.moveRecent),
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
