import { equalBytes } from '../../lib/bytes.js'
import type { Database } from '../database.js'
import { createMetaTable, META_CLOSED_STATES, META_STATE_FIRST, META_STATE_LOG, type MetaTable } from '../meta.js'
import type { BlockInterval } from '../rows/coverage.js'
import { createBaseRows } from '../state/baseRows.js'
import { decodeStateEntry, encodeStateEntry, type LearnedAccount } from './stateEntry.js'

/* What was added to sparse state, in the order of commits. A replica adds the same entries, with the same ids, at the
 * same blocks: then it knows the same accounts, slots and trie nodes.
 *
 * `at` is the block in whose state the values of an entry were proved. When that block is removed, the base rows of the
 * entry go, since a replica that never had the block could not verify them. Its nodes stay, as those of a fetched entry
 * at the last block that is left: the trie may have kept them. What a removed block needed was proved before it: that
 * entry stays as a fetched one.
 *
 * A writer that has no replicas keeps no entries. It uses ids all the same, so that a replica sees what it missed. */

/** Kinds of entries, as stored. */
export const STATE_ENTRY_KINDS = ['fetched', 'block', 'begin', 'close', 'ancestors'] as const

/** `fetched`: for requests, between two blocks. `block`: needed by the block after `at`. `begin`: state begins at
 *  `at`. `close`: it ends there. `ancestors`: hashes of the blocks before the first one. */
export type StateEntryKind = (typeof STATE_ENTRY_KINDS)[number]

/** An addition to sparse state. */
export interface StateEntry {
  readonly id: number
  /** The block in whose state it was proved. */
  readonly at: number
  readonly kind: StateEntryKind
  /** `fetched` and `block`: see stateEntry.ts. `ancestors`: the hashes. Otherwise empty. */
  readonly data: Uint8Array
}

/** Entries of this many blocks are kept: seven hours of mainnet. */
export const KEPT_STATE_BLOCKS = 2_048

interface Bounds {
  /** The last id that was used. */
  readonly last: number
  /** Entries from this id on are available. */
  readonly from: number
}

interface EntryRow {
  id: number
  at: number
  kind: number
  data: Uint8Array
}

/** The entries of a database. Writes join the caller's transaction. */
export class StateLog {
  private readonly db: Database
  private readonly meta: MetaTable
  private readonly insertRow
  private readonly deleteRow
  private readonly selectRow
  private readonly selectFirst
  private readonly selectAfter
  private readonly selectAgain
  private readonly selectNewest
  private readonly selectBefore

  /** Prepares the statements. Writes need a database opened for writing. */
  constructor(db: Database) {
    this.db = db
    this.meta = createMetaTable(db)
    this.insertRow = db.prepare('INSERT OR REPLACE INTO state_log (id, at, kind, data) VALUES (?, ?, ?, ?)')
    this.deleteRow = db.prepare('DELETE FROM state_log WHERE id = ?')
    this.selectRow = db.prepare<[number], EntryRow>('SELECT id, at, kind, data FROM state_log WHERE id = ?')
    this.selectFirst = db.prepare<[], number>('SELECT at FROM state_log ORDER BY id LIMIT 1').pluck()
    this.selectAfter = db.prepare<[number], EntryRow>(
      'SELECT id, at, kind, data FROM state_log WHERE id > ? ORDER BY id',
    )
    this.selectAgain = db.prepare<[object], EntryRow>(
      `SELECT id, at, kind, data FROM state_log
       WHERE at < @before AND (id > @after OR at > @removedAbove OR (at = @removedAbove AND kind = 1)) ORDER BY id`,
    )
    this.selectNewest = db.prepare<[], number | null>('SELECT max(id) FROM state_log').pluck()
    this.selectBefore = db.prepare<[number], number | null>('SELECT max(id) FROM state_log WHERE at < ?').pluck()
  }

  /** The last id that was used, and the first from which on entries are available. */
  get bounds(): Bounds {
    return this.meta.get<Bounds>(META_STATE_LOG) ?? { last: 0, from: 1 }
  }

  /** The newest entry that is in the state: where a replica resumes. */
  get position(): number {
    return this.selectNewest.get() ?? this.bounds.from - 1
  }

  /** Returns the last entry before those that follow a block: of it or of earlier blocks. */
  positionAt(blockNumber: number): number {
    return this.selectBefore.get(blockNumber) ?? this.bounds.from - 1
  }

  /** Returns the first block after which all entries are available; undefined without entries. */
  firstBlock(): number | undefined {
    return this.bounds.from === 1 ? 0 : this.selectFirst.get()
  }

  /** Returns the entries after `after` that were proved below block `before`, by id. */
  pending(after: number, before: number): StateEntry[] {
    const found: StateEntry[] = []
    for (const row of this.selectAfter.iterate(after)) {
      if (row.at >= before) break
      found.push(toEntry(row))
    }
    return found
  }

