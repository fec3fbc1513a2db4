import { trimLeft } from '../../lib/bytes.js'
import type { Deadline } from '../../lib/deadline.js'
import type { Database } from '../../store/database.js'
import { createIdLookup } from '../../store/dictionary.js'
import type { Clause, RowFilter } from '../../store/rows/rowFilter.js'
import type { LogFilter } from './filter.js'

/** Returns a function that translates the addresses and topics of a normalized filter to row values; values that were
 *  never logged are dropped from their clause. It throws DeadlineExceeded. */
export function createFilterTranslator(
  db: Database,
): (filter: Pick<LogFilter, 'addresses' | 'topics'>, options: { deadline: Deadline }) => RowFilter {
  const lookUpAddress = createIdLookup(db, 'addresses')
  const lookUpTopic = createIdLookup(db, 'topics')
  return ({ addresses, topics }, { deadline }) => {
    const lookUp = (column: 'address_id' | 'topic0_id', values: Uint8Array[]): Clause => {
      deadline.check()
      const idOf = column === 'address_id' ? lookUpAddress : lookUpTopic
      const known = values.map((value) => ({ value, id: idOf(value) })).filter(({ id }) => id !== undefined)
      return { column, keys: known.map(({ id }) => id!), values: known.map(({ value }) => value) }
    }
    const clauses: Clause[] = []
    if (addresses) clauses.push(lookUp('address_id', addresses))
    for (const [position, values] of topics.entries()) {
      if (values === null) continue
      if (position === 0) clauses.push(lookUp('topic0_id', values))
      else clauses.push({ column: TRIMMED_TOPICS[position - 1], keys: values.map(trimLeft), values })
    }
    return { clauses, minTopics: topics.length }
  }
}

const TRIMMED_TOPICS = ['topic1', 'topic2', 'topic3'] as const
