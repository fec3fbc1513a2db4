import { closeSync, readSync } from 'node:fs'
import { CairnError } from '../../lib/errors.js'
import { abbreviate } from '../../lib/hex.js'
import { isGzip, openFile } from './fileBytes.js'

/** A line of a state dump cannot be used. */
export class StateDumpError extends CairnError {
  readonly path: string
  /** From 1 on. */
  readonly line: number
  /** Member of the line. */
  readonly field: string
  constructor({ path, line, field }: { path: string; line: number; field: string }, problem: string) {
    super(`${path}: line ${line}: ${field}: ${problem}`)
    this.path = path
    this.line = line
    this.field = field
  }
}

/** The path that stands for standard input. */
export const STANDARD_INPUT = '-'

const CHUNK_BYTES = 1024 * 1024
// Longer than any code in hex: a longer text is damage, and must not be buffered.
const MAX_TEXT_BYTES = 4 * 1024 * 1024
const STANDARD_INPUT_FD = 0
const PAUSE_MS = 10

const NEWLINE = 0x0a
const QUOTE = 0x22
const BACKSLASH = 0x5c
const END = -1

/** The JSON lines of a file or of standard input, read piece by piece: a line may be longer than the memory. */
export class DumpText {
  readonly path: string
  /** Number of the line that is read, from 1 on. */
  line: number
  private readonly fd: number
  private readOffset: number
  private bytes = Buffer.allocUnsafe(2 * CHUNK_BYTES)
  private at = 0
  private end = 0

  /** Opens it at the begin of a line, `offset` bytes into it. @throws UsageError, StateDumpError for a gzip file */
  constructor(path: string, { offset, line }: { offset: number; line: number }) {
    this.path = path
    this.line = line
    this.fd = path === STANDARD_INPUT ? STANDARD_INPUT_FD : openFile(path)
    this.readOffset = 0
    this.requireText()
    if (path === STANDARD_INPUT) this.drop(offset)
    else if (offset > 0) {
      this.readOffset = offset
      this.at = this.end
    }
  }

  private requireText(): void {
    while (this.end < 2 && this.fill());
    if (!isGzip(this.bytes.subarray(0, this.end))) return
    this.close()
    const piped = `gunzip -c ${this.path} | cairn import --state-dump ${STANDARD_INPUT} ...`
    this.fail('the file', `it is compressed (gzip); expected lines of JSON: ${piped}`)
  }

  private drop(count: number): void {
    for (let left = count; left > 0; ) {
      if (this.at === this.end && !this.fill()) this.fail('the file', 'it is shorter than when its import began')
      const step = Math.min(left, this.end - this.at)
      this.at += step
      left -= step
    }
  }

  /** Bytes before what is read next. */
  get offset(): number {
    return this.readOffset - (this.end - this.at)
  }

  close(): void {
    if (this.fd !== STANDARD_INPUT_FD) closeSync(this.fd)
  }

  /** @throws StateDumpError */
  fail(field: string, problem: string): never {
    throw new StateDumpError({ path: this.path, line: this.line, field }, problem)
  }

  /** The next byte without skipping it; -1 at the end. */
  peek(): number {
    return this.at < this.end || this.fill() ? this.bytes[this.at] : END
  }

  /** Skips spaces, then the character. @throws StateDumpError when another one is next */
  expect(character: string, field: string): void {
    if (!this.skipIf(character)) this.fail(field, `invalid JSON: expected ${character}, got ${this.describeNext()}`)
  }

  /** Skips spaces, then the character if it is next. */
  skipIf(character: string): boolean {
    this.skipSpaces()
    if (this.peek() !== character.charCodeAt(0)) return false
    this.at++
    return true
  }

  /** Skips spaces, and `null` if it is next. */
  skipNull(field: string): boolean {
    this.skipSpaces()
    if (this.peek() !== 'n'.charCodeAt(0)) return false
    for (const character of 'null') {
      if (this.peek() !== character.charCodeAt(0)) this.fail(field, `invalid JSON: got ${this.describeNext()}`)
      this.at++
    }
    return true
  }