  /** As `pending`, with those that a removal of the blocks above `removedAbove` removed from a replica. */
  pendingAgain(after: number, before: number, removedAbove: number): StateEntry[] {
    return this.selectAgain.all({ after, before, removedAbove }).map(toEntry)
  }

  /** Adds an entry of this database, and removes those of old blocks. */
  add(kind: StateEntryKind, at: number, data: Uint8Array): void {
    this.put({ id: this.bounds.last + 1, at, kind, data })
  }

  /** Adds an entry with its id, and removes those of old blocks. */
  put({ id, at, kind, data }: StateEntry): void {
    this.insertRow.run(id, at, STATE_ENTRY_KINDS.indexOf(kind), data)
    const { last, from } = this.bounds
    const pruned = this.selectBefore.get(at - KEPT_STATE_BLOCKS)
    if (pruned !== null && pruned !== undefined) this.db.prepare('DELETE FROM state_log WHERE id <= ?').run(pruned)
    // The first entry of a copy follows those that the copy was made with.
    this.setBounds({ last: Math.max(last, id), from: Math.max(from, (pruned ?? 0) + 1) })
  }

  /** Uses an id without keeping an entry: earlier entries are not complete any more. */
  skip(): void {
    const { last, from } = this.bounds
    if (from <= last) this.db.prepare('DELETE FROM state_log').run()
    this.setBounds({ last: last + 1, from: last + 2 })
  }

  /** Returns whether the entry is stored as it is, up to its kind: a replica may have it as a fetched one. */
  has({ id, at, kind, data }: StateEntry): boolean {
    const row = this.selectRow.get(id)
    if (row === undefined || row.at !== at || !equalBytes(row.data, data)) return false
    const stored = STATE_ENTRY_KINDS[row.kind]
    return stored === kind || (stored === 'fetched' && kind === 'block')
  }

  /** Returns the data of the entries that a removal of the blocks above `number` removes or makes fetched ones. */
  removedBy(number: number): Uint8Array[] {
    return this.pendingAgain(Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, number)
      .filter(({ kind }) => kind === 'fetched' || kind === 'block')
      .map(({ data }) => data)
  }

  /** Plans the removal of the entries that were proved above block `number`, and of their base rows. Call it before the
   *  intervals of states change. @returns a function that removes them, to be called when the state is that of the
   *  block: unwinding it may read base rows */
  planRemoval(number: number): () => void {
    const steps = this.pendingAgain(Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, number).map((entry) => {
      const { id, at, kind, data } = entry
      const isState = kind === 'fetched' || kind === 'block'
      const isKept = kind === 'ancestors' || (kind === 'close' && this.closesAfter(at, number))
      if (isState && at > number) return this.planDemotion(entry, number)
      if (!isState && !isKept) return () => void this.deleteRow.run(id)
      const kept = kind === 'block' ? 'fetched' : kind
      return () => void this.insertRow.run(id, number, STATE_ENTRY_KINDS.indexOf(kept), data)
    })
    return () => {
      for (const step of steps) step()
    }
  }

  /** Removes the entries from an id on, with their base rows: another writer has used their ids. */
  removeFrom(id: number): void {
    for (const entry of this.pending(id - 1, Number.MAX_SAFE_INTEGER)) {
      if (entry.kind === 'fetched' || entry.kind === 'block') this.planDemotion(entry, entry.at)()
      this.deleteRow.run(entry.id)
    }
  }

  /** Plans that an entry loses its base rows, and becomes a fetched one at block `number`. */
  private planDemotion({ id, at, data }: StateEntry, number: number): () => void {
    const closed = this.meta.get<BlockInterval[]>(META_CLOSED_STATES) ?? []
    const found = closed.findIndex(({ first, last }) => first <= at && at <= last)
    const first = found < 0 ? (this.meta.get<number | null>(META_STATE_FIRST) ?? undefined) : closed[found].first
    const index = found < 0 ? closed.length : found
    const { accounts, nodes, branches } = decodeStateEntry(data)
    const left = encodeStateEntry({ accounts: accounts.map(withoutBase), nodes, branches, codeHashes: [] })
    return () => {
      this.insertRow.run(id, number, 0, left)
      // Those of an interval that begins later go with it.
      if (first !== undefined && first <= number) createBaseRows(this.db).remove(first, index, accounts)
    }
  }

  /** True for the end of an interval of states that keeps its first block. */
  private closesAfter(last: number, number: number): boolean {
    const closed = this.meta.get<BlockInterval[]>(META_CLOSED_STATES) ?? []
    return closed.some((each) => each.last === last && each.first <= number)
  }

  private setBounds(bounds: Bounds): void {
    this.meta.set(META_STATE_LOG, bounds)
  }
}

function withoutBase({ address, baseSlots, slots }: LearnedAccount): LearnedAccount {
  return { address, isBase: false, baseSlots: [], slots: [...baseSlots, ...slots] }
}

function toEntry({ id, at, kind, data }: EntryRow): StateEntry {
  return { id, at, kind: STATE_ENTRY_KINDS[kind], data }
}
