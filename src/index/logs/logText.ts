import type { Deadline } from '../../lib/deadline.js'
import type { Database } from '../../store/database.js'
import { createStoredLogs } from '../../store/rows/log.js'
import { createLogRecordReader, MAX_CHECKED_KEYS } from '../../store/rows/logRecords.js'
import type { LogRow } from '../../store/rows/logRows.js'
import type { IdRange, RowFilter } from '../../store/rows/rowFilter.js'
import { createLogJsonEncoder, formatLog, type LogJsonEncoder } from './logJson.js'

/** Logs as JSON text for the response. */
export interface LogTexts {
  /** Number of logs. */
  count: number
  /** Texts of one or more comma-separated logs each, in order. Joined by commas they are the elements of the JSON
   *  array. */
  parts: Buffer[]
}

/** Length of the JSON array in bytes. */
export function arrayBytesOf({ parts }: LogTexts): number {
  return parts.reduce((sum, part) => sum + part.length, Math.max(0, parts.length - 1) + 2)
}

/** Limits of one read statement. */
interface TextBatch {
  logs: number
  /** Total data of the logs in bytes; a larger log is read alone. */
  dataBytes: number
}

// 330 KB of JSON for typical logs, 1 ms between deadline checks. With large data 8 MB of hex, or one log of any length
// that fits into a block: far below SQLite's limit of 1 GB per value.
const BATCH: TextBatch = { logs: 500, dataBytes: 4_000_000 }

/** Ascending ids, or all ids of a range. */
export type Candidates = readonly number[] | IdRange

/** Writes logs as the log objects of the API specification, in order. Checks the deadline before each statement. */
interface LogWriter {
  /** Logs of the rows. @throws DeadlineExceeded; Error when the block, transaction, address or topic of a log is
   *  missing */
  write(rows: readonly LogRow[], options: { deadline: Deadline }): LogTexts
  /** The candidates that match the filter. Each row is read once, for both the filter and the text. Undefined when rows
   *  must be read first: long data, missing references, or `canCheck` is false for the filter.
   *  @throws DeadlineExceeded */
  writeWanted(candidates: Candidates, filter: RowFilter, options: { deadline: Deadline }): LogTexts | undefined
}

/** True for filters that SQLite evaluates: those without long lists. */
export function canCheck({ clauses }: RowFilter): boolean {
  return clauses.every(({ keys }) => keys.length > 0 && keys.length <= MAX_CHECKED_KEYS)
}

/** Creates a writer with statements prepared once for the connection. */
export function createLogWriter(db: Database, batch: TextBatch = BATCH): LogWriter {
  const reader = createLogRecordReader(db)
  const encode = createEncoder(db)
  const readLogs = createStoredLogs(db)
  /** Ten times as slow as records, for logs that these do not support. */
  const stringify = (ids: readonly number[]) => {
    const objects = readLogs(ids).map(({ log, position }) => formatLog(log, position))
    return Buffer.from(JSON.stringify(objects).slice(1, -1), 'latin1')
  }
  const write: LogWriter['write'] = (rows, { deadline }) => {
    const parts: Buffer[] = []
    for (let from = 0; from < rows.length; ) {
      deadline.check()
      const to = endOfBatch(rows, from, batch)
      const ids: number[] = []
      for (let i = from; i < to; i++) ids.push(rows[i][0])
      const json = encode(reader.byIds(ids))
      parts.push(json?.count === ids.length ? json.bytes : stringify(ids))
      from = to
    }
    return { count: rows.length, parts }
  }
  const readWanted = (candidates: Candidates, from: number, filter: RowFilter) => {
    const to = from + batch.logs
    if (!('from' in candidates)) return reader.ofCandidates(candidates.slice(from, to), filter)
    const { from: first, to: end } = candidates
    return reader.ofRange({ from: first + from, to: Math.min(first + to, end) }, filter)
  }
  const writeWanted: LogWriter['writeWanted'] = (candidates, filter, { deadline }) => {
    if (!canCheck(filter)) return undefined
    const texts: LogTexts = { count: 0, parts: [] }
    const length = 'from' in candidates ? candidates.to - candidates.from : candidates.length
    for (let from = 0; from < length; from += batch.logs) {
      deadline.check()
      const records = readWanted(candidates, from, filter)
      const json = records && encode(records)
      if (json === undefined) return undefined
      texts.count += json.count
      if (json.count > 0) texts.parts.push(json.bytes)
    }
    return texts
  }
  return { write, writeWanted }
}

/** Creates the encoder; without WebAssembly, one that supports no records. */
function createEncoder(db: Database): LogJsonEncoder {
  try {
    return createLogJsonEncoder(db)
  } catch {
    return () => undefined
  }
}

function endOfBatch(rows: readonly LogRow[], from: number, { logs, dataBytes }: TextBatch): number {
  const limit = Math.min(rows.length, from + logs)
  let bytes = rows[from][1]
  let to = from + 1
  while (to < limit && bytes + rows[to][1] <= dataBytes) bytes += rows[to++][1]
  return to
}
