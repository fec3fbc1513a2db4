import { trimLeft } from '../../lib/bytes.js'
import type { Deadline } from '../../lib/deadline.js'
import { formatData } from '../../lib/hex.js'
import type { Database } from '../../store/database.js'
import { createSegmentStore } from '../../store/index/segmentStore.js'
import type { ClauseColumn } from '../../store/rows/rowFilter.js'
import { readIndexSettings } from '../segments/indexSettings.js'
import { createKeyHasher } from '../segments/keyHash.js'
import { countItems } from '../segments/keyLookup.js'
import type { LogFilter } from './filter.js'
import { LOG_SEARCH_INDEX } from './logSearchIndex.js'

/** Counts of a clause's values in some segments. */
export interface ValueCounts {
  name: ClauseColumn
  /** Values that occur in no segment. */
  absent: number
  /** The most frequent values, in descending order; values without logs are omitted. */
  top: { value: string; logs: number }[]
}

const COLUMNS = ['address_id', 'topic0_id', 'topic1', 'topic2', 'topic3'] as const satisfies ClauseColumn[]
// Number of values listed per clause.
const TOP = 5

/** Counts the logs of each value of a filter in the segments with these ids, from the index alone: no posting is read,
 *  and two values with the same hash count as one. @throws DeadlineExceeded */
export function countValues(
  db: Database,
  filter: LogFilter,
  { segments, deadline }: { segments: ReadonlySet<number>; deadline: Deadline },
): ValueCounts[] {
  const settings = readIndexSettings(db)
  if (!settings) return []
  const store = createSegmentStore(db, LOG_SEARCH_INDEX.tables)
  const hasher = createKeyHasher(settings.secret)
  const live = store.segments('live').filter(({ id }) => segments.has(id))
  return [filter.addresses, ...filter.topics].flatMap((values, position) => {
    if (!values?.length) return []
    const counts = values.map((value) => {
      deadline.check()
      hasher.hashBytes(position, position === 0 ? value : trimLeft(value))
      const key = { high: hasher.high, low: hasher.low }
      return { value, logs: live.reduce((sum, segment) => sum + countItems(store, segment, key), 0) }
    })
    const present = counts.filter(({ logs }) => logs > 0).sort((a, b) => b.logs - a.logs)
    const top = present.slice(0, TOP).map(({ value, logs }) => ({ value: formatData(value), logs }))
    return [{ name: COLUMNS[position], absent: counts.length - present.length, top }]
  })
}
