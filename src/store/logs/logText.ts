import type { Deadline } from '../../lib/deadline.js'
import type { Database } from '../database.js'
import { createLogJsonEncoder, type LogJsonEncoder } from './logJson.js'
import { createLogObjectJson } from './logObjectJson.js'
import { createLogRecordReader, MAX_CHECKED_KEYS } from './logRecords.js'
import type { LogRow } from './logRows.js'
import type { IdRange, RowFilter } from './rowFilter.js'

/** The logs of an answer as the JSON text that is sent. */
export interface LogTexts {
  /** How many logs. */
  count: number
  /** Texts of one or more logs each, joined by commas, in order. Joined by commas they are the inside of the array. */
  parts: Buffer[]
}

/** Length in bytes of the JSON array of the logs. */
export function arrayBytesOf({ parts }: LogTexts): number {
  return parts.reduce((sum, part) => sum + part.length, Math.max(0, parts.length - 1) + 2)
}

/** Limits of what one statement reads. */
export interface TextBatch {
  logs: number
  /** Data of the logs, in bytes; a log with more is alone. */
  dataBytes: number
}

// 330 KB of JSON of typical logs, 1 ms between checks of the deadline. With much data 8 MB of hex, or one log of any
// length that fits into a block: far below the 1 GB that SQLite allows a value.
const BATCH: TextBatch = { logs: 500, dataBytes: 4_000_000 }

/** Ascending ids, or all ids of a range. */
export type Candidates = readonly number[] | IdRange

/** Writes the logs of rows or ids as the log objects of the API specification, in order. The deadline is checked before
 *  each statement. */
export interface LogWriter {
  /** The logs of the rows. @throws DeadlineExceeded; Error when a log lacks its block, transaction, address or topic */
  write(rows: readonly LogRow[], options: { deadline: Deadline }): LogTexts
  /** Those of the candidates that the filter wants: their rows are read once, not first for
   *  the filter and again for the text. Undefined when the rows have to be read first, since there are long data among
   *  them or something is missing, or when `canCheck` is false for the filter.
   *  @throws DeadlineExceeded */
  writeWanted(candidates: Candidates, filter: RowFilter, options: { deadline: Deadline }): LogTexts | undefined
}

/** True for filters that SQLite checks: those without long lists. */
export function canCheck({ clauses }: RowFilter): boolean {
  return clauses.every(({ keys }) => keys.length > 0 && keys.length <= MAX_CHECKED_KEYS)
}

/** A writer through statements prepared once for the connection. */
export function createLogWriter(db: Database, batch: TextBatch = BATCH): LogWriter {
  const reader = createLogRecordReader(db)
  const encode = createEncoder(db)
  const stringify = createLogObjectJson(db)
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

/** Without WebAssembly, one that supports no records. */
function createEncoder(db: Database): LogJsonEncoder {
  try {
    return createLogJsonEncoder(db)
  } catch {
    return () => undefined
  }
}

function endOfBatch(rows: readonly LogRow[], from: number, { logs, dataBytes }: TextBatch): number {
  const limit = Math.min(rows.length, from + logs)
  let held = rows[from][1]
  let to = from + 1
  while (to < limit && held + rows[to][1] <= dataBytes) held += rows[to++][1]
  return to
}
