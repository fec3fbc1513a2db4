import { promisify } from 'node:util'
import { constants, deflate, deflateSync, gunzipSync } from 'node:zlib'
import type { L2Block } from '../../chain/starknet/types.js'
import { CairnError, messageOf } from '../../lib/errors.js'
import { parseJsonExact } from '../../lib/json.js'
import { createPause } from '../../lib/pause.js'
import { isGzip, streamFile } from './fileBytes.js'
import { readL2Recording } from './starknetJson.js'

/** A file that cannot be read further: invalid JSON, damaged gzip, or a recording that is not a block. `where` is the
 *  path, with the line number for NDJSON. */
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

const NEWLINE = 0x0a

/** Members of layer-2 blocks that genesis files do not have; one of them is near the start of every recording. */
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

/** A recording may be this long, in bytes of its JSON: the longest known, of a full mainnet block with its state update,
 *  has less than 2 MB. */
const MAX_RECORDING_BYTES = 32 * 1024 * 1024

/** Recordings longer than this are deflated in libuv's threads, so that signals are heard meanwhile. */
const DEFLATE_IN_THREAD_BYTES = 256 * 1024

const deflateInThread = promisify(deflate)

/** The blocks of a file: one JSON recording, or one to a line (NDJSON), gzip or not, whatever its name is. Lines are
 *  read as they come, so that such a file may be of any size. The event loop gets a turn every 50 ms, between recordings
 *  and chunks of one. */
export function openL2File(path: string, options: L2FileOptions = {}): L2Source {
  return { name: path, recordings: () => readRecordings(path, options) }
}

/** How a file is read. */
export interface L2FileOptions {
  /** Longest recording that is taken; `MAX_RECORDING_BYTES` unless told. */
  maxRecordingBytes?: number
  /** Told how many bytes of the file, packed as they are, each part has that is read. */
  onRead?: (count: number) => void
}

async function* readRecordings(path: string, options: L2FileOptions): AsyncGenerator<L2Recording, void, undefined> {
  const reader = createLineReader(path, options)
  const pause = createPause()
  let isFirst = true
  for (let line = await reader.line(); line !== undefined; line = await reader.line()) {
    await pause()
    if (line.trim() === '') continue
    if (isFirst && !isWholeJson(line)) {
      yield await readRecording(await reader.rest(line), path) // one recording over many lines
      return
    }
    isFirst = false
    yield await readRecording(line, `${path}:${reader.lineNumber}`)
  }
  if (isFirst) throw new UnreadableL2File(path, 'is empty')
}

function isWholeJson(line: string): boolean {
  try {
    JSON.parse(line)
    return true
  } catch {
    return false
  }
}

async function readRecording(text: string, where: string): Promise<L2Recording> {
  try {
    const block = readL2Recording(parseJsonExact(text))
    const raw = text.length > DEFLATE_IN_THREAD_BYTES ? await deflateInThread(text) : deflateSync(text)
    return { block, raw, where }
  } catch (error) {
    const problem = error instanceof SyntaxError ? `is no whole JSON: ${error.message}` : messageOf(error)
    throw new UnreadableL2File(where, problem, { cause: error })
  }
}

/** Reads the lines of a file one by one. Every byte is scanned once, however long the line. */
interface LineReader {
  /** Of the line that was given last, from 1. */
  readonly lineNumber: number
  /** The next line without its end; undefined after the last. @throws UnreadableL2File for one of more than the limit. */
  line(): Promise<string | undefined>
  /** `line`, which was given last, with the lines after it. @throws UnreadableL2File for more than the limit. */
  rest(line: string): Promise<string>
}

function createLineReader(path: string, options: L2FileOptions): LineReader {
  const { maxRecordingBytes: maxBytes = MAX_RECORDING_BYTES, onRead } = options
  const chunks = readChunks(path, onRead)
  let chunk: Uint8Array = new Uint8Array(0)
  let lineNumber = 0
  const more = async () => {
    const next = await chunks.next()
    if (!next.done) chunk = next.value
    return !next.done
  }
  const requireRoom = (bytes: number, where: string, what: string) => {
    if (bytes <= maxBytes) return
    throw new UnreadableL2File(
      where,
      `${what} has at least ${bytes} bytes, the limit of a recording is ${maxBytes} bytes (${maxBytes / 2 ** 20} MiB)`,
    )
  }
  const line = async () => {
    lineNumber++
    const where = `${path}:${lineNumber}`
    const parts: Uint8Array[] = []
    let length = 0
    do {
      const end = chunk.indexOf(NEWLINE)
      const part = end < 0 ? chunk : chunk.subarray(0, end)
      length += part.length
      requireRoom(length, where, 'the line')
      if (part.length > 0) parts.push(part)
      chunk = chunk.subarray(part.length + (end < 0 ? 0 : 1))
      if (end >= 0) return decodeUtf8(parts, where)
    } while (await more())
    return length === 0 ? undefined : decodeUtf8(parts, where)
  }
  const rest = async (first: string) => {
    const parts: Uint8Array[] = [new TextEncoder().encode(`${first}\n`)]
    let length = parts[0].length
    do {
      parts.push(chunk)
      length += chunk.length
      requireRoom(length, path, 'the recording over several lines')
    } while (await more())
    return decodeUtf8(parts, path)
  }
  return {
    get lineNumber() {
      return lineNumber
    },
    line,
    rest,
  }
}

function decodeUtf8(parts: readonly Uint8Array[], where: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(parts.length === 1 ? parts[0] : Buffer.concat(parts))
  } catch (error) {
    throw new UnreadableL2File(where, `cannot be read: ${messageOf(error)}`, { cause: error })
  }
}

async function* readChunks(
  path: string,
  onRead?: (count: number) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  const pause = createPause()
  try {
    for await (const chunk of streamFile(path, onRead)) {
      yield chunk
      await pause()
    }
  } catch (error) {
    if (error instanceof CairnError) throw error
    throw new UnreadableL2File(path, `cannot be read: ${messageOf(error)}`, { cause: error })
  }
}
