import { formatChecksumAddress } from '../chain/eth/checksumAddress.js'
import { type AbiParameter, type AbiType, headBytes, isDynamic } from './abiTypes.js'

/** A decoded value: integers as decimal text, addresses with EIP-55 checksum, bytes as hex DATA, strings as text. A
 *  tuple is an object by component name, or an array if a component is unnamed or two share a name. */
export type DecodedValue = string | boolean | readonly DecodedValue[] | { readonly [name: string]: DecodedValue }

/** Reads the values of a parameter list from `bytes`, beginning at `start`. Returns null if the encoding is not strict:
 *  offsets or lengths beyond the end, padding of values that is not zero (or the sign), booleans above 1. Accepts bytes
 *  after the last value and missing padding after the last byte of `bytes` and `string`, as old compilers write
 *  them. */
export type ValuesReader = (bytes: Uint8Array, start: number) => DecodedValue[] | null

/** Converts the checksummed addresses of a value to lower case, also in arrays and tuples. A hash in place of the
 *  value, as in topics, is unchanged. */
export function lowerAddresses(type: AbiType, value: DecodedValue): DecodedValue {
  if (typeof value === 'string') return type.kind === 'address' ? value.toLowerCase() : value
  if (typeof value !== 'object') return value
  if (type.kind === 'array') return (value as DecodedValue[]).map((item) => lowerAddresses(type.item, item))
  if (type.kind !== 'tuple') return value
  const { components } = type
  if (Array.isArray(value)) return value.map((item, i) => lowerAddresses(components[i].type, item))
  const typeOf = new Map(components.map((component) => [component.name, component.type]))
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, lowerAddresses(typeOf.get(name)!, item)]),
  )
}

interface Source {
  readonly bytes: Buffer
  /** End of the last byte that was read, its padding included. */
  end: number
  /** Bytes that may still be read. Offsets may overlap: without a limit, a few bytes could expand to many values. */
  budget: number
}

/** Reads a value whose head is at `at`; offsets count from `base`. */
type Reader = (source: Source, at: number, base: number) => DecodedValue

/** Ordinary encoders share at most a few tails. */
const MAX_READS_PER_BYTE = 4

const MALFORMED = new Error('malformed ABI data') // shared, without a stack per throw: untrusted input causes it

/** Compiles a reader of the parameters. With `isExact` it returns null, too, if bytes follow the last value; the
 *  padding of the last value may be missing. */
export function compileReader(parameters: readonly AbiParameter[], { isExact = false } = {}): ValuesReader {
  const readers = compileMembers(parameters)
  return (bytes, start) => {
    const buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    const source = { bytes: buffer, end: start, budget: MAX_READS_PER_BYTE * buffer.length }
    try {
      const values = readers.map(({ read, offset }) => read(source, start + offset, start))
      return isExact && source.end < buffer.length ? null : values
    } catch (error) {
      if (error === MALFORMED) return null
      throw error
    }
  }
}

interface Member {
  readonly read: Reader
  /** Bytes from the start of the heads. */
  readonly offset: number
}

function compileMembers(parameters: readonly AbiParameter[]): Member[] {
  let end = 0
  return parameters.map(({ type }) => {
    const offset = end
    end += headBytes(type)
    return { read: compileHead(type), offset }
  })
}

/** Compiles a reader of a head: the value, or the offset of a dynamic one. */
function compileHead(type: AbiType): Reader {
  const read = compileBody(type)
  if (!isDynamic(type)) return read
  return (source, at, base) => {
    const target = base + readLength(source, at)
    return read(source, target, target)
  }
}

function compileBody(type: AbiType): Reader {
  switch (type.kind) {
    case 'uint':
      return (source, at) => readUint(source.bytes, takeWord(source, at), type.bits)
    case 'int':
      return (source, at) => readInt(source.bytes, takeWord(source, at), type.bits)
    case 'address':
      return (source, at) => readAddress(source.bytes, takeWord(source, at))
    case 'bool':
      return (source, at) => readBool(source.bytes, takeWord(source, at))
    case 'fixedBytes':
      return (source, at) => readFixedBytes(source.bytes, takeWord(source, at), type.size)
    case 'bytes':
      return (source, at) => {
        const [from, to] = takeBytes(source, at)
        return `0x${source.bytes.toString('hex', from, to)}`
      }
    case 'string':
      return (source, at) => {
        const [from, to] = takeBytes(source, at)
        return source.bytes.toString('utf8', from, to)
      }
    case 'array':
      return compileArray(type.item, type.length)
    case 'tuple':
      return compileTuple(type.components)
  }
}

