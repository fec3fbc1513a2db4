import type { Deadline } from '../../lib/deadline.js'
import type { Database } from '../../store/database.js'
import { createStoredLogs } from '../../store/rows/log.js'
import { createLogRecordReader, MAX_CHECKED_KEYS } from '../../store/rows/logRecords.js'
import type { LogRow } from '../../store/rows/logRows.js'
import type { IdRange, RowFilter } from '../../store/rows/rowFilter.js'
import { createLogJsonEncoder, formatLog, type LogJsonEncoder } from './logJson.js'
import { TextBuffer } from './textBuffer.js'

/** Logs as JSON text for the response. */
export interface LogTexts {
  /** Number of logs. */
  count: number
  /** Their texts in order, joined by commas: the elements of the JSON array. The ArrayBuffer is its own, and has
   *  `BRACKET_BYTES` of room before it and at least as many after it. */
  text: Buffer
}

/** The texts of no logs. */
export function noLogs(): LogTexts {
  return { count: 0, text: new TextBuffer(0).end() }
}

/** Length of the JSON array in bytes. */
export function arrayBytesOf({ text }: LogTexts): number {
  return text.length + 2
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

/** Milliseconds per candidate with its rows in memory: 10,000 take 17 to 27 by id, and 7 in a range. */
const CANDIDATE_MS = { byId: 0.0015, inRange: 0.0006 }

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
    const text = new TextBuffer(rows.length)
    for (let from = 0; from < rows.length; ) {
      deadline.check()
      const to = endOfBatch(rows, from, batch)
      const ids: number[] = []
      for (let i = from; i < to; i++) ids.push(rows[i][0])
      const json = encode(reader.byIds(ids))
      text.add(json?.count === ids.length ? json.bytes : stringify(ids), to)
      from = to
    }
    return { count: rows.length, text: text.end() }
  }
  const readWanted = (candidates: Candidates, from: number, filter: RowFilter) => {
    const to = from + batch.logs
    if (!('from' in candidates)) return reader.ofCandidates(candidates.slice(from, to), filter)
    const { from: first, to: end } = candidates
    return reader.ofRange({ from: first + from, to: Math.min(first + to, end) }, filter)
  }
  const writeWanted: LogWriter['writeWanted'] = (candidates, filter, { deadline }) => {
    if (!canCheck(filter)) return undefined
    const isRange = 'from' in candidates
    const length = isRange ? candidates.to - candidates.from : candidates.length
    deadline.checkAhead?.(length * (isRange ? CANDIDATE_MS.inRange : CANDIDATE_MS.byId))
    const text = new TextBuffer(length)
    let count = 0
    for (let from = 0; from < length; from += batch.logs) {
      deadline.check()
      const records = readWanted(candidates, from, filter)
      const json = records && encode(records)
      if (json === undefined) return undefined
      count += json.count
      text.add(json.bytes, Math.min(from + batch.logs, length))
    }
    return { count, text: text.end() }
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
