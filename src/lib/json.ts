import { CairnError } from './errors.js'

/** Maximum nesting of JSON. No block, recording or genesis file comes near it, and recursive functions
 *  (`JSON.stringify`, comparisons) need several times more to overflow. */
const MAX_JSON_DEPTH = 256

/** A JSON text is nested deeper than `MAX_JSON_DEPTH`. */
export class JsonTooDeep extends CairnError {
  /** Index of the bracket that is one too many. */
  readonly offset: number
  constructor(offset: number) {
    super(`expected JSON nested at most ${MAX_JSON_DEPTH} deep, got more at character ${offset}`)
    this.offset = offset
  }
}

/** 15 digits are always below 2^53. */
const EXACT_DIGITS = 15

const QUOTE = 0x22
const BACKSLASH = 0x5c
const MINUS = 0x2d

/** The value of a JSON text. Integers beyond 2^53 - 1 become decimal strings, because `JSON.parse` would round them.
 *  Linear time for any input. @throws SyntaxError for invalid JSON; JsonTooDeep. */
export function parseJsonExact(text: string): unknown {
  return JSON.parse(quoteLongIntegers(text))
}

/** Quotes integers that are not exact as numbers. A regular expression would be quadratic on unterminated strings. */
function quoteLongIntegers(text: string): string {
  const parts: string[] = []
  let copied = 0
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      at = endOfString(text, at)
    } else if (isDigit(code) || code === MINUS) {
      const end = endOfNumber(text, at)
      if (isInexactInteger(text, at, end)) {
        parts.push(text.slice(copied, at), '"', text.slice(at, end), '"')
        copied = end
      }
      at = end - 1
    } else if (isOpening(code)) {
      depth++
      if (depth > MAX_JSON_DEPTH) throw new JsonTooDeep(at)
    } else if (isClosing(code)) {
      depth--
    }
  }
  return parts.length === 0 ? text : parts.join('') + text.slice(copied)
}

/** Index of the closing quote; the end of the text if missing. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at
    if (code === BACKSLASH) at++
  }
  return text.length
}

/** Index after the characters that a number may have: digits, signs, `.`, `e` and `E`. */
function endOfNumber(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && isNumberPart(text.charCodeAt(at))) at++
  return at
}

function isInexactInteger(text: string, start: number, end: number): boolean {
  if (end - start <= EXACT_DIGITS) return false
  const from = text.charCodeAt(start) === MINUS ? start + 1 : start
  for (let at = from; at < end; at++) if (!isDigit(text.charCodeAt(at))) return false
  return end > from && !Number.isSafeInteger(Number(text.slice(start, end)))
}

const isDigit = (code: number) => code >= 0x30 && code <= 0x39
const isNumberPart = (code: number) =>
  isDigit(code) || code === 0x2e || code === 0x65 || code === 0x45 || code === 0x2b || code === MINUS
const isOpening = (code: number) => code === 0x5b || code === 0x7b // [ {
const isClosing = (code: number) => code === 0x5d || code === 0x7d // ] }

/** Returns the members of parsed JSON; none if it is no object. Those of an array are its elements. */
export function membersOf(value: unknown): { readonly [name: string]: unknown } {
  return typeof value === 'object' && value !== null ? (value as { readonly [name: string]: unknown }) : {}
}
