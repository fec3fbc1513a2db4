/** Bytes before and after the text of logs in its ArrayBuffer: the brackets of an array need no copy. */
export const BRACKET_BYTES = 1

// The parts of a text differ in length. More room costs memory, and less costs a copy of the text.
const ROOM = 1.05
/** Largest room for what is expected to follow: the first logs may be the longest. */
const MAX_ROOM = 8_388_608

const COMMA = 0x2c

/** Joins texts by commas in one buffer. Its size is estimated from the texts added, so that most texts are copied
 *  once. */
export class TextBuffer {
  readonly #total: number
  #bytes: Buffer | undefined
  #end = BRACKET_BYTES

  /** @param total number of items that may be added in all */
  constructor(total: number) {
    this.#total = total
  }

  /** Adds a text, which may be empty. `done` is the number of items that it and the earlier ones are made of. */
  add(text: Uint8Array, done: number): void {
    if (text.length === 0) return
    const isFirst = this.#end === BRACKET_BYTES
    const needed = this.#end + Number(!isFirst) + text.length + BRACKET_BYTES
    if (this.#bytes === undefined || needed > this.#bytes.length) this.#grow(needed, done)
    const bytes = this.#bytes!
    if (!isFirst) bytes[this.#end++] = COMMA
    bytes.set(text, this.#end)
    this.#end += text.length
  }

  /** Returns the joined texts. They have an ArrayBuffer of their own, with `BRACKET_BYTES` of room before them and at
   *  least as many after them. */
  end(): Buffer {
    const bytes = this.#bytes ?? Buffer.allocUnsafeSlow(2 * BRACKET_BYTES)
    return bytes.subarray(BRACKET_BYTES, this.#end)
  }

  #grow(needed: number, done: number): void {
    const expected = done < this.#total ? Math.ceil((needed / done) * this.#total * ROOM) : needed
    const room = Math.min(expected - needed, Math.max(MAX_ROOM, needed))
    const grown = Buffer.allocUnsafeSlow(needed + room)
    if (this.#bytes !== undefined) grown.set(this.#bytes.subarray(0, this.#end))
    this.#bytes = grown
  }
}
