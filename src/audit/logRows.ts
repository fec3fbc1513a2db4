import type { Log } from '../chain/eth/types.js'
import { trimLeft } from '../lib/bytes.js'
import { decodeLog, type LogColumns } from '../store/rows/log.js'
import type { RawRow, RawRows } from '../store/rows/rawRows.js'
import { atPlace, DatabaseFault } from './fault.js'
import { compareColumns } from './rowComparison.js'

const TOPIC_COLUMNS = ['topic1', 'topic2', 'topic3'] as const
const DATA_COLUMNS = ['data', 'data_length'] as const
const WORD = 32

/** Log range of a block. */
interface BlockLogs {
  blockNumber: number
  firstLog: number
  logCount: number
  txCount: number
}

/** Reads the logs of a block from their rows and the dictionaries, in order; the receipts root verifies them. Values
 *  must be trimmed as the writer does, since filters compare stored values. @throws DatabaseFault */
export function readLogRows(
  rows: RawRows,
  { blockNumber, firstLog, logCount, txCount }: BlockLogs,
): { txIndex: number; log: Log }[] {
  if (logCount === 0) return []
  let lastTx = 0
  return rows.logs(firstLog, firstLog + logCount).map((row, index) => {
    const place = { table: 'logs', row: `block ${blockNumber}, log ${index}` }
    return atPlace(place, () => {
      const txIndex = row.tx_index as number
      compareColumns(place, row, ['id'], [firstLog + index])
      if (!(Number.isInteger(txIndex) && txIndex >= lastTx && txIndex < txCount)) {
        const expected = `${lastTx} to ${txCount - 1}`
        throw new DatabaseFault(place, { field: 'tx_index', expected, found: row.tx_index })
      }
      lastTx = txIndex
      return { txIndex, log: readLog(row, place) }
    })
  })
}

function readLog(row: RawRow, place: { table: string; row: string }): Log {
  const address = requireEntry(row.address, 20, 'address_id', place)
  const topic0 = row.topic0_id === null ? null : requireEntry(row.topic0, WORD, 'topic0_id', place)
  const log = decodeLog({ ...(row as unknown as LogColumns), address, topic0 })
  const { topics, data } = log
  const later = [1, 2, 3].map((i) => (i < topics.length ? trimLeft(topics[i]) : null))
  compareColumns(place, row, TOPIC_COLUMNS, later)
  compareColumns(place, row, DATA_COLUMNS, [trimLeft(data), data.length === WORD ? null : data.length])
  return log
}

/** Returns the dictionary value of an id. */
function requireEntry(
  value: RawRow[string],
  length: number,
  field: string,
  place: { table: string; row: string },
): Uint8Array {
  if (value instanceof Uint8Array && value.length === length) return value
  const found = value === null ? 'none' : 'another value'
  throw new DatabaseFault(place, { field, expected: `the id of ${length} bytes`, found })
}
