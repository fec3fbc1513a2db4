import { noDeadline } from '../../lib/deadline.js'
import type { CommitWatch } from '../../store/commitWatch.js'
import type { Database } from '../../store/database.js'
import { createIdLookup } from '../../store/dictionary.js'
import { createLogRows } from '../../store/rows/logRows.js'
import type { Clause, ClauseColumn, IdRange } from '../../store/rows/rowFilter.js'
import { findPage } from './planner.js'
import { createSegmentIndex } from './segmentIndex.js'

/** Addresses and first topics: a log must match one of each. */
export interface LogIdFilter {
  readonly addresses?: readonly Uint8Array[]
  readonly topics0?: readonly Uint8Array[]
}

/** Finds ids of logs with the log search index, or by reading the rows where that is cheaper. */
export interface LogIds {
  /** Ids in the range that match the filter, ascending. Call it in the snapshot the logs are read from. */
  find(filter: LogIdFilter, range: IdRange): number[]
}

const PAGE = 10_000

/** Creates a finder over an open database, with statements prepared once. */
export function createLogIds(db: Database, watch: CommitWatch): LogIds {
  const access = { rows: createLogRows(db), index: createSegmentIndex(db, watch) }
  const lookUps = { address_id: createIdLookup(db, 'addresses'), topic0_id: createIdLookup(db, 'topics') }
  const clauseOf = (column: ClauseColumn & keyof typeof lookUps, wanted: readonly Uint8Array[]): Clause => {
    const known = wanted.flatMap((value) => {
      const key = lookUps[column](value)
      return key === undefined ? [] : [{ key, value }]
    })
    return { column, keys: known.map(({ key }) => key), values: known.map(({ value }) => value) }
  }
  return {
    find: ({ addresses, topics0 }, { from, to }) => {
      const clauses = [
        ...(addresses === undefined ? [] : [clauseOf('address_id', addresses)]),
        ...(topics0 === undefined ? [] : [clauseOf('topic0_id', topics0)]),
      ]
      const filter = { clauses, minTopics: topics0 === undefined ? 0 : 1 }
      const ids: number[] = []
      for (let start: number | undefined = from; start !== undefined && start < to; ) {
        const range = { from: start, to }
        const page = findPage(access, filter, { range, sliceEnds: noDeadline, maxResults: PAGE })
        for (const [id] of page.rows) ids.push(id)
        start = page.next
      }
      return ids
    },
  }
}
