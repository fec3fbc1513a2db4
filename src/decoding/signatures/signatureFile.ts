import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs'
import { CairnError } from '../../lib/errors.js'
import { membersOf } from '../../lib/json.js'
import type { SignatureKind, SortedSignatures } from '../../store/signatures.js'
import { hashSignature } from '../abiItems.js'
import { MAX_SIGNATURE_CHARACTERS, parseSignatureText } from './signatureText.js'

/* Files of signatures: lines `0xa9059cbb transfer(address,uint256)`; CSV with a header that names the columns
 * `text_signature` and `hex_signature`, as of 4byte.directory; JSON `{"function": {"0xa9059cbb": ["transfer(address,
 * uint256)"]}, "event": {…}}`, as of OpenChain and Sourcify. A hash of 4 bytes is a selector, one of 32 bytes a
 * topic. */

/** A file of signatures that cannot be read as a whole. */
export class InvalidSignatureFile extends CairnError {}

/** What a file contains. */
export interface SignatureFile {
  readonly signatures: { readonly [K in SignatureKind]: SortedSignatures }
  /** Entries that were refused, by reason. */
  readonly refused: {
    /** Not a line, record or member of the format, or text beyond a limit. */
    readonly malformed: number
    /** Text that is no canonical signature. */
    readonly notCanonical: number
    /** The Keccak-256 of the signature does not begin with the hash. */
    readonly wrongHash: number
    /** More than 64 signatures of one selector. */
    readonly tooMany: number
  }
  /** Entries that the file has twice. */
  readonly duplicates: number
}

/** Limits of a file. */
export interface SignatureLimits {
  readonly maxBytes: number
  /** A JSON file is parsed at once. */
  readonly maxJsonBytes: number
  /** Lines, records or JSON entries. */
  readonly maxEntries: number
}

// The dump of 4byte.directory has 1.5 million signatures, that of OpenChain about as many again.
const LIMITS: SignatureLimits = { maxBytes: 2 ** 29, maxJsonBytes: 2 ** 28, maxEntries: 5_000_000 }
/** Signatures of one selector. Compilers make few; others are invented to collide. */
const MAX_PER_KEY = 64
const MAX_LINE_BYTES = MAX_SIGNATURE_CHARACTERS + 512
const CHUNK_BYTES = 1_048_576

/** Reads a file of signatures and verifies each: its hash is computed. @throws InvalidSignatureFile for a file beyond
 *  the limits, of another format, or without a valid signature; Error if it cannot be read */
export function readSignatureFile(path: string, limits = LIMITS): SignatureFile {
  const collector = new Collector(limits.maxEntries)
  const file = openSync(path, 'r')
  try {
    const { size } = fstatSync(file)
    if (size > limits.maxBytes) throw new InvalidSignatureFile(`expected at most ${limits.maxBytes} bytes, got ${size}`)
    if (firstCharacter(file) !== '{') readLines(file, collector)
    else if (size <= limits.maxJsonBytes) readJson(parseJson(path), collector)
    else throw new InvalidSignatureFile(`expected at most ${limits.maxJsonBytes} bytes of JSON, got ${size}`)
  } finally {
    closeSync(file)
  }
  return collector.finish()
}

function firstCharacter(file: number): string | undefined {
  const start = Buffer.alloc(256)
  return start.toString('latin1', 0, readSync(file, start, 0, start.length, 0)).trimStart()[0]
}

/** Collects verified signatures. */
class Collector {
  private readonly maxEntries: number
  private readonly found = { function: createList(), event: createList() }
  private entries = 0
  private readonly refused = { malformed: 0, notCanonical: 0, wrongHash: 0, tooMany: 0 }

  constructor(maxEntries: number) {
    this.maxEntries = maxEntries
  }

  refuse(reason: keyof SignatureFile['refused']): void {
    this.count()
    this.refused[reason]++
  }

  /** Verifies and adds a signature; `hash` is hex text, with or without 0x. */
  add(hash: string, text: string): void {
    const [, digits] = /^(?:0x)?([0-9a-f]{8}|[0-9a-f]{64})$/i.exec(hash) ?? []
    const problem =
      digits === undefined ? 'malformed' : parseSignatureText(text) === undefined ? 'notCanonical' : undefined
    const actual = problem === undefined ? Buffer.from(hashSignature(text)) : undefined
    if (actual?.toString('hex').startsWith(digits.toLowerCase())) {
      this.count()
      const list = this.found[digits.length === 8 ? 'function' : 'event']
      list.keys.push(actual.readUInt32BE())
      list.texts.push(text)
    } else this.refuse(problem ?? 'wrongHash')
  }

  /** @throws InvalidSignatureFile if no signature is valid */
  finish(): SignatureFile {
    const { refused } = this
    const [functions, events] = [sortUnique(this.found.function), sortUnique(this.found.event)]
    refused.tooMany += functions.tooMany + events.tooMany
    if (functions.texts.length + events.texts.length === 0) {
      const { malformed, notCanonical, wrongHash } = refused
      throw new InvalidSignatureFile(
        'expected lines such as 0xa9059cbb transfer(address,uint256), CSV with columns text_signature and hex_signature, or JSON ' +
          `with members function and event; found no signature (${malformed} entries malformed, ${notCanonical} not canonical, ` +
          `${wrongHash} with the wrong hash)`,
      )
    }
    return {
      signatures: { function: functions, event: events },
      refused,
      duplicates: functions.duplicates + events.duplicates,
    }
  }

  private count(): void {
    if (++this.entries > this.maxEntries) throw new InvalidSignatureFile(`expected at most ${this.maxEntries} entries`)
  }
}

