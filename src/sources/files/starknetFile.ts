import { promisify } from 'node:util'
import { constants, deflate, deflateSync, gunzipSync } from 'node:zlib'
import { readL2Recording } from '../../chain/starknet/recording/recording.js'
import type { L2Block } from '../../chain/starknet/types.js'
import { CairnError, messageOf } from '../../lib/errors.js'
import { parseJsonExact } from '../../lib/json.js'
import { createPause } from '../../lib/pause.js'
import { isGzip, streamFile } from './fileBytes.js'

/** A file that cannot be read further: invalid JSON, damaged gzip, or a recording that is not a block. `where` is the
 *  path, with the line number for NDJSON. */
export class UnreadableL2File extends CairnError {
  readonly where: string
  constructor(where: string, problem: string, options?: ErrorOptions) {
    super(`${where}: ${problem}`, options)
    this.where = where
  }
}

/** A block and the recording it was read from. */
export interface L2Recording {
  block: L2Block
  /** JSON of the recording, deflated (RFC 1950). */
  raw: Uint8Array
  /** Path of the file; `path:line` when the recording is a single line. */
  where: string
}

/** A source of layer-2 blocks. */
export interface L2Source {
  readonly name: string
  /** Yields the recordings in file order.
   *  @throws UnreadableL2File at the first recording that cannot be read. */
  recordings(): AsyncGenerator<L2Recording, void, undefined>
}

const NEWLINE = 0x0a

/** Members of layer-2 blocks that genesis files do not have; one of them is near the start of every recording. */
const TELLING_MEMBERS =
  /"(block_hash|parent_block_hash|parent_hash|block_number|state_update|state_diff|state_root|new_root|transaction_hash|transaction_receipts|sequencer_address|starknet_version|l1_gas_price)"\s*:/

/** True when a file that starts with these bytes, gzip or not, contains layer-2 blocks: a JSON object with their
 *  members. Pass the whole file or its first 64 KiB: in a feeder block, transactions may precede the other members. */
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

/** Limit of one recording, in bytes of JSON. The largest known one, a full mainnet block with its state update, is
 *  below 2 MB. */
const MAX_RECORDING_BYTES = 32 * 1024 * 1024

/** Longer recordings, in characters, are deflated on a libuv thread, so that the event loop keeps handling signals. */
const DEFLATE_IN_THREAD_BYTES = 256 * 1024

const deflateInThread = promisify(deflate)

/** Opens the blocks of a file: one JSON recording, or one per line (NDJSON), gzip or not, detected from the content.
 *  Lines are streamed, so an NDJSON file may have any size. Yields to the event loop every 50 ms, between recordings
 *  and between chunks. */
export function openL2File(path: string, options: L2FileOptions = {}): L2Source {
  return { name: path, recordings: () => readRecordings(path, options) }
}

/** Options of `openL2File`. */
export interface L2FileOptions {
  /** Size limit of a recording; `MAX_RECORDING_BYTES` by default. */
  maxRecordingBytes?: number
  /** Called with the number of bytes of each read from the file, compressed or not. */
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
      yield await readRecording(await reader.rest(line), path) // a single recording that spans lines
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

/** Reads a file line by line. Scans every byte once, however long the line. */
interface LineReader {
  /** Number of the last line returned, from 1. */
  readonly lineNumber: number
  /** Returns the next line without its newline; undefined at the end of the file.
   *  @throws UnreadableL2File when the line exceeds the limit. */
  line(): Promise<string | undefined>
  /** Returns `line`, the last line returned, and all lines after it.
   *  @throws UnreadableL2File when they exceed the limit. */
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
