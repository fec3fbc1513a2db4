import { readSync } from 'node:fs'
import type { DatabaseFile } from './databaseFile.js'

/* The WAL index (https://sqlite.org/walformat.html#the_wal_index_file_format): numbers are in the byte order of the
 * machine. Its header has two copies, and then what checkpoints did. */
const HEADER_WORDS = 12
const CHECKPOINTED_WORD = 2 * HEADER_WORDS
const INDEX_BYTES = 136
const VERSION = 3_007_000
const WORD = { version: 0, flags: 3, lastFrame: 4, salts: 8, checksum: 10 } as const
const IS_INITIALIZED = 1
const SALT_BYTES = 8
/** https://sqlite.org/fileformat2.html#walformat: what precedes the frames, and the page of a frame. */
const WAL_HEADER = 32
const FRAME_HEADER = 24
/** Page numbers of frames are at the start of each block of 32 KiB, of the first one after the header. */
const BLOCK_BYTES = 32_768
const BLOCK_FRAMES = 4_096
const FIRST_BLOCK_FRAMES = BLOCK_FRAMES - INDEX_BYTES / 4

/** Frames that are not in the database file: beyond, reading their numbers takes longer than it saves. */
const MAX_FRAMES = 65_536
// A writer changes the header in less than a microsecond.
const ATTEMPTS = 3

/** The pages whose newest content is in the write-ahead log alone.
 *
 *  A connection with an open read transaction has a read mark, frame K, and its snapshot is the database file with the
 *  frames 1 to K. Checkpoints copy frames in order, and none beyond the mark of a reader (walformat.html,
 *  WAL_READ_LOCK). So while the transaction is open, a page is in the file as the snapshot has it, and stays so, unless
 *  one of the frames 1 to K that are not copied yet has it. `last`, the newest frame that the index has now, is K or a
 *  later one; `copied`, the last one that a checkpoint has copied, is at most K. Pages of the frames from `copied` to
 *  `last` are those and maybe some more. A reader whose snapshot began with all frames copied has mark 0: then the
 *  whole file is the snapshot, no checkpoint runs, and the log may begin again, so it does not matter which pages are
 *  named here.
 *
 *  Interior pages of a table are read as they are after frame `last`, from the log if it has them: they lead to the
 *  leaves that the table has then. A leaf that no frame after `copied` has is the same in the snapshot, in content and
 *  in being a leaf of the table: a page enters a table only by being written. */
export class WalPages {
  readonly #wal: number
  readonly #index: number
  readonly #pageBytes: number
  readonly #words = new Uint32Array(INDEX_BYTES / 4)
  readonly #header = new Uint8Array(this.#words.buffer)
  readonly #numbers = new Uint32Array(BLOCK_FRAMES)
  readonly #frame: Buffer
  /** The last frame of each page, of those from the first that was read on. */
  readonly #frames = new Map<number, number>()
  /** As they are in the headers of index and frames. */
  readonly #saltBytes = Buffer.alloc(SALT_BYTES)
  #last = 0
  #copied = 0

  /** Reads the log of a database with pages of that size. */
  constructor({ wal, walIndex }: Pick<DatabaseFile, 'wal' | 'walIndex'>, pageBytes: number) {
    this.#wal = wal
    this.#index = walIndex
    this.#pageBytes = pageBytes
    this.#frame = Buffer.alloc(FRAME_HEADER + pageBytes)
  }

