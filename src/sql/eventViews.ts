import { createDecoder, type Decoder, type KnownEvent } from '../decoding/decoder.js'
import { type DecodedValue, lowerAddresses } from '../decoding/readValues.js'
import { readAddedAbis } from '../store/addedAbis.js'
import type { Database } from '../store/database.js'
import type { EventView } from '../store/sql/queryDatabase.js'

/** Views of added ABIs. Each connection creates them, and the time grows with the square of their number: 210 s were
 *  measured for 39,000. */
const MAX_ADDED_VIEWS = 1000

/** Returns a view for each event of the added ABIs, the first 1,000 of them, then of those built in. */
export function readEventViews(db: Database): EventView[] {
  const decoder = createDecoder(readAddedAbis(db).list())
  const added = decoder.events.filter(({ isBuiltIn }) => !isBuiltIn).slice(0, MAX_ADDED_VIEWS)
  const builtIn = decoder.events.filter(({ isBuiltIn }) => isBuiltIn)
  return [...added, ...builtIn].map((event) => viewOf(event, decoder))
}

function viewOf(event: KnownEvent, decoder: Decoder): EventView {
  const { id, topic0, topicCount, address, columns } = event
  return {
    name: `v_event_${id}`,
    columns: columns.map(({ name }) => name),
    topic0,
    topicCount,
    address,
    decode(log) {
      if (topic0 !== undefined) return cellsOf(event, event.decode(log.topics, log.data))
      // Any log of matching length would decode as an anonymous event, so only logs that match no other event count.
      const decoded = decoder.decodeLog(log)
      return decoded?.event === event ? cellsOf(event, decoded.values) : null
    },
  }
}

function cellsOf(event: KnownEvent, values: readonly DecodedValue[] | null): (string | number)[] | null {
  return values?.map((value, i) => cellOf(lowerAddresses(event.event.inputs[i].type, value))) ?? null
}

function cellOf(value: DecodedValue): string | number {
  if (typeof value === 'string') return value
  return typeof value === 'boolean' ? Number(value) : JSON.stringify(value)
}
