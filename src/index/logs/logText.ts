import { equalBytes } from '../../lib/bytes.js'
import type { Deadline } from '../../lib/deadline.js'
import type { Database } from '../../store/database.js'
import { createBlockOfLog } from '../../store/rows/blockOfLog.js'
import { createStoredLogs } from '../../store/rows/log.js'
import { createLogRecordReader, type LogRecordSource, MAX_CHECKED_KEYS } from '../../store/rows/logRecords.js'
import type { LogRow } from '../../store/rows/logRows.js'
import type { IdRange, RowFilter } from '../../store/rows/rowFilter.js'
import { createLogJsonEncoder, formatLog, type LogJson, type LogJsonEncoder } from './logJson.js'
import { type AskForHelp, createTexts, helpWith, SharedBatches, type SharedWork, shareWork } from './sharedBatches.js'
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

/** Batches from which another thread is asked for help: 8 ms of work. */
const SHARED_BATCHES = 4

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
  writeWanted(candidates: Candidates, filter: RowFilter, options: WriteOptions): LogTexts | undefined
  /** Writes batches of another thread's `writeWanted` until none is left. Does nothing when the snapshot lacks its
   *  blocks. @throws DeadlineExceeded */
  help(work: SharedWork, options: { deadline: Deadline }): void
}

type BatchedWork = Pick<SharedWork, 'filter' | 'batchLogs'> & { candidates: Candidates | SharedWork['candidates'] }

interface WriteOptions {
  deadline: Deadline
  /** How to ask another thread for help with many candidates, if it may. */
  askForHelp?: AskForHelp
}

/** True for filters that SQLite evaluates: those without long lists. */
export function canCheck({ clauses }: RowFilter): boolean {
  return clauses.every(({ keys }) => keys.length > 0 && keys.length <= MAX_CHECKED_KEYS)
}

/** Creates a writer with statements prepared once for the connection. `pages` is of the same connection. */
export function createLogWriter(db: Database, batch: TextBatch = BATCH, pages?: LogRecordSource): LogWriter {
  const reader = createLogRecordReader(db, pages)
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
  const blockOfLog = createBlockOfLog(db)
  /** For texts of helpers; undefined while one may still write. */
  let texts: SharedArrayBuffer | undefined
  /** The n-th batch; undefined if a log of it is not supported. */
  const writeBatch = ({ candidates, filter, batchLogs }: BatchedWork, n: number): LogJson | undefined => {
    const from = n * batchLogs
    const to = from + batchLogs
    const records =
      'from' in candidates
        ? reader.ofRange({ from: candidates.from + from, to: Math.min(candidates.from + to, candidates.to) }, filter)
        : reader.ofCandidates(Array.from(candidates.slice(from, to)), filter)
    return records && encode(records)
  }
  const share = (work: BatchedWork & { candidates: Candidates }, lastId: number, askForHelp: AskForHelp) => {
    const lastBlock = blockOfLog.hashOf(lastId)
    texts ??= createTexts()
    const shared = lastBlock && shareWork(work.candidates, { ...work, lastId, lastBlock, texts })
    if (shared === undefined) return undefined
    askForHelp(shared)
    return new SharedBatches(shared)
  }
  const writeWanted: LogWriter['writeWanted'] = (candidates, filter, { deadline, askForHelp }) => {
    if (!canCheck(filter)) return undefined
    const isRange = 'from' in candidates
    const length = isRange ? candidates.to - candidates.from : candidates.length
    deadline.checkAhead?.(length * (isRange ? CANDIDATE_MS.inRange : CANDIDATE_MS.byId))
    const work = { candidates, filter, batchLogs: batch.logs }
    const batches = Math.ceil(length / batch.logs)
    const lastId = isRange ? candidates.to - 1 : candidates[length - 1]
    const shared = askForHelp && batches >= SHARED_BATCHES ? share(work, lastId, askForHelp) : undefined
    const text = new TextBuffer(length)
    let count = 0
    const add = (n: number, json: LogJson | undefined): boolean => {
      if (json === undefined) return false
      count += json.count
      text.add(json.bytes, Math.min((n + 1) * batch.logs, length))
      return true
    }
    try {
      let n = 0
      for (; n < batches && (shared === undefined || shared.takeFirst() !== undefined); n++) {
        deadline.check()
        if (!add(n, writeBatch(work, n))) return undefined
      }
      for (; n < batches; n++) if (!add(n, shared!.receive(n, deadline) ?? writeBatch(work, n))) return undefined
    } finally {
      if (shared?.close() === false) texts = undefined
    }
    return { count, text: text.end() }
  }
  const help: LogWriter['help'] = (work, { deadline }) => {
    const hash = blockOfLog.hashOf(work.lastId)
    if (hash === undefined || !equalBytes(hash, work.lastBlock)) return
    helpWith(work, deadline, (n) => writeBatch(work, n))
  }
  return { write, writeWanted, help }
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