  /** Skips spaces and empty lines. @returns false at the end */
  skipEmptyLines(): boolean {
    for (;;) {
      this.skipSpaces()
      if (this.peek() !== NEWLINE) return this.peek() !== END
      this.nextLine()
    }
  }

  /** Skips the end of the line. @throws StateDumpError when something else is next */
  endLine(): void {
    this.skipSpaces()
    if (this.peek() === END) return
    if (this.peek() !== NEWLINE) this.fail('the line', `expected its end after the object, got ${this.describeNext()}`)
    this.nextLine()
  }

  private nextLine(): void {
    this.at++
    this.line++
  }

  /** Reads a text in quotes: its bytes, valid until the next call.
   *  @throws StateDumpError for another value, a text with escapes, or one of more than 4 MiB */
  text(field: string): Uint8Array {
    this.skipSpaces()
    if (this.peek() !== QUOTE) this.fail(field, `expected text in quotes, got ${this.describeNext()}`)
    let from = this.at + 1
    for (let seen = from; ; ) {
      const close = this.bytes.subarray(seen, this.end).indexOf(QUOTE)
      if (close >= 0) {
        const text = this.bytes.subarray(from, seen + close)
        this.at = seen + close + 1
        if (text.includes(BACKSLASH) || text.includes(NEWLINE)) {
          this.fail(field, `expected text without escapes, got ${abbreviate(JSON.stringify(text.toString('latin1')))}`)
        }
        return text
      }
      const length = this.end - from
      if (length > MAX_TEXT_BYTES) this.fail(field, `expected at most ${MAX_TEXT_BYTES} bytes of text, got more`)
      if (!this.fill()) this.fail(field, 'the file ends inside of it: the dump is incomplete')
      from = this.at + 1
      seen = from + length
    }
  }

  /** Reads a text in quotes or a number, as text. @throws StateDumpError as `text`, or for another value */
  textOrDigits(field: string): string {
    this.skipSpaces()
    if (this.peek() === QUOTE) return Buffer.from(this.text(field)).toString('latin1')
    let digits = ''
    while (isDigit(this.peek()) && digits.length <= 80) digits += String.fromCharCode(this.bytes[this.at++])
    if (digits === '') this.fail(field, `expected a number, got ${this.describeNext()}`)
    return digits
  }

  private skipSpaces(): void {
    for (let next = this.peek(); next === 0x20 || next === 0x09 || next === 0x0d; next = this.peek()) this.at++
  }

  /** What is next, for messages. */
  describeNext(): string {
    const next = this.peek()
    if (next === END) return 'the end of the file: the dump is incomplete'
    if (next === NEWLINE) return 'the end of the line'
    return JSON.stringify(String.fromCharCode(next))
  }

  /** Reads more; moves what was not read yet to the start. @returns false at the end */
  private fill(): boolean {
    const kept = this.end - this.at
    if (this.at > 0) this.bytes.copyWithin(0, this.at, this.end)
    this.at = 0
    this.end = kept
    if (this.bytes.length - kept < CHUNK_BYTES) {
      const larger = Buffer.allocUnsafe(2 * this.bytes.length)
      this.bytes.copy(larger, 0, 0, kept)
      this.bytes = larger
    }
    const count = this.read()
    this.end += count
    this.readOffset += count
    return count > 0
  }

  private read(): number {
    const position = this.fd === STANDARD_INPUT_FD ? null : this.readOffset
    for (;;) {
      try {
        return readSync(this.fd, this.bytes, this.end, CHUNK_BYTES, position)
      } catch (error) {
        const { code } = error as { code?: string }
        if (code === 'EOF') return 0 // a closed pipe on Windows
        if (code !== 'EAGAIN') throw error
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS)
      }
    }
  }
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39
}
