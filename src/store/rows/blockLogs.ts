import { joinBytes } from '../../lib/bytes.js'
import { noDeadline } from '../../lib/deadline.js'
import type { Database } from '../database.js'
import { createLogObjectJson } from './logObjectJson.js'
import { createLogWriter } from './logText.js'

/** A log as its JSON text, with the fields that filters compare as lower-case hex digits without `0x`. */
export interface LogText {
  readonly json: Buffer
  readonly address: string // 40
  readonly topics: readonly string[] // 64 each
}

/** Returns the logs with ids [firstLog, firstLog + logCount) as JSON, joined by commas.
 *  @throws Error when the block, transaction, address or topic of a log is missing */
export type BlockLogs = (block: { firstLog: number; logCount: number }) => Buffer

/** Creates a reader with statements prepared once for the connection. */
export function createBlockLogs(db: Database): BlockLogs {
  const writer = createLogWriter(db)
  const stringify = createLogObjectJson(db)
  return ({ firstLog, logCount }) => {
    if (logCount === 0) return Buffer.alloc(0)
    const range = { from: firstLog, to: firstLog + logCount }
    const texts = writer.writeWanted(range, { clauses: [], minTopics: 0 }, { deadline: noDeadline })
    if (texts?.count !== logCount) return stringify(Array.from({ length: logCount }, (_, i) => firstLog + i))
    return joinBytes(texts.parts, COMMA)
  }
}

/** Limits of one read of a block's logs: 0.2 MB of JSON for typical ones, 0.3 MB more with long data. */
export const LOG_PART = { logs: 250, dataBytes: 131_072 }

/** Returns how many of the logs with ids [firstLog, firstLog + logCount) are one part: up to the bounds of `LOG_PART`,
 *  at least one. */
export type PartOfLogs = (block: { firstLog: number; logCount: number }) => number

/** Divides logs into parts, with a statement prepared once for the connection. */
export function createPartOfLogs(db: Database): PartOfLogs {
  const selectLengths = db
    .prepare<[number, number], number>(
      'SELECT coalesce(data_length, 32) FROM logs WHERE id >= ? AND id < ? ORDER BY id',
    )
    .pluck()
  return ({ firstLog, logCount }) => {
    const most = Math.min(logCount, LOG_PART.logs)
    let left = LOG_PART.dataBytes
    for (const [i, length] of selectLengths.all(firstLog, firstLog + most).entries()) {
      left -= length
      if (left < 0) return Math.max(i, 1)
    }
    return most
  }
}

const COMMA = Buffer.from(',')
const CLOSE = '}'.charCodeAt(0)
const QUOTE = '"'.charCodeAt(0)

// Offsets of the values in a log object: {"address":"0x…","topics":["0x…","0x…"],… Only hex and member names are in
// quotes, so that the one closing brace ends the log.
const ADDRESS_AT = '{"address":"0x'.length
const TOPICS_AT = ADDRESS_AT + 40 + '","topics":['.length
const TOPIC_LENGTH = '"0x'.length + 64 + '",'.length

/** Yields the logs of a JSON text of `BlockLogs` one by one. With `removed`, each is marked as removed.
 *  @throws Error for any other text */
export function* splitLogs(text: Buffer, { removed }: { removed: boolean }): Generator<LogText> {
  for (let from = 0; from < text.length; ) {
    const to = text.indexOf(CLOSE, from) + 1
    if (to === 0) throw new Error('the logs of a removed block are damaged')
    yield describeLog(removed ? markRemoved(text.subarray(from, to)) : text.subarray(from, to))
    from = to + 1
  }
}

const NOT_REMOVED = 'false}'
const REMOVED = Buffer.from('true}')

function markRemoved(json: Buffer): Buffer {
  return Buffer.concat([json.subarray(0, json.length - NOT_REMOVED.length), REMOVED])
}

function describeLog(json: Buffer): LogText {
  const topics: string[] = []
  for (let at = TOPICS_AT; json[at] === QUOTE; at += TOPIC_LENGTH) topics.push(json.toString('latin1', at + 3, at + 67))
  return { json, address: json.toString('latin1', ADDRESS_AT, ADDRESS_AT + 40), topics }
}
