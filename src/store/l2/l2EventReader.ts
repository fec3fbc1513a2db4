import { decodeFelt, type Felt } from '../../chain/starknet/felt.js'
import type { Database } from '../database.js'
import { INDEXED_KEYS, type L2EventPattern, matchEvents, type StoredL2Event, termOf } from './eventCodec.js'
import { L2BlockUnavailable, L2PartUnavailable } from './unavailable.js'

/** The matching events of a canonical block. */
interface L2BlockEvents {
  readonly number: number
  readonly hash: Felt
  readonly events: StoredL2Event[]
}

/** Callbacks of a search. */
interface L2EventVisitor {
  /** Called in order for each block that may have matching events, with those that match. False ends the search. */
  visit(block: L2BlockEvents): boolean
  /** True when the search should end; called every few microseconds. */
  isOver(): boolean
}

/** Searches the events of canonical blocks. */
export interface L2EventReader {
  /** Searches the stored blocks of [fromBlock, toBlock], in one snapshot. Returns the first block that was not
   *  searched, undefined if all were. @throws L2BlockUnavailable for a gap below the head, L2PartUnavailable for a
   *  block whose events are not available */
  search(
    range: { fromBlock: number; toBlock: number },
    pattern: L2EventPattern,
    visitor: L2EventVisitor,
  ): number | undefined
}

interface EventsRow {
  hash: Uint8Array
  /** Null: the recording lacks them. */
  events: Uint8Array | null
}

// Looking up one value takes 3 µs; a longer list is compared with the events of every block.
const MAX_SOUGHT = 64

/** Creates a reader over an open database, with statements prepared once. */
export function createL2EventReader(db: Database): L2EventReader {
  const selectRow = db.prepare<[number], EventsRow>(
    'SELECT b.hash, e.events FROM l2_blocks b JOIN l2_events e USING (number) WHERE b.canonical = 1 AND number = ?',
  )
  const selectWithTerm = db
    .prepare<[number, number], number>(
      'SELECT number FROM l2_event_terms WHERE term = ? AND number >= ? ORDER BY number LIMIT 1',
    )
    .pluck()
  const selectNotIndexed = db
    .prepare<[number], number>(
      'SELECT number FROM l2_events WHERE events IS NULL AND number >= ? ORDER BY number LIMIT 1',
    )
    .pluck()

  const countAvailable = db
    .prepare<[number, number], number>('SELECT count(*) FROM l2_blocks WHERE canonical = 1 AND number BETWEEN ? AND ?')
    .pluck()
  const selectHead = db.prepare<[], number | null>('SELECT max(number) FROM l2_blocks WHERE canonical = 1').pluck()
  const selectGap = db
    .prepare<[number, number], number>(
      `SELECT b.number + 1 FROM l2_blocks b WHERE b.canonical = 1 AND b.number BETWEEN ? AND ? AND NOT EXISTS
         (SELECT 1 FROM l2_blocks c WHERE c.canonical = 1 AND c.number = b.number + 1) ORDER BY b.number LIMIT 1`,
    )
    .pluck()
  /** @throws L2BlockUnavailable */
  const requireAvailable = (from: number, to: number) => {
    if (to < from || countAvailable.get(from, to) === to - from + 1) return
    throw new L2BlockUnavailable(countAvailable.get(from, from) === 0 ? from : selectGap.get(from, to)!)
  }

  /** The first block from `from` on that has one of the terms. */
  const firstWith = (terms: readonly number[], from: number): number => {
    let first = Number.POSITIVE_INFINITY
    for (const term of terms) first = Math.min(first, selectWithTerm.get(term, from) ?? first)
    return first
  }
  /** The first block from `from` on that has a term of each clause, or a lower one when the search is over. */
  const firstWithAll = (clauses: readonly number[][], from: number, isOver: () => boolean): number => {
    let number = from
    for (let agreeing = 0, i = 0; agreeing < clauses.length; i = (i + 1) % clauses.length) {
      const next = firstWith(clauses[i], number)
      if (next === Number.POSITIVE_INFINITY) return next
      agreeing = next === number ? agreeing + 1 : 1
      number = next
      if (isOver()) return number
    }
    return number
  }
  const search: L2EventReader['search'] = ({ fromBlock, toBlock }, pattern, { visit, isOver }) => {
    const last = Math.min(toBlock, selectHead.get() ?? -1)
    requireAvailable(fromBlock, last)
    const clauses = clausesOf(pattern)
    let notIndexed = selectNotIndexed.get(fromBlock) ?? Number.POSITIVE_INFINITY
    let number = fromBlock
    while (number <= last) {
      if (notIndexed < number) notIndexed = selectNotIndexed.get(number) ?? Number.POSITIVE_INFINITY
      const indexed = clauses.length === 0 ? number : firstWithAll(clauses, number, isOver)
      number = Math.min(indexed, notIndexed)
      if (number > last) return undefined
      const row = selectRow.get(number)!
      if (row.events === null) throw new L2PartUnavailable(number, 'events')
      const goesOn = visit({ number, hash: decodeFelt(row.hash), events: matchEvents(row.events, pattern) })
      number++
      if (!goesOn || isOver()) return number <= last ? number : undefined
    }
    return undefined
  }
  return { search: (...args) => db.transaction(() => search(...args))() }
}

/** Terms of each part of the pattern that the index can answer. */
function clausesOf({ addresses, keys }: L2EventPattern): number[][] {
  return [addresses, ...keys.slice(0, INDEXED_KEYS)]
    .map((felts, position) => felts.map((felt) => termOf(position, felt)))
    .filter(({ length }) => length > 0 && length <= MAX_SOUGHT)
}
