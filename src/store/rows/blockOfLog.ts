import type { Database } from '../database.js'

/** Location of a log in the chain, independent of the log ids of a database. */
export interface LogPlace {
  readonly blockNumber: number
  /** Index in the block. */
  readonly logIndex: number
}

/** SQL for a column of the block that contains a log: the last block with logs whose first log id is at most
 *  `logId`. */
export const selectBlockOfLog = (logId: string, column = 'number'): string =>
  `SELECT ${column} FROM blocks WHERE n_logs > 0 AND first_log <= ${logId} ORDER BY first_log DESC LIMIT 1`

/** Looks up the block that contains a log. For an id beyond the last log: the last block with logs. Undefined when no
 *  block up to there has logs. */
interface BlockOfLog {
  numberOf(logId: number): number | undefined
  /** 32 bytes. */
  hashOf(logId: number): Buffer | undefined
  placeOf(logId: number): LogPlace | undefined
}

/** Creates look-ups with statements prepared once for the connection. */
export function createBlockOfLog(db: Database): BlockOfLog {
  const selectNumber = db.prepare<[number], number>(selectBlockOfLog('?')).pluck()
  const selectHash = db
    .prepare<[number], Buffer>(`SELECT hash FROM blocks WHERE number = (${selectBlockOfLog('?')})`)
    .pluck()
  const selectPlace = db.prepare<[number, number], LogPlace>(
    `SELECT number AS blockNumber, ? - first_log AS logIndex FROM blocks WHERE number = (${selectBlockOfLog('?')})`,
  )
  return {
    numberOf: (logId) => selectNumber.get(logId),
    hashOf: (logId) => selectHash.get(logId),
    placeOf: (logId) => selectPlace.get(logId, logId),
  }
}
