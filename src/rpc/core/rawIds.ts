import { endOfString } from './jsonShape.js'

/** The texts of the request ids in a body that JSON.parse accepted: for each request the text of its own `id` member
 *  (the last one, as in JSON.parse); undefined if it has none. Numbers beyond 2^53 and forms such as 1.50 survive only
 *  as text. */
export function scanRawIds(body: string): (string | undefined)[] {
  const scanner = { body, at: 0 }
  skipSpace(scanner)
  if (body[scanner.at] !== '[') return [scanRequest(scanner)]
  const ids: (string | undefined)[] = []
  scanner.at++
  for (;;) {
    skipSpace(scanner)
    if (body[scanner.at] === ',') scanner.at++
    else if (body[scanner.at] === ']') return ids
    else ids.push(scanRequest(scanner))
  }
}

/** `id` with both letters escaped is its longest spelling. */
const MAX_ID_NAME = '"\\u0069\\u0064"'.length

/** True for a string literal that spells `id`. */
function isId(name: string): boolean {
  if (name === '"id"') return true
  return name.length <= MAX_ID_NAME && name.includes('\\') && JSON.parse(name) === 'id'
}

interface Scanner {
  readonly body: string
  at: number
}

/** Reads the id of the request at the scanner and advances behind it. */
function scanRequest(scanner: Scanner): string | undefined {
  const { body } = scanner
  skipSpace(scanner)
  if (body[scanner.at] !== '{') {
    skipValue(scanner)
    return undefined
  }
  let id: string | undefined
  scanner.at++
  for (;;) {
    skipSpace(scanner)
    const char = body[scanner.at]
    if (char === '}') {
      scanner.at++
      return id
    }
    if (char === ',') {
      scanner.at++
      continue
    }
    const name = takeValue(scanner)
    skipSpace(scanner)
    scanner.at++ // the colon
    const value = takeValue(scanner)
    if (isId(name)) id = value
  }
}

/** Reads the text of the value at the scanner and advances behind it. */
function takeValue(scanner: Scanner): string {
  skipSpace(scanner)
  const start = scanner.at
  skipValue(scanner)
  return scanner.body.slice(start, scanner.at)
}

/** Skips a value by counting brackets, not recursively, because nesting is unlimited. */
function skipValue(scanner: Scanner): void {
  const { body } = scanner
  let depth = 0
  do {
    skipSpace(scanner)
    const char = body[scanner.at]
    if (char === '"') skipString(scanner)
    else if (char === '{' || char === '[') {
      depth++
      scanner.at++
    } else if (char === '}' || char === ']') {
      depth--
      scanner.at++
    } else if (char === ',' || char === ':') scanner.at++
    else skipWord(scanner)
  } while (depth > 0)
}

function skipString(scanner: Scanner): void {
  scanner.at = endOfString(scanner.body, scanner.at) + 1
}

/** Skips a number, true, false or null. */
function skipWord(scanner: Scanner): void {
  END_OF_WORD.lastIndex = scanner.at
  scanner.at = END_OF_WORD.exec(scanner.body)?.index ?? scanner.body.length
}

function skipSpace(scanner: Scanner): void {
  const { body } = scanner
  while (scanner.at < body.length && isSpace(body.charCodeAt(scanner.at))) scanner.at++
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
}

/** White space or a delimiter. Searched by regular expression, because a number may have millions of digits. */
const END_OF_WORD = /[\s,:\]}]/g
