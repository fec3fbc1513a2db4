import { readSync } from 'node:fs'

/* The WAL index (https://sqlite.org/walformat.html#the_wal_index_file_format): numbers are in the byte order of the
 * machine. Its header has two copies, and then what checkpoints did. */
const HEADER_WORDS = 12
const CHECKPOINTED_WORD = 2 * HEADER_WORDS
const INDEX_BYTES = 136
const VERSION = 3_007_000
const WORD = { version: 0, flags: 3, lastFrame: 4, salts: [8, 9], checksum: 10 } as const
const IS_INITIALIZED = 1
/** Page numbers of frames are at the start of each block of 32 KiB, of the first one after the header. */
const BLOCK_BYTES = 32_768
const BLOCK_FRAMES = 4_096
const FIRST_BLOCK_FRAMES = BLOCK_FRAMES - INDEX_BYTES / 4

/** Frames that are not in the database file: beyond, reading their numbers takes longer than it saves. */
const MAX_FRAMES = 65_536
// A writer changes the header in less than a microsecond.
const ATTEMPTS = 3

/** The pages whose newest content is in the write-ahead log.
 *
 *  A connection with an open read transaction has a read mark, frame K, and its snapshot is the database file with the
 *  frames 1 to K. Checkpoints copy frames in order, and none beyond the mark of a reader (walformat.html,
 *  WAL_READ_LOCK). So while the transaction is open, a page is in the file as the snapshot has it, and stays so, unless
 *  one of the frames 1 to K that are not copied yet has it. `last`, the newest frame that the index has now, is K or a
 *  later one; `copied`, the last one that a checkpoint has copied, is at most K. Pages of the frames from `copied` to
 *  `last` are those and maybe some more. A reader whose snapshot began with all frames copied has mark 0: then the
 *  whole file is the snapshot, no checkpoint runs, and the log may begin again, so it does not matter which pages are
 *  named here. */
export class WalPages {
  readonly #file: number
  readonly #pageBytes: number
  readonly #words = new Uint32Array(INDEX_BYTES / 4)
  readonly #header = new Uint8Array(this.#words.buffer)
  readonly #numbers = new Uint32Array(BLOCK_FRAMES)
  /** The last frame of each page, of those from the first that was read on. */
  readonly #frames = new Map<number, number>()
  readonly #salts: [number, number] = [0, 0]
  #last = 0
  #copied = 0

  /** Reads the WAL index of that descriptor, of a database with pages of that size. */
  constructor(file: number, pageBytes: number) {
    this.#file = file
    this.#pageBytes = pageBytes
  }

  /** Reads what changed. Call it after the read transaction began, in each. False if the index cannot be read now, or
   *  has too many frames: any page may be in the log. */
  update(): boolean {
    if (!this.#readHeader()) return false
    const [last, copied] = [this.#words[WORD.lastFrame], this.#words[CHECKPOINTED_WORD]]
    const isSameLog = WORD.salts.every((word, i) => this.#words[word] === this.#salts[i])
    if (!isSameLog || last < this.#last || copied < this.#copied || this.#frames.size > MAX_FRAMES) {
      this.#frames.clear()
      this.#last = copied
      for (const [i, word] of WORD.salts.entries()) this.#salts[i] = this.#words[word]
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

  #readHeader(): boolean {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (readSync(this.#file, this.#header, 0, INDEX_BYTES, 0) !== INDEX_BYTES) return false
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
      if (readSync(this.#file, this.#numbers, 0, 4 * count, at) !== 4 * count) return false
      for (let i = 0; i < count; i++) this.#frames.set(this.#numbers[i], frame + i)
      frame += count
    }
    return true
  }
}
