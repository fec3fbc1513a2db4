import { bigIntToBytes, bytesToBigInt, EMPTY_BYTES } from '../../lib/bytes.js'
import { CairnError } from '../../lib/errors.js'

/** Malformed input bytes. The message is `path: expected …, got …`. */
export class DecodeError extends CairnError {
  /** Path of the malformed part, such as `header.miner` or `transactions[3].to`. */
  readonly path: string
  /** What was expected and what was found. */
  readonly problem: string
  constructor(path: string, problem: string, options?: ErrorOptions) {
    super(`${path}: ${problem}`, options)
    this.path = path
    this.problem = problem
  }
}

/** Prefixes the path of a DecodeError with `path`, that of the part being decoded; returns other errors unchanged. A
 *  `path` that ends with a space is joined without a dot. */
export function underPath(path: string, error: unknown): unknown {
  if (!(error instanceof DecodeError)) return error
  const joint = error.path === '' || error.path.startsWith('[') || path.endsWith(' ') ? '' : '.'
  return new DecodeError(`${path}${joint}${error.path}`, error.problem)
}

/** A decoded RLP list: its items in order, and `raw`, the encoding of the whole list with its prefix. */
export interface RlpList {
  readonly items: RlpItem[]
  readonly raw: Uint8Array
}

/** A decoded RLP item. All bytes are views into the input. */
export type RlpItem = Uint8Array | RlpList

/** Input of `encodeRlp`: bytes, a non-negative integer (its minimal big-endian form), or a list of these. */
export type RlpInput = Uint8Array | bigint | number | readonly RlpInput[]

/** A value in messages: short bytes in full, longer ones by their first 16 and their length. */
export function describeItem(item: RlpItem): string {
  if (!(item instanceof Uint8Array)) return `a list of ${item.items.length}`
  const head = Buffer.from(item.subarray(0, 16)).toString('hex')
  return item.length <= 16 ? `0x${head}` : `0x${head}… (${item.length} bytes)`
}

/** Where an item begins and ends in the bytes: its prefix at `start`, its payload [payload, end). */
export interface RlpSpan {
  isList: boolean
  payload: number
  end: number
}

/** The extent of the item at `start`, read from its prefix alone: `end` may be beyond the bytes. Undefined when the
 *  prefix itself is truncated. For finding items in a stream.
 *  @throws DecodeError for a length that is not in its shortest form or is beyond 2^48. */
export function measureRlp(bytes: Uint8Array, start: number): RlpSpan | undefined {
  if (start >= bytes.length) return undefined
  const first = bytes[start]
  if (first < 0x80) return { isList: false, payload: start, end: start + 1 }
  const isList = first >= 0xc0
  const short = first - (isList ? 0xc0 : 0x80)
  if (short <= 55) return { isList, payload: start + 1, end: start + 1 + short }
  const lengthBytes = short - 55
  if (start + 1 + lengthBytes > bytes.length) return undefined
  if (lengthBytes > 6) throw new DecodeError('', `expected an RLP length below 2^48, got one of ${lengthBytes} bytes`)
  let length = 0
  for (let i = 1; i <= lengthBytes; i++) length = length * 256 + bytes[start + i]
  if (bytes[start + 1] === 0 || length <= 55) {
    throw new DecodeError('', `expected the shortest RLP length, got ${length} in ${lengthBytes} bytes`)
  }
  const payload = start + 1 + lengthBytes
  return { isList, payload, end: payload + length }
}

/** Maximum nesting depth of lists. The deepest items of a block, the storage keys of an access list, are in 6 lists;
 *  without a limit a few kilobytes of nested lists overflow the stack. */
const MAX_DEPTH = 32

/** Maximum items of one decoding: 0.7 GB in memory. A byte of RLP may become an item of 170 bytes, so without a limit a
 *  block of some megabytes exhausts memory. The smallest meaningful items, of authorization lists, take 4 bytes: a
 *  block of 10 MiB, the most that EIP-7934 allows, has 2.7 million at most. */
const MAX_ITEMS = 2 ** 22

/** Decodes exactly one item that fills the bytes (Yellow Paper, appendix B), in canonical form only.
 *  @throws DecodeError at `path` for a truncated or non-canonical item, for bytes after it, for lists nested more than
 *  32 deep and for more than `maxItems` items. */