function compileArray(item: AbiType, fixed: number | undefined): Reader {
  const read = compileHead(item)
  const size = headBytes(item)
  return (source, at) => {
    const length = fixed ?? readLength(source, at)
    const first = fixed === undefined ? at + 32 : at
    if (first + length * size > source.bytes.length) throw MALFORMED
    const items: DecodedValue[] = []
    for (let i = 0; i < length; i++) items.push(read(source, first + i * size, first))
    return items
  }
}

function compileTuple(components: readonly AbiParameter[]): Reader {
  const members = compileMembers(components)
  const names = components.map(({ name }) => name)
  const areNames = names.every((name) => name !== '') && new Set(names).size === names.length
  return (source, at) => {
    const values = members.map(({ read, offset }) => read(source, at + offset, at))
    return areNames ? Object.fromEntries(values.map((value, i) => [names[i], value])) : values
  }
}

/** Charges for a word at `at` and returns `at`. */
function takeWord(source: Source, at: number): number {
  source.budget -= 32
  if (source.budget < 0 || at + 32 > source.bytes.length) throw MALFORMED
  if (at + 32 > source.end) source.end = at + 32
  return at
}

/** Reads an offset or a length; none is valid beyond the data. */
function readLength(source: Source, at: number): number {
  const { bytes } = source
  const word = takeWord(source, at)
  const length = bytes.readUInt32BE(word + 28)
  if (length > bytes.length || !isFilled(bytes, word, word + 28, 0)) throw MALFORMED
  return length
}

/** Returns the bounds of the bytes after their length: from, to. */
function takeBytes(source: Source, at: number): [number, number] {
  const length = readLength(source, at)
  const from = at + 32
  source.budget -= length
  if (source.budget < 0 || from + length > source.bytes.length) throw MALFORMED
  const end = from + 32 * Math.ceil(length / 32)
  if (end > source.end) source.end = end
  return [from, from + length]
}

function isFilled(bytes: Buffer, from: number, to: number, value: number): boolean {
  for (let i = from; i < to; i++) if (bytes[i] !== value) return false
  return true
}

function readUint(bytes: Buffer, at: number, bits: number): string {
  if (bits < 256 && !isFilled(bytes, at, at + 32 - bits / 8, 0)) throw MALFORMED
  return formatUint(bytes, at)
}

/** Formats a word as decimal text. Most values need few bytes: a double has room for 6, a 64-bit BigInt for 8. */
function formatUint(bytes: Buffer, at: number): string {
  let first = at
  while (first < at + 31 && bytes[first] === 0) first++
  if (first >= at + 26) return String(bytes.readUIntBE(at + 26, 6))
  if (first >= at + 24) return bytes.readBigUInt64BE(at + 24).toString()
  if (first < at + 16) return BigInt(`0x${bytes.toString('hex', first, at + 32)}`).toString()
  return ((bytes.readBigUInt64BE(at + 16) << 64n) | bytes.readBigUInt64BE(at + 24)).toString()
}

function readInt(bytes: Buffer, at: number, bits: number): string {
  const first = at + 32 - bits / 8
  const isNegative = bytes[first] >= 0x80
  if (!isFilled(bytes, at, first, isNegative ? 0xff : 0)) throw MALFORMED
  if (!isNegative) return formatUint(bytes, at)
  return BigInt.asIntN(256, BigInt(`0x${bytes.toString('hex', at, at + 32)}`)).toString()
}

function readAddress(bytes: Buffer, at: number): string {
  if (!isFilled(bytes, at, at + 12, 0)) throw MALFORMED
  return checksum(bytes, at + 12)
}

// A chain's busy addresses repeat: a checksum costs a Keccak hash, a lookup a tenth of that.
const MAX_REMEMBERED = 65_536
const checksums = new Map<string, string>()

/** Returns the checksummed address at `at`. */
function checksum(bytes: Buffer, at: number): string {
  const key = bytes.toString('latin1', at, at + 20)
  const known = checksums.get(key)
  if (known !== undefined) return known
  const text = formatChecksumAddress(bytes.subarray(at, at + 20))
  if (checksums.size === MAX_REMEMBERED) checksums.clear()
  checksums.set(key, text)
  return text
}

function readBool(bytes: Buffer, at: number): boolean {
  if (bytes[at + 31] > 1 || !isFilled(bytes, at, at + 31, 0)) throw MALFORMED
  return bytes[at + 31] === 1
}

function readFixedBytes(bytes: Buffer, at: number, size: number): string {
  if (!isFilled(bytes, at + size, at + 32, 0)) throw MALFORMED
  return `0x${bytes.toString('hex', at, at + size)}`
}
