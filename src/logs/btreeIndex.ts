import type { Deadline } from '../lib/deadline.js'
import type { Database } from '../store/open.js'
import { createKeyCursor, createUnionCursor, type IdCursor, intersect } from './cursor.js'
import type { Clause, ClauseColumn, IdRange, LogIndex } from './index.js'

const COLUMNS: ClauseColumn[] = ['address_id', 'topic0_id', 'topic1', 'topic2', 'topic3']

type Key = number | Uint8Array

interface ColumnStatements {
  ids(key: Key, from: number, to: number, limit: number): number[]
  count(key: Key, from: number, to: number, limit: number): number
}

// Sizes of clauses are counted up to a bound that grows while all of them reach it. An index row costs 0.04 µs, so the
// longest statement takes about 20 ms.
const PROBE_LIMITS = [2_000, 32_000, 512_000]
// Below this many candidates it is cheaper to look at the rows (3 µs each) than at another index.
const INTERSECT_FROM = 400
// A union of more keys than this costs too much to leap in: such a clause is left to the check of the rows.
const INTERSECT_MAX_KEYS = 16
const BATCH = 500
const FIRST_READS = 4_096

/** The log index of ordinary B-trees, one per column, through statements prepared once for the connection. */
export function createBtreeIndex(db: Database): LogIndex {
  const statements = new Map(COLUMNS.map((column) => [column, prepareColumn(db, column)]))
  const count: LogIndex['count'] = ({ column, keys }, range, { limit, deadline }) => {
    const read = statements.get(column)!
    let total = 0
    for (const key of keys) {
      deadline.check()
      total += read.count(key, range.from, range.to, limit - total)
      if (total >= limit) return limit
    }
    return total
  }
  const open = (clause: Clause, range: IdRange, deadline: Deadline): IdCursor => {
    const read = statements.get(clause.column)!
    const firstBatch = Math.floor(FIRST_READS / clause.keys.length)
    const cursors = clause.keys.map((key) => {
      const readIds = (from: number, limit: number) => {
        deadline.check()
        return read.ids(key, from, range.to, limit)
      }
      return createKeyCursor(readIds, range.from, Math.min(firstBatch, 64))
    })
    return createUnionCursor(cursors)
  }
  return {
    count,
    candidates: (clauses, range, deadline) => {
      const sizes = probe(clauses, (clause, limit) => count(clause, range, { limit, deadline }))
      const [driver, ...others] = sizes
      const cursors = others
        .filter(({ clause }) => driver.size >= INTERSECT_FROM && clause.keys.length <= INTERSECT_MAX_KEYS)
        .map(({ clause }) => open(clause, range, deadline))
      return intersect(open(driver.clause, range, deadline), cursors, BATCH)
    },
  }
}

function prepareColumn(db: Database, column: ClauseColumn): ColumnStatements {
  // Equality on the indexed column leaves its index in the order of ids, so that the limit bounds the work.
  const where = `WHERE ${column} = ? AND id >= ? AND id < ?`
  const ids = db
    .prepare<[Key, number, number, number], number>(`SELECT id FROM logs ${where} ORDER BY id LIMIT ?`)
    .pluck()
  const count = db
    .prepare<[Key, number, number, number], number>(`SELECT count(*) FROM (SELECT 1 FROM logs ${where} LIMIT ?)`)
    .pluck()
  return {
    ids: (key, from, to, limit) => ids.all(key, from, to, limit),
    count: (key, from, to, limit) => count.get(key, from, to, limit)!,
  }
}

/** The clauses with their sizes, smallest first. Sizes are exact below the bound that was reached. */
function probe(
  clauses: Clause[],
  count: (clause: Clause, limit: number) => number,
): { clause: Clause; size: number }[] {
  let sizes = clauses.map((clause) => ({ clause, size: 0 }))
  // Few keys first: what they count bounds the probes of long lists.
  sizes.sort((a, b) => a.clause.keys.length - b.clause.keys.length)
  if (clauses.length === 1) return [{ clause: clauses[0], size: Number.POSITIVE_INFINITY }]
  for (const limit of PROBE_LIMITS) {
    let least = limit
    sizes = sizes.map(({ clause }) => {
      const size = count(clause, least)
      least = Math.min(least, size)
      return { clause, size }
    })
    if (least < limit) break
  }
  return sizes.sort((a, b) => a.size - b.size)
}