  /** Reads what changed. Call it after the read transaction began, in each. False if the index cannot be read now, or
   *  has too many frames: any page may be in the log. */
  update(): boolean {
    if (!this.#readHeader()) return false
    const [last, copied] = [this.#words[WORD.lastFrame], this.#words[CHECKPOINTED_WORD]]
    const salts = this.#header.subarray(4 * WORD.salts, 4 * WORD.salts + SALT_BYTES)
    if (
      !this.#saltBytes.equals(salts) ||
      last < this.#last ||
      copied < this.#copied ||
      this.#frames.size > MAX_FRAMES
    ) {
      this.#frames.clear()
      this.#last = copied
      this.#saltBytes.set(salts)
    }
    this.#copied = copied
    const first = Math.max(this.#last, copied)
    if (last - first > MAX_FRAMES || !this.#readFrames(first, last)) {
      this.#last = Number.POSITIVE_INFINITY // begins again
      return false
    }
    this.#last = last
    return true
  }

  /** True if the page's content may be in the log. */
  has(page: number): boolean {
    return (this.#frames.get(page) ?? 0) > this.#copied
  }

  /** The newest content of a page in the log, which the next call overwrites. Undefined if the log has another one. */
  readNewest(page: number): Buffer | undefined {
    const frame = this.#frame
    const at = WAL_HEADER + (this.#frames.get(page)! - 1) * frame.length
    if (readSync(this.#wal, frame, 0, frame.length, at) !== frame.length) return undefined
    const isFrameOf = frame.readUInt32BE(0) === page && this.#saltBytes.equals(frame.subarray(8, 16))
    return isFrameOf ? frame.subarray(FRAME_HEADER) : undefined
  }

  /** True if the log has not begun again since `update`: what `readNewest` returned meanwhile was not overwritten. */
  isSameLog(): boolean {
    const copies = [Buffer.alloc(SALT_BYTES), Buffer.alloc(SALT_BYTES)]
    return copies.every((salts, i) => {
      const at = 4 * (i * HEADER_WORDS + WORD.salts)
      return readSync(this.#index, salts, 0, SALT_BYTES, at) === SALT_BYTES && salts.equals(this.#saltBytes)
    })
  }

  #readHeader(): boolean {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (readSync(this.#index, this.#header, 0, INDEX_BYTES, 0) !== INDEX_BYTES) return false
      if (this.#isWhole()) return this.#isSupported()
    }
    return false
  }

  /** True if no writer was changing the header while it was read. */
  #isWhole(): boolean {
    const words = this.#words
    for (let i = 0; i < HEADER_WORDS; i++) if (words[i] !== words[HEADER_WORDS + i]) return false
    let [sum, other] = [0, 0]
    for (let i = 0; i < WORD.checksum; i += 2) {
      sum = (sum + words[i] + other) >>> 0
      other = (other + words[i + 1] + sum) >>> 0
    }
    return words[WORD.checksum] === sum && words[WORD.checksum + 1] === other
  }

  #isSupported(): boolean {
    const [initialized] = new Uint8Array(this.#words.buffer, 4 * WORD.flags, 1)
    const [bytes] = new Uint16Array(this.#words.buffer, 4 * WORD.flags + 2, 1)
    // 1 is 65,536. The index of a log that was never written has no size.
    const isPageSize = this.#pageBytes === (bytes === 1 ? 65_536 : bytes) || this.#words[WORD.lastFrame] === 0
    return this.#words[WORD.version] === VERSION && initialized === IS_INITIALIZED && isPageSize
  }

  /** Reads the pages of the frames after `from`, up to `to`. False if the index ends before. */
  #readFrames(from: number, to: number): boolean {
    for (let frame = from + 1; frame <= to; ) {
      const block = frame <= FIRST_BLOCK_FRAMES ? 0 : 1 + Math.floor((frame - FIRST_BLOCK_FRAMES - 1) / BLOCK_FRAMES)
      const firstOfBlock = block === 0 ? 1 : FIRST_BLOCK_FRAMES + 1 + (block - 1) * BLOCK_FRAMES
      const count = Math.min(to, firstOfBlock + (block === 0 ? FIRST_BLOCK_FRAMES : BLOCK_FRAMES) - 1) - frame + 1
      const at = block * BLOCK_BYTES + (block === 0 ? INDEX_BYTES : 0) + 4 * (frame - firstOfBlock)
      if (readSync(this.#index, this.#numbers, 0, 4 * count, at) !== 4 * count) return false
      for (let i = 0; i < count; i++) this.#frames.set(this.#numbers[i], frame + i)
      frame += count
    }
    return true
  }
}
