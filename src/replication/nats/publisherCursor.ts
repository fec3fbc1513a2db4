import { readFileSync } from 'node:fs'
import { replaceFile } from '../../lib/durableFiles.js'
import { formatData, parseHex } from '../../lib/hex.js'

/** File name of the cursor in a data directory. */
export const PUBLISHER_FILE = 'publisher.json'

/** The publisher's record of what it has published. The stream itself is authoritative; the cursor serves to detect
 *  that a stream lost messages. */
export interface PublisherCursor {
  /** `NAME@created`. */
  readonly stream: string
  /** The last acknowledged sequence. */
  readonly sequence: number
  readonly epoch: number
  /** The head after that message, or before the change set that the message is in. */
  readonly number: number
  readonly hash: Uint8Array // 32
  /** With sparse state: the last addition to it up to there. */
  readonly state?: number
}

/** Reads the cursor; undefined when the file is missing or unreadable: then nothing is known. */
export function readPublisherCursor(path: string): PublisherCursor | undefined {
  try {
    const { stream, sequence, epoch, number, hash, state } = JSON.parse(readFileSync(path, 'utf8')) as Record<
      string,
      unknown
    >
    if (typeof stream !== 'string' || typeof hash !== 'string' || !/^0x[0-9a-f]{64}$/.test(hash)) return undefined
    const numbers = [sequence, epoch, number]
    if (!numbers.every(Number.isSafeInteger)) return undefined
    const [at, of, block] = numbers as number[]
    if (state !== undefined && !Number.isSafeInteger(state)) return undefined
    return { stream, sequence: at, epoch: of, number: block, hash: parseHex(hash), state: state as number | undefined }
  } catch {
    return undefined
  }
}

/** Replaces the file; returns when it is on disk. */
export function writePublisherCursor(path: string, cursor: PublisherCursor): void {
  replaceFile(path, `${JSON.stringify({ ...cursor, hash: formatData(cursor.hash) })}\n`)
}
