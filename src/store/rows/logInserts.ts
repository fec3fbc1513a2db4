import type { Log } from '../../chain/eth/types.js'
import { leadingZeros } from '../../lib/bytes.js'
import { createBoundBytes } from '../boundBytes.js'
import type { Database } from '../database.js'
import { dictionaryOf } from '../dictionary.js'
import { createRowBatch, ROWS_AT_ONCE } from '../rowBatch.js'

/** Inserts of log rows. */
export interface LogInserts {
  /** Adds a log. Its row is written at the latest by `flush`. */
  insert(id: number, txIndex: number, log: Log): void
  flush(): void
  /** Discards unflushed rows. Call it after a rollback. */
  forget(): void
}

const WORD = 32
const COLUMNS = ['id', 'tx_index', 'address_id', 'topic0_id', 'topic1', 'topic2', 'topic3', 'data', 'data_length']

/** Creates inserts of several rows per statement. Trimmed values are bound from fixed buffers. */
export function createLogInserts(db: Database): LogInserts {
  const batch = createRowBatch(db, 'logs', COLUMNS)
  const [addresses, topicIds] = [dictionaryOf(db, 'addresses'), dictionaryOf(db, 'topics')]
  const trimmers = Array.from({ length: ROWS_AT_ONCE }, () => [0, 1, 2, 3].map(createTrimmer))
  return {
    insert: (id, txIndex, { address, topics, data }) => {
      const trim = trimmers[batch.row]
      const addressId = addresses.idOf(address)
      const topic0Id = topics.length > 0 ? topicIds.idOf(topics[0]) : null
      const topic = (i: number) => (topics.length > i ? trim[i](topics[i]) : null)
      const dataLength = data.length === WORD ? null : data.length
      batch.add(id, txIndex, addressId, topic0Id, topic(1), topic(2), topic(3), trim[0](data), dataLength)
    },
    flush: batch.flush,
    forget: () => {
      batch.clear()
      addresses.forget()
      topicIds.forget()
    },
  }
}

/** Returns a function that strips leading zeros. Its result is overwritten by the next call. */
function createTrimmer(): (bytes: Uint8Array) => Uint8Array {
  const bound = createBoundBytes(WORD)
  return (bytes) => {
    const zeros = leadingZeros(bytes)
    if (bytes.length - zeros <= WORD) return bound(bytes, zeros, bytes.length)
    return zeros === 0 ? bytes : bytes.subarray(zeros)
  }
}
