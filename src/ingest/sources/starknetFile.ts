import { createReadStream } from 'node:fs'
import { constants, createGunzip, deflateSync, gunzipSync } from 'node:zlib'
import type { L2Block } from '../../chain/starknet/types.js'
import { CairnError, messageOf } from '../../lib/errors.js'
import { parseJsonExact } from '../../lib/json.js'
import { readL2Recording } from './starknetJson.js'

/** A file that cannot be read on: no JSON, damaged gzip, or a recording that is no block. `where` is the path, with the
 *  line in a file of lines. */
export class UnreadableL2File extends CairnError {
  readonly where: string
  constructor(where: string, problem: string, options?: ErrorOptions) {
    super(`${where}: ${problem}`, options)
    this.where = where
  }
}

/** A block as it was recorded. */
export interface L2Recording {
  block: L2Block
  /** The recording's JSON, deflated (RFC 1950). */
  raw: Uint8Array
  /** The path, with the line in a file of lines. */
  where: string
}

/** Where layer-2 blocks come from. */
export interface L2Source {
  readonly name: string
  /** The recordings in their order. @throws UnreadableL2File where there is no way on. */
  recordings(): AsyncGenerator<L2Recording, void, undefined>
}

/** Bytes of a file's beginning that `recogniseL2` needs to be sure: a feeder block may start with its transactions. */
export const L2_RECOGNITION_BYTES = 65_536

const GZIP_MAGIC = [0x1f, 0x8b]

/** Members that a layer-2 block has and no genesis file; one of them stands near the beginning of every recording. */
const TELLING_MEMBERS =
  /"(block_hash|parent_block_hash|parent_hash|block_number|state_update|state_diff|state_root|new_root|transaction_hash|transaction_receipts|sequencer_address|starknet_version|l1_gas_price)"\s*:/

/** True when a file that begins with these bytes, gzip or not, holds layer-2 blocks: a JSON object with their members.
 *  Give it the whole file or its first `L2_RECOGNITION_BYTES`. */
export function recogniseL2(head: Uint8Array): boolean {
  let bytes = head
  if (isGzip(head)) {
    try {
      bytes = gunzipSync(head, { finishFlush: constants.Z_SYNC_FLUSH })
    } catch {
      return false
    }
  }
  const text = new TextDecoder().decode(bytes)
  return /^\uFEFF?\s*\{/.test(text) && TELLING_MEMBERS.test(text)
}

function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === GZIP_MAGIC[0] && bytes[1] === GZIP_MAGIC[1]
}

/** The blocks of a file: one JSON recording, or one to a line (NDJSON), gzip or not, whatever its name is. Lines are
 *  read as they come, so that such a file may be of any size. */
export function openL2File(path: string): L2Source {
  return { name: path, recordings: () => readRecordings(path) }
}

async function* readRecordings(path: string): AsyncGenerator<L2Recording, void, undefined> {
  let lineNumber = 0
  let document: string[] | undefined
  let isFirst = true
  for await (const line of readLines(path)) {
    lineNumber++
    if (document !== undefined) {
      document.push(line)
      continue
    }
    if (line.trim() === '') continue
    if (isFirst && !isWholeJson(line)) {
      document = [line] // one recording over many lines
      continue
    }
    isFirst = false
    yield readRecording(line, `${path}:${lineNumber}`)
  }
  if (document !== undefined) yield readRecording(document.join('\n'), path)
  else if (isFirst) throw new UnreadableL2File(path, 'is empty')
}

function isWholeJson(line: string): boolean {
  try {
    JSON.parse(line)
    return true
  } catch {
    return false
  }
}

function readRecording(text: string, where: string): L2Recording {
  try {
    const block = readL2Recording(parseJsonExact(text))
    return { block, raw: deflateSync(text), where }
  } catch (error) {
    const problem = error instanceof SyntaxError ? `is no whole JSON: ${error.message}` : messageOf(error)
    throw new UnreadableL2File(where, problem, { cause: error })
  }
}

async function* readLines(path: string): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let rest = ''
  try {
    for await (const chunk of readBytes(path)) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
      rest = lines.pop()!
      yield* lines
    }
    rest += decoder.decode()
  } catch (error) {
    throw new UnreadableL2File(path, `cannot be read: ${messageOf(error)}`, { cause: error })
  }
  if (rest !== '') yield rest
}

async function* readBytes(path: string): AsyncGenerator<Uint8Array, void, undefined> {
  const file = createReadStream(path)
  const gunzip = (await startsAsGzip(path)) ? createGunzip() : undefined
  if (gunzip === undefined) {
    yield* file as AsyncIterable<Uint8Array>
    return
  }
  file.on('error', (error) => gunzip.destroy(error))
  try {
    yield* file.pipe(gunzip) as AsyncIterable<Uint8Array>
  } finally {
    file.destroy()
  }
}

async function startsAsGzip(path: string): Promise<boolean> {
  for await (const chunk of createReadStream(path, { end: 1 })) return isGzip(chunk as Uint8Array)
  return false
}