export function decodeRlp(bytes: Uint8Array, path = 'rlp', maxItems = MAX_ITEMS): RlpItem {
  try {
    const cursor = { at: 0, depth: 0, itemsLeft: maxItems }
    const item = readItem(bytes, cursor, bytes.length)
    if (cursor.at !== bytes.length)
      throw new DecodeError('', `expected nothing after the item, got ${bytes.length - cursor.at} bytes`)
    return item
  } catch (error) {
    throw underPath(path, error)
  }
}

/** Read position: the next byte, the nesting depth, and the items still allowed. */
interface Cursor {
  at: number
  depth: number
  itemsLeft: number
}

function readItem(bytes: Uint8Array, cursor: Cursor, limit: number): RlpItem {
  const start = cursor.at
  // The two most common forms are read here, without the object that `measureRlp` allocates.
  const first = bytes[start]
  let payload = start
  let end = start + 1
  let isList = false
  if (start < limit && first < 0xb8 && first >= 0x80) {
    payload = start + 1
    end = payload + first - 0x80
  } else if (start >= limit || first >= 0xb8) {
    const span = start < limit ? measureRlp(bytes, start) : undefined
    if (span === undefined) throw new DecodeError('', `expected an RLP item, got the end of the data at byte ${start}`)
    payload = span.payload
    end = span.end
    isList = span.isList
  }
  if (end > limit)
    throw new DecodeError('', `expected ${end - payload} bytes at byte ${payload}, got ${limit - payload}`)
  cursor.at = end
  if (!isList) {
    if (end - payload === 1 && payload !== start && bytes[payload] < 0x80) {
      throw new DecodeError('', `expected byte 0x${bytes[payload].toString(16)} without a prefix, got it with one`)
    }
    return bytes.subarray(payload, end)
  }
  const items: RlpItem[] = []
  cursor.at = payload
  if (++cursor.depth > MAX_DEPTH)
    throw new DecodeError('', `expected lists nested at most ${MAX_DEPTH} deep, got more at byte ${start}`)
  while (cursor.at < end) {
    if (--cursor.itemsLeft < 0) throw new DecodeError('', `too many items for one block, from byte ${cursor.at} on`)
    items.push(readItem(bytes, cursor, end))
  }
  cursor.depth--
  return { items, raw: bytes.subarray(start, end) }
}

/** Returns the item as a list: its items and its encoding. @throws DecodeError when it is bytes. */
export function asRawList(item: RlpItem, path: string): RlpList {
  if (item instanceof Uint8Array) throw new DecodeError(path, `expected a list, got ${describeItem(item)}`)
  return item
}

/** The items of a list. @throws DecodeError when it is bytes, or has fewer than `min` or more than `max` items. */
export function asList(item: RlpItem, path: string, min = 0, max = Number.POSITIVE_INFINITY): RlpItem[] {
  const { items } = asRawList(item, path)
  const count = items.length
  if (count < min || count > max) {
    throw new DecodeError(path, `expected ${min === max ? min : `${min} to ${max}`} items, got ${count}`)
  }
  return items
}

/** The bytes of an item, of any length. @throws DecodeError when it is a list. */
export function asBytes(item: RlpItem, path: string): Uint8Array {
  if (item instanceof Uint8Array) return item
  throw new DecodeError(path, `expected bytes, got ${describeItem(item)}`)
}

/** What `read` returns for each item of a list, with its path. @throws DecodeError as `asList` */
export function asListOf<T>(item: RlpItem, path: string, read: (item: RlpItem, path: string) => T, max?: number): T[] {
  return asList(item, path, 0, max).map((each, i) => read(each, `${path}[${i}]`))
}

/** A hash of 32 bytes. @throws DecodeError */
export function asHash(item: RlpItem, path: string): Uint8Array {
  return asFixed(item, 32, path)
}

/** Bytes of exactly `length`. @throws DecodeError. */
export function asFixed(item: RlpItem, length: number, path: string): Uint8Array {
  const bytes = asBytes(item, path)
  if (bytes.length !== length) throw new DecodeError(path, `expected ${length} bytes, got ${bytes.length}`)
  return bytes
}

/** An address, or undefined for no bytes: the recipient of a transaction. @throws DecodeError for other lengths. */
export function asOptionalAddress(item: RlpItem, path: string): Uint8Array | undefined {
  const bytes = asBytes(item, path)
  if (bytes.length !== 0 && bytes.length !== 20)
    throw new DecodeError(path, `expected 20 bytes or none, got ${bytes.length}`)
  return bytes.length === 0 ? undefined : bytes
}

