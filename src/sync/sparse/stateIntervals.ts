import type { Header } from '../../chain/eth/types.js'
import { EMPTY_BYTES } from '../../lib/bytes.js'
import { formatData, parseHex } from '../../lib/hex.js'
import type { Database } from '../../store/database.js'
import {
  createMetaTable,
  META_CLOSED_STATES,
  META_LISTED_STATES,
  META_STATE_DUMP,
  META_STATE_FIRST,
  type MetaTable,
} from '../../store/meta.js'
import { StateLog } from '../../store/replication/stateLog.js'
import type { BlockInterval } from '../../store/rows/coverage.js'
import { type BaseRows, createBaseRows } from '../../store/state/baseRows.js'
import { countClosedStates, readListedStates, readStateFirst } from '../../store/state/sparseState.js'
import { readStateDump, type StateDump } from '../../store/state/stateDump.js'
import { removeStateDump } from '../../store/state/stateDumpRows.js'
import { beginSparseState, type LogOptions } from './beginState.js'

/** The intervals of blocks with sparse state. Changes join the caller's transaction; call `reload` after a rollback. */
export class StateIntervals {
  private readonly db: Database
  private readonly meta: MetaTable
  private readonly rows: BaseRows
  /** The first block of the newest interval; undefined while blocks are stored without state. */
  first: number | undefined
  /** The number of intervals before it. */
  closed = 0
  /** The newest block whose state comes from its access list; undefined if the newest interval has none. */
  lastListed: number | undefined

  /** Reads the intervals of a database opened for writing. */
  constructor(db: Database) {
    this.db = db
    this.meta = createMetaTable(db)
    this.rows = createBaseRows(db)
    this.reload()
  }

  reload(): void {
    this.first = readStateFirst(this.db)
    this.closed = countClosedStates(this.db)
    const last = readListedStates(this.db).at(-1)?.last
    this.lastListed = last !== undefined && this.first !== undefined && last > this.first ? last : undefined
  }

  /** Begins an interval at the newest block. Keys of earlier ones are unknown from there on. At the block of a state
   *  dump, all of its state is known. */
  begin(block: { hash: Uint8Array; header: Header }, options?: LogOptions): void {
    const { number } = block.header
    const dump = readStateDump(this.db)
    if (dump?.hash === formatData(block.hash) && dump.last === undefined) this.meta.set(META_STATE_FIRST, number)
    else {
      this.rows.mark(number)
      beginSparseState(this.db, block, options)
    }
    this.reload()
  }

  /** Notes that the state of the newest block comes from its access list. */
  list(blockNumber: number): void {
    const listed = readListedStates(this.db)
    const last = listed.at(-1)
    const begins = last === undefined || last.last !== blockNumber - 1
    const next = begins
      ? [...listed, { first: blockNumber, last: blockNumber }]
      : [...listed.slice(0, -1), { first: last.first, last: blockNumber }]
    this.meta.set(META_LISTED_STATES, next)
    this.lastListed = blockNumber
  }

  /** Closes the newest interval at block `last`. */
  close(last: number, { isLogged = true }: LogOptions = {}): void {
    if (isLogged) new StateLog(this.db).add('close', last, EMPTY_BYTES)
    this.meta.set(META_CLOSED_STATES, [...this.closedList(), { first: this.first!, last }])
    const dump = readStateDump(this.db)
    if (dump?.number === this.first) this.setDump({ ...dump!, last })
    this.meta.set(META_STATE_FIRST, null)
    this.reload()
  }

  /** Removes intervals and parts of them above `blockNumber`, whose blocks were removed with the rows of their
   *  changes. */
  removeAbove(blockNumber: number): void {
    const closed = this.closedList()
    const firsts = [...closed.map(({ first }) => first), this.first ?? -1]
    for (const first of firsts) if (first > blockNumber) this.rows.removeAt(first)
    // A list does not name an empty account that its block removed (EIP-161): proved after it, it did not exist before.
    if (this.lastListed !== undefined && blockNumber < this.lastListed) this.rows.removeAbsent(this.first!)
    if (closed.length > 0) this.meta.set(META_CLOSED_STATES, upTo(closed, blockNumber))
    const listed = readListedStates(this.db)
    if (listed.length > 0) this.meta.set(META_LISTED_STATES, upTo(listed, blockNumber))
    if (this.first !== undefined && this.first > blockNumber) this.meta.set(META_STATE_FIRST, null)
    const dump = readStateDump(this.db)
    if (dump && dump.number > blockNumber) removeStateDump(this.db)
    else if (dump?.last !== undefined && dump.last > blockNumber) this.setDump({ ...dump, last: blockNumber })
    this.reload()
  }

  /** As `SparseChain.dumpedBlock`. */
  dumpedBlock(): { number: number; hash: Uint8Array } | undefined {
    const dump = this.first === undefined && this.closed === 0 ? readStateDump(this.db) : undefined
    return dump && { number: dump.number, hash: parseHex(dump.hash) }
  }

  /** As `SparseChain.isComplete`. */
  isComplete(): boolean {
    const dump = readStateDump(this.db)
    return dump !== undefined && (this.dumpedBlock() !== undefined || dump.number === this.first)
  }

  private setDump(dump: StateDump): void {
    this.meta.set(META_STATE_DUMP, dump)
  }

  private closedList(): BlockInterval[] {
    return this.meta.get<BlockInterval[]>(META_CLOSED_STATES) ?? []
  }
}

/** The intervals, and parts of them, up to a block. */
function upTo(intervals: readonly BlockInterval[], blockNumber: number): BlockInterval[] {
  return intervals
    .filter(({ first }) => first <= blockNumber)
    .map(({ first, last }) => ({ first, last: Math.min(last, blockNumber) }))
}