function createList(): { keys: number[]; texts: string[] } {
  return { keys: [], texts: [] }
}

/** Sorts by key, then text, without duplicates and signatures beyond the limit of a key. */
function sortUnique({ keys, texts }: { keys: readonly number[]; texts: readonly string[] }) {
  const order = Uint32Array.from(keys, (_, i) => i)
  order.sort((a, b) => keys[a] - keys[b] || (texts[a] < texts[b] ? -1 : Number(texts[a] > texts[b])))
  const sorted = createList()
  let [duplicates, tooMany, ofKey] = [0, 0, 0]
  for (const i of order) {
    const isSameKey = sorted.keys.at(-1) === keys[i]
    if (isSameKey && sorted.texts.at(-1) === texts[i]) {
      duplicates++
      continue
    }
    ofKey = isSameKey ? ofKey + 1 : 1
    if (ofKey > MAX_PER_KEY) {
      tooMany++
      continue
    }
    sorted.keys.push(keys[i])
    sorted.texts.push(texts[i])
  }
  return { ...sorted, duplicates, tooMany }
}

/** Reads lines or CSV. Bytes that are not ASCII cannot be part of a signature. */
function readLines(file: number, collector: Collector): void {
  let columns: CsvColumns | undefined
  let isFirst = true
  for (const line of linesOf(file)) {
    const text = line?.trim()
    if (text === '') continue
    if (isFirst) columns = text === undefined ? undefined : csvColumns(text)
    const isHeader = isFirst && columns !== undefined
    isFirst = false
    if (isHeader) continue
    const entry = text === undefined ? undefined : columns === undefined ? parseLine(text) : parseRecord(text, columns)
    if (entry === undefined) collector.refuse('malformed')
    else collector.add(...entry)
  }
}

/** Yields the lines of a file as Latin-1; undefined for one that is too long. */
function* linesOf(file: number): Generator<string | undefined> {
  const chunk = Buffer.alloc(CHUNK_BYTES + MAX_LINE_BYTES)
  let length = 0
  let isSkipping = false // the rest of a line that is too long
  for (;;) {
    const count = readSync(file, chunk, length, CHUNK_BYTES, null)
    length += count
    let from = 0
    for (let end = chunk.subarray(0, length).indexOf(10); end >= 0; end = chunk.subarray(0, length).indexOf(10, from)) {
      if (!isSkipping) yield end - from > MAX_LINE_BYTES ? undefined : chunk.toString('latin1', from, end)
      isSkipping = false
      from = end + 1
    }
    const rest = length - from
    if (count === 0) {
      if (rest > 0 && !isSkipping) yield chunk.toString('latin1', from, length)
      return
    }
    if (rest >= MAX_LINE_BYTES) {
      if (!isSkipping) yield undefined
      isSkipping = true
      length = 0
      continue
    }
    chunk.copyWithin(0, from, length)
    length = rest
  }
}

/** A hash, then spaces or one of `:`, `,`, `;`, `=`, `|` or tab, then the signature. */
function parseLine(line: string): [hash: string, text: string] | undefined {
  const [, hash, text] = /^(\w{8,66})(?: *[:,;=|\t] *| +)(\S+)$/.exec(line) ?? []
  return hash === undefined ? undefined : [hash, text]
}

interface CsvColumns {
  readonly text: number
  readonly hash: number
}

/** Returns the columns if the line is a CSV header. */
function csvColumns(line: string): CsvColumns | undefined {
  const names = splitRecord(line) ?? []
  const [text, hash] = [names.indexOf('text_signature'), names.indexOf('hex_signature')]
  return text < 0 || hash < 0 ? undefined : { text, hash }
}

function parseRecord(line: string, { text, hash }: CsvColumns): [hash: string, text: string] | undefined {
  const cells = splitRecord(line)
  return cells?.[text] === undefined || cells[hash] === undefined ? undefined : [cells[hash], cells[text]]
}

/** Splits a record by RFC 4180; undefined if its quotes are not balanced. */
function splitRecord(line: string): string[] | undefined {
  const cells: string[] = []
  for (let at = 0; at <= line.length; at++) {
    let end: number
    if (line[at] === '"') {
      end = at + 1
      while (end < line.length && (line[end] !== '"' || line[end + 1] === '"')) end += line[end] === '"' ? 2 : 1
      if (end >= line.length || (end + 1 < line.length && line[end + 1] !== ',')) return undefined
      cells.push(line.slice(at + 1, end).replaceAll('""', '"'))
      end++
    } else {
      end = line.indexOf(',', at)
      if (end < 0) end = line.length
      cells.push(line.slice(at, end))
    }
    at = end
  }
  return cells
}

function parseJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new InvalidSignatureFile(`invalid JSON: ${(error as Error).message}`, { cause: error })
  }
}

/** Reads groups by name: `function`, `error` and `event`; also below `result`, as the API of OpenChain responds. The
 *  hash says what a signature is of. */
function readJson(json: unknown, collector: Collector): void {
  const groups = membersOf(json)
  const inner = membersOf(groups.result)
  for (const group of ['function', 'error', 'event']) {
    for (const [hash, entry] of Object.entries(membersOf(groups[group] ?? inner[group]))) {
      for (const each of Array.isArray(entry) ? entry : [entry]) {
        const text: unknown = typeof each === 'string' ? each : membersOf(each).name
        if (typeof text === 'string') collector.add(hash, text)
        else if (entry !== null) collector.refuse('malformed') // OpenChain responds null for an unknown hash
      }
    }
  }
}
