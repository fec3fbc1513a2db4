/** How deep arrays and objects of a body may be nested. Deeper ones take long to parse, and cannot be copied to a thread. */
export const MAX_JSON_DEPTH = 256

/** How heavy a body may be: a value weighs 1, an array or an object 3, a member of an object 7. JSON.parse takes longest by far
 *  for members of different names and for small arrays: of this weight at most 50 ms, of 5 MB up to 1 s. A batch of 1,000 calls
 *  weighs about 80,000, a filter as many as it has values. */
export const MAX_JSON_WEIGHT = 250_000

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_ARRAY = 0x5b
const OPEN_OBJECT = 0x7b
const CLOSE_ARRAY = 0x5d
const CLOSE_OBJECT = 0x7d

/** What is looked at outside strings. Searched for by a regular expression, ten times faster than character by character, once
 *  so many others have come in a row. */
const STRUCTURAL = /["[\]{},:]/g
const LONG_RUN = 64

/** What is found out about a text before it is parsed. */
export interface JsonShape {
  /** What is wrong with it; undefined when nothing is. */
  readonly fault?: string
  /** About how many values it holds, never fewer; undefined for a text that is too short to matter. */
  readonly values?: number
}

const SHORT: JsonShape = {}

/** The shape of a text that is to be parsed as JSON. Whether it is JSON is left to JSON.parse. */
export function measureShape(text: string): JsonShape {
  // What closes as often as it opens cannot be too deep, and what does not is refused by JSON.parse at once.
  if (text.length <= 2 * MAX_JSON_DEPTH) return SHORT
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
      if (++depth > MAX_JSON_DEPTH) return { fault: `request is nested deeper than ${MAX_JSON_DEPTH} levels` }
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

/** Where the string ends that begins at a quote: at its other quote, or behind the text when there is none. */
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
