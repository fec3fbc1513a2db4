import { readFileSync } from 'node:fs'
import { replaceFile } from '../../lib/durableFiles.js'
import { formatData, parseHex } from '../../lib/hex.js'

/** The file of the cursor in a data directory. */
export const PUBLISHER_FILE = 'publisher.json'

/** What a publisher remembers to have published. The stream itself is the truth; this serves to see that a stream lost messages. */
export interface PublisherCursor {
  /** `NAME@created`. */
  readonly stream: string
  /** The last one that was acknowledged. */
  readonly sequence: number
  readonly epoch: number
  /** The head after it, or the one before the unit that it is within. */
  readonly number: number
  readonly hash: Uint8Array // 32
}

/** The cursor of a file; undefined when there is none, or it cannot be read: then nothing is known. */
export function readPublisherCursor(path: string): PublisherCursor | undefined {
  try {
    const { stream, sequence, epoch, number, hash } = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>
    if (typeof stream !== 'string' || typeof hash !== 'string' || !/^0x[0-9a-f]{64}$/.test(hash)) return undefined
    const numbers = [sequence, epoch, number]
    if (!numbers.every(Number.isSafeInteger)) return undefined
    const [at, of, block] = numbers as number[]
    return { stream, sequence: at, epoch: of, number: block, hash: parseHex(hash) }
  } catch {
    return undefined
  }
}

/** Replaces the file; returns when it is on disk. */
export function writePublisherCursor(path: string, cursor: PublisherCursor): void {
  replaceFile(path, `${JSON.stringify({ ...cursor, hash: formatData(cursor.hash) })}\n`)
}
