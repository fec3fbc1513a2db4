import type { Log } from '../chain/eth/types.js'
import { leadingZeros } from '../lib/bytes.js'
import { createDictionary } from './dictionary.js'
import type { Database } from './open.js'

/** Inserts of log rows. */
export interface LogInserts {
  insert(id: number, txIndex: number, log: Log): void
  /** To be called after a rollback. */
  forget(): void
}

const WORD = 32

/** Inserts through one statement. Values without their leading zeros are bound from a fixed buffer with a view for each
 *  length, since making views is what such an insert would spend most of its time on. */
export function createLogInserts(db: Database): LogInserts {
  const statement = db.prepare(
    `INSERT INTO logs (id, tx_index, address_id, topic0_id, topic1, topic2, topic3, data, data_length)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const newDictionaries = () => ({
    addresses: createDictionary(db, 'addresses'),
    topics: createDictionary(db, 'topics'),
  })
  let dictionaries = newDictionaries()
  const [trimTopic1, trimTopic2, trimTopic3, trimData] = Array.from({ length: 4 }, createTrimmer)
  return {
    insert: (id, txIndex, { address, topics, data }) => {
      statement.run(
        id,
        txIndex,
        dictionaries.addresses.idOf(address),
        topics.length > 0 ? dictionaries.topics.idOf(topics[0]) : null,
        topics.length > 1 ? trimTopic1(topics[1]) : null,
        topics.length > 2 ? trimTopic2(topics[2]) : null,
        topics.length > 3 ? trimTopic3(topics[3]) : null,
        trimData(data),
        data.length === WORD ? null : data.length,
      )
    },
    forget: () => {
      dictionaries = newDictionaries()
    },
  }
}

/** A function from bytes to the same without leading zeros. What it gives is overwritten by its next call. */
function createTrimmer(): (bytes: Uint8Array) => Uint8Array {
  const word = new Uint8Array(WORD)
  const views = Array.from({ length: WORD + 1 }, (_, length) => Buffer.from(word.buffer, 0, length))
  return (bytes) => {
    const zeros = leadingZeros(bytes)
    const length = bytes.length - zeros
    if (length > WORD) return zeros === 0 ? bytes : bytes.subarray(zeros)
    for (let i = 0; i < length; i++) word[i] = bytes[zeros + i]
    return views[length]
  }
}
