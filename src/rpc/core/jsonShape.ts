/** Maximum nesting of arrays and objects in a body. Deeper ones take long to parse and cannot be cloned. */
export const MAX_REQUEST_DEPTH = 256

/** Maximum weight of a body: a value weighs 1, an array or object 3, a member 7. JSON.parse is slowest for members with
 *  distinct names and for small arrays: this weight takes at most 50 ms, 5 MB take up to 1 s. A batch of 1,000 calls
 *  weighs about 80,000, a filter as much as its number of values. */
export const MAX_JSON_WEIGHT = 250_000

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_ARRAY = 0x5b
const OPEN_OBJECT = 0x7b
const CLOSE_ARRAY = 0x5d
const CLOSE_OBJECT = 0x7d

/** Relevant characters outside strings. After a run of other characters they are searched with a regular expression,
 *  ten times as fast as character by character. */
const STRUCTURAL = /["[\]{},:]/g
const LONG_RUN = 64

/** Facts about a JSON text before parsing. */
export interface JsonShape {
  /** Why it is refused; undefined if it is not. */
  readonly fault?: string
  /** Estimated number of values, never too low; undefined for a short text. */
  readonly values?: number
}

const SHORT: JsonShape = {}

/** Scans a text before JSON.parse. Does not check that it is JSON. */
export function measureShape(text: string): JsonShape {
  // Balanced brackets cannot nest too deep here; unbalanced ones are refused by JSON.parse at once.
  if (text.length <= 2 * MAX_REQUEST_DEPTH) return SHORT
  let depth = 0
  let weight = 0
  let values = 1
  let run = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      at = endOfString(text, at)
      run = 0
    } else if (code === COMMA) {
      weight++
      values++
    } else if (code === COLON) weight += 6
    else if (code === OPEN_ARRAY || code === OPEN_OBJECT) {
      weight += 3
      values++
      if (++depth > MAX_REQUEST_DEPTH) return { fault: `request is nested deeper than ${MAX_REQUEST_DEPTH} levels` }
    } else if (code === CLOSE_ARRAY || code === CLOSE_OBJECT) depth--
    else if (++run >= LONG_RUN) {
      STRUCTURAL.lastIndex = at
      at = STRUCTURAL.test(text) ? STRUCTURAL.lastIndex - 2 : text.length
      run = 0
    }
    if (weight > MAX_JSON_WEIGHT) return { fault: 'request holds too many values, send fewer in one request' }
  }
  return { values }
}

/** End of the string that starts at a quote: its closing quote, or the end of the text. */
export function endOfString(text: string, start: number): number {
  const end = text.indexOf('"', start + 1)
  if (end < 0) return text.length
  if (text.charCodeAt(end - 1) !== BACKSLASH) return end
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === BACKSLASH) at++
    else if (code === QUOTE) return at
  }
  return text.length
}
