import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFile, writing } from '../lib/durableFiles.js'
import { CairnError, messageOf } from '../lib/errors.js'
import { formatData, parseHex } from '../lib/hex.js'

/** A block of the chain. */
export interface SinkPlace {
  /** -1 before the first block. */
  readonly number: number
  /** 32 bytes; undefined for a block that is not available. */
  readonly hash: Uint8Array | undefined
}

/** How far a sink is. A block up to `sent` may have been delivered: it is delivered again after a restart, or its
 *  removal is. So `sent` is stored before a delivery begins, and `delivered` when the receiver has acknowledged it. */
export interface SinkCursor {
  readonly sent: SinkPlace
  readonly delivered: SinkPlace
  /** Id of the newest removed block whose removal is delivered, or was before `sent`. */
  readonly removal: number
}

interface StoredPlace {
  readonly number: number
  readonly hash: string | null
}

/** The cursor of the sink of a data directory, in a file beside the database. */
export class CursorFile {
  readonly path: string
  readonly #chainId: string

  constructor(datadir: string, chainId: number | bigint) {
    this.path = join(datadir, 'sink-cursor.json')
    this.#chainId = String(chainId)
  }

  /** Returns the stored cursor; undefined without one. @throws CairnError for an invalid file, or another chain's */
  read(): SinkCursor | undefined {
    if (!existsSync(this.path)) return undefined
    try {
      const { version, chainId, sent, delivered, removal } = JSON.parse(readFileSync(this.path, 'utf8')) as {
        [member: string]: unknown
      }
      if (version !== 1 || typeof removal !== 'number') throw new Error('it has another form')
      if (chainId !== this.#chainId) throw new Error(`it is of chain ${String(chainId)}, not ${this.#chainId}`)
      return { sent: parsePlace(sent as StoredPlace), delivered: parsePlace(delivered as StoredPlace), removal }
    } catch (cause) {
      throw new CairnError(`${this.path}: ${messageOf(cause)}; without the file the sink begins at --sink-from`, {
        cause,
      })
    }
  }

  /** Stores the cursor durably. */
  write({ sent, delivered, removal }: SinkCursor): void {
    const places = { sent: formatPlace(sent), delivered: formatPlace(delivered) }
    const text = JSON.stringify({ version: 1, chainId: this.#chainId, ...places, removal })
    writing(this.path, () => replaceFile(this.path, `${text}\n`))
  }
}

function parsePlace({ number, hash }: StoredPlace): SinkPlace {
  if (!Number.isSafeInteger(number)) throw new Error('it has another form')
  return { number, hash: hash === null ? undefined : parseHex(hash) }
}

function formatPlace({ number, hash }: SinkPlace): StoredPlace {
  return { number, hash: hash === undefined ? null : formatData(hash) }
}