/** An unsigned integer of at most `maxBytes` (8 for uint64, 32 for uint256). @throws DecodeError when it is longer or
 *  has leading zeros. */
export function asUint(item: RlpItem, maxBytes: number, path: string): bigint {
  return bytesToBigInt(checkInteger(item, maxBytes, path))
}

/** An unsigned integer that is safe as a number: below 2^53. @throws DecodeError. */
export function asSafeInteger(item: RlpItem, path: string): number {
  const bytes = checkInteger(item, 8, path)
  let value = 0
  for (let i = 0; i < bytes.length; i++) value = value * 256 + bytes[i]
  if (!Number.isSafeInteger(value))
    throw new DecodeError(path, `expected an integer below 2^53, got ${describeItem(item)}`)
  return value
}

function checkInteger(item: RlpItem, maxBytes: number, path: string): Uint8Array {
  const bytes = asBytes(item, path)
  if (bytes.length > maxBytes) {
    throw new DecodeError(path, `expected an integer of at most ${maxBytes * 8} bits, got ${describeItem(bytes)}`)
  }
  if (bytes.length > 0 && bytes[0] === 0) {
    throw new DecodeError(path, `expected an integer without leading zeros, got ${describeItem(bytes)}`)
  }
  return bytes
}

/** RLP of the input (Yellow Paper, appendix B). @throws RangeError for a negative or unsafe number. */
export function encodeRlp(input: RlpInput): Uint8Array {
  if (input instanceof Uint8Array) return encodeBytes(input)
  if (Array.isArray(input)) {
    const parts: Uint8Array[] = []
    const length = collect(input, parts)
    return joinParts(parts, length, prefixOf(0xc0, length))
  }
  return encodeBytes(integerBytes(input as bigint | number))
}

/** RLP of a list whose items are encoded already. */
export function encodeListOf(encoded: readonly Uint8Array[]): Uint8Array {
  let length = 0
  for (const part of encoded) length += part.length
  return joinParts(encoded, length, prefixOf(0xc0, length))
}

/** RLP length of a list whose items, encoded, have `payloadLength` bytes together. */
export function listLength(payloadLength: number): number {
  return prefixOf(0xc0, payloadLength).length + payloadLength
}

function encodeBytes(bytes: Uint8Array): Uint8Array {
  if (bytes.length === 1 && bytes[0] < 0x80) return bytes
  return joinParts([bytes], bytes.length, prefixOf(0x80, bytes.length))
}

/** Gathers prefixes and payloads of the items in order; returns their length together. */
function collect(items: readonly RlpInput[], parts: Uint8Array[]): number {
  let total = 0
  for (const item of items) {
    if (Array.isArray(item)) {
      const at = parts.length
      parts.push(EMPTY_BYTES) // the place of the prefix, known only after the payload
      const length = collect(item, parts)
      parts[at] = prefixOf(0xc0, length)
      total += parts[at].length + length
      continue
    }
    const bytes = item instanceof Uint8Array ? item : integerBytes(item as bigint | number)
    if (bytes.length !== 1 || bytes[0] >= 0x80) {
      const prefix = prefixOf(0x80, bytes.length)
      parts.push(prefix)
      total += prefix.length
    }
    parts.push(bytes)
    total += bytes.length
  }
  return total
}

function integerBytes(value: bigint | number): Uint8Array {
  if (value < 0 || (typeof value === 'number' && !Number.isSafeInteger(value))) {
    throw new RangeError(`RLP holds non-negative integers only, got ${value}`)
  }
  return bigIntToBytes(value)
}

const SHORT_PREFIXES = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte))

function prefixOf(offset: number, length: number): Uint8Array {
  if (length <= 55) return SHORT_PREFIXES[offset + length]
  const lengthBytes = bigIntToBytes(length)
  const prefix = new Uint8Array(1 + lengthBytes.length)
  prefix[0] = offset + 55 + lengthBytes.length
  prefix.set(lengthBytes, 1)
  return prefix
}

function joinParts(parts: readonly Uint8Array[], length: number, prefix: Uint8Array): Uint8Array {
  const out = new Uint8Array(prefix.length + length)
  out.set(prefix, 0)
  let at = prefix.length
  for (const part of parts) {
    out.set(part, at)
    at += part.length
  }
  return out
}
