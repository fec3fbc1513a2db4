import { EMPTY_BYTES } from '../../lib/bytes.js'
import { abbreviate, parseHex } from '../../lib/hex.js'
import { InvalidValue } from './errors.js'
import type { JsonSchema, Param } from './method.js'

/** A decoder of one kind of JSON value, with its schema. `path` locates the value in messages. */
export interface ValueType<T> {
  readonly schema: JsonSchema
  /** True if the member may be absent or null; it is then decoded from `undefined`, once for all. */
  readonly optional?: boolean
  /** @throws InvalidValue with the path, what was expected and what was found. */
  decode(value: unknown, path: string): T
}

/** Block tags (execution-apis, schemas/block: BlockTag). */
export const BLOCK_TAGS = ['latest', 'earliest', 'pending', 'safe', 'finalized'] as const
export type BlockTag = (typeof BLOCK_TAGS)[number]

/** A block by hash (EIP-1898). */
export interface BlockHashId {
  hash: Uint8Array // 32
  /** If false, a stored block that is not canonical would be accepted. */
  requireCanonical: boolean
}

/** A block by number or tag. */
export type BlockNumberOrTag = number | BlockTag
/** A block by number, tag or hash. */
export type BlockId = BlockNumberOrTag | BlockHashId

/** A required parameter. */
export function required<T>(name: string, type: ValueType<T>, summary: string): Param<T> {
  const decode = (value: unknown, path: string) => type.decode(value, path || name)
  return { name, summary, required: true, schema: type.schema, decode }
}

/** An optional parameter: `undefined` if absent or null, or `fallback`. */
export function optional<T>(name: string, type: ValueType<T>, summary: string): Param<T | undefined>
export function optional<T>(name: string, type: ValueType<T>, summary: string, fallback: T): Param<T>
export function optional<T>(name: string, type: ValueType<T>, summary: string, fallback?: T): Param<T | undefined> {
  const decode = (value: unknown, path: string) => (isAbsent(value) ? fallback : type.decode(value, path || name))
  return { name, summary, required: false, schema: type.schema, decode }
}

/** The error of a decoder: `path: expected …, got …`. */
export function invalidValue(path: string, expected: string, value: unknown): InvalidValue {
  return new InvalidValue(`${path}: expected ${expected}, got ${describe(value)}`)
}

/** QUANTITY of at most 256 bits, without leading zeros (execution-apis, schemas/base-types: uint256). */
export const quantity: ValueType<bigint> = {
  schema: { type: 'string', title: 'QUANTITY', pattern: '^0x(0|[1-9a-fA-F][0-9a-fA-F]{0,63})$' },
  decode: decodeQuantity,
}

/** QUANTITY of at most 64 bits: gas, nonces. */
export const quantity64: ValueType<bigint> = {
  schema: { type: 'string', title: 'QUANTITY', pattern: '^0x(0|[1-9a-fA-F][0-9a-fA-F]{0,15})$' },
  decode: (value, path) => {
    const number = decodeQuantity(value, path)
    if (number >> 64n) throw invalidValue(path, 'a quantity of at most 64 bits', value)
    return number
  },
}

/** Replaces block numbers, indexes and counts from 2^53 on: no such block exists, and comparisons with head and limits
 *  work. */
export const BEYOND_ALL = Number.POSITIVE_INFINITY

/** QUANTITY of an index or a count; `BEYOND_ALL` from 2^53 on. */
export const index: ValueType<number> = { schema: quantity.schema, decode: decodeIndex }

/** A count as quantity, decimal string or JSON number, for `eth_feeHistory`. */
export const indexOrDecimal: ValueType<number> = {
  schema: { oneOf: [index.schema, { type: 'integer', minimum: 0 }] },
  decode: (value, path) => decodeDecimal(value) ?? decodeIndex(value, path),
}

/** DATA of any length. */
export const data: ValueType<Uint8Array> = {
  schema: { type: 'string', title: 'DATA', pattern: '^0x([0-9a-fA-F]{2})*$' },
  decode: (value, path) => decodeData(value, path, 'hex data such as 0x00ff'),
}

/** DATA of any length; `""` is no data, as in geth. */
export const dataOrEmpty: ValueType<Uint8Array> = {
  schema: { type: 'string', title: 'DATA', pattern: '^(0x([0-9a-fA-F]{2})*)?$' },
  decode: (value, path) => (value === '' ? EMPTY_BYTES : data.decode(value, path)),
}

/** DATA of 32 bytes. */
export const hash32 = fixedData('HASH32', 32)

/** DATA of 20 bytes; case is ignored (EIP-55 checksums are not checked). */
export const address = fixedData('ADDRESS20', 20)

/** DATA of exactly `length` bytes. */
function fixedData(title: string, length: number): ValueType<Uint8Array> {
  const expected = `${length}-byte data`
  return {
    schema: { type: 'string', title, pattern: `^0x[0-9a-fA-F]{${length * 2}}$` },
    decode: (value, path) => {
      const bytes = decodeData(value, path, expected)
      if (bytes.length !== length) throw invalidValue(path, expected, value)
      return bytes
    },
  }
}

/** A storage slot: up to 32 bytes of hex, odd lengths and leading zeros included; padded to 32 bytes. */
export const slot: ValueType<Uint8Array> = {
  schema: { type: 'string', title: 'storage slot', pattern: '^0x[0-9a-fA-F]{0,64}$' },
  decode: (value, path) => {
    if (typeof value !== 'string' || !/^0[xX][0-9a-fA-F]*$/.test(value)) {
      throw invalidValue(path, 'a storage slot of hex digits such as 0x0', value)
    }
    if (value.length > 66) throw invalidValue(path, 'a storage slot of at most 32 bytes', value)
    return parseHex(value.slice(2).padStart(64, '0'))
  },
}

/** `true` or `false`. */
export const boolean: ValueType<boolean> = {
  schema: { type: 'boolean' },
  decode: (value, path) => {
    if (typeof value !== 'boolean') throw invalidValue(path, 'true or false', value)
    return value
  },
}

/** A JSON string. */
export const text: ValueType<string> = {
  schema: { type: 'string' },
  decode: (value, path) => {
    if (typeof value !== 'string') throw invalidValue(path, 'a string', value)
    return value
  },
}

/** One of the listed words. */
export function oneOf<const T extends string>(words: readonly T[]): ValueType<T> {
  return {
    schema: { type: 'string', enum: words },
    decode: (value, path) => {
      const found = words.find((word) => word === value)
      if (found === undefined) throw invalidValue(path, `one of ${words.join(', ')}`, value)
      return found
    },
  }
}

/** A JSON number within [minimum, maximum]. */
export function numberBetween(minimum: number, maximum: number): ValueType<number> {
  return {
    schema: { type: 'number', minimum, maximum },
    decode: (value, path) => {
      if (typeof value !== 'number' || value < minimum || value > maximum) {
        throw invalidValue(path, `a number from ${minimum} to ${maximum}`, value)
      }
      return value
    },
  }
}

/** A JSON integer within [minimum, maximum]. */
export function integerBetween(minimum: number, maximum: number): ValueType<number> {
  return {
    schema: { type: 'integer', minimum, maximum },
    decode: (value, path) => {
      if (!Number.isInteger(value) || (value as number) < minimum || (value as number) > maximum) {
        throw invalidValue(path, `a whole number from ${minimum} to ${maximum}`, value)
      }
      return value as number
    },
  }
}

const tagSchema: JsonSchema = { type: 'string', enum: BLOCK_TAGS }

/** The block parameter of the API specification: a QUANTITY or a tag. */
export const blockNumberOrTag: ValueType<BlockNumberOrTag> = {
  schema: { title: 'block parameter', oneOf: [index.schema, tagSchema] },
  decode: (value, path) => decodeTag(value) ?? decodeBlockNumber(value, path, BLOCK_NUMBER),
}

/** A number, a tag, a 32-byte hash, or an EIP-1898 object with `blockNumber` or `blockHash` and `requireCanonical`. */
export const blockId: ValueType<BlockId> = {
  schema: {
    title: 'block parameter',
    oneOf: [
      index.schema,
      tagSchema,
      hash32.schema,
      {
        type: 'object',
        properties: { blockNumber: index.schema, blockHash: hash32.schema, requireCanonical: { type: 'boolean' } },
      },
    ],
  },
  decode: (value, path) => decodeBlockId(value, path),
}

/** As `blockId`, or a decimal JSON number or string: for `eth_getBlockReceipts`. */
export const blockIdOrDecimal: ValueType<BlockId> = {
  schema: { title: 'block parameter', oneOf: [...(blockId.schema.oneOf as JsonSchema[]), { type: 'integer' }] },
  decode: (value, path) => decodeDecimal(value) ?? decodeBlockId(value, path, BLOCK_OR_DECIMAL),
}

/** An array of values of one type; element paths are `path[i]`. */
export function arrayOf<T>(type: ValueType<T>): ValueType<T[]> {
  return {
    schema: { type: 'array', items: type.schema },
    decode: (value, path) => {
      if (!Array.isArray(value)) throw invalidValue(path, 'an array', value)
      return value.map((item, i) => type.decode(item, `${path}[${i}]`))
    },
  }
}

/** An optional member: `undefined` if absent or null. */
export function maybe<T>(type: ValueType<T>): ValueType<T | undefined> {
  const decode = (value: unknown, path: string) => (isAbsent(value) ? undefined : type.decode(value, path))
  return { schema: type.schema, optional: true, decode }
}

/** An object with the listed members; others are ignored. Member paths are `path.name`. */
export function objectOf<S extends { readonly [name: string]: ValueType<unknown> }>(
  fields: S,
): ValueType<{ [K in keyof S]: S[K] extends ValueType<infer T> ? T : never }> {
  type Value = { [K in keyof S]: S[K] extends ValueType<infer T> ? T : never }
  const names = Object.keys(fields)
  // Most members of a call are absent.
  const absent: Record<string, unknown> = {}
  for (const name of names) absent[name] = fields[name].optional ? fields[name].decode(undefined, name) : undefined
  return {
    schema: {
      type: 'object',
      properties: Object.fromEntries(names.map((name) => [name, fields[name].schema])),
      required: names.filter((name) => !fields[name].optional),
    },
    decode: (value, path) => {
      const members = decodeMembers(value, path)
      const out: Record<string, unknown> = { ...absent }
      for (const name of names) {
        const member = Object.hasOwn(members, name) ? members[name] : undefined
        if (!isAbsent(member)) out[name] = fields[name].decode(member, `${path}.${name}`)
        else if (!fields[name].optional) throw new InvalidValue(`${path}.${name}: missing`)
      }
      return out as Value
    },
  }
}

/** The members of a JSON object. @throws InvalidValue for anything else. */
export function decodeMembers(value: unknown, path: string): { readonly [name: string]: unknown } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalidValue(path, 'an object', value)
  return value as { readonly [name: string]: unknown }
}

/** True for an absent or null member. */
export function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null
}

function decodeQuantity(value: unknown, path: string): bigint {
  if (typeof value !== 'string') throw invalidValue(path, 'a quantity such as "0x1b4"', value)
  if (!/^0[xX]/.test(value)) throw invalidValue(path, 'a quantity with 0x prefix', value)
  if (!/^0[xX][0-9a-fA-F]+$/.test(value)) throw invalidValue(path, 'hex digits after 0x, as in 0x1b4', value)
  if (value.length > 3 && value[2] === '0') throw invalidValue(path, 'a quantity without leading zeros', value)
  if (value.length > 66) throw invalidValue(path, 'a quantity of at most 256 bits', value)
  return BigInt(value)
}

function decodeIndex(value: unknown, path: string): number {
  return toIndex(Number(decodeQuantity(value, path)))
}

function toIndex(number: number): number {
  return Number.isSafeInteger(number) ? number : BEYOND_ALL
}

const TAGS = `or one of ${BLOCK_TAGS.join(', ')}`
const BLOCK_NUMBER = `a block number such as "0x1b4", with 0x prefix, ${TAGS}`
const HASH_OR_OBJECT = 'a 32-byte hash, an object with blockNumber or blockHash'
const BLOCK_ID = `a block number such as "0x1b4", with 0x prefix, ${HASH_OR_OBJECT}, ${TAGS}`
const BLOCK_OR_DECIMAL = `a block number in hex such as "0x1b4" or in decimal such as 436, ${HASH_OR_OBJECT}, ${TAGS}`

function decodeBlockNumber(value: unknown, path: string, expected: string): number {
  if (typeof value !== 'string' || !/^0[xX]/.test(value)) throw invalidValue(path, expected, value)
  return decodeIndex(value, path)
}

function decodeTag(value: unknown): BlockTag | undefined {
  return BLOCK_TAGS.find((tag) => tag === value)
}

// Decimal digits of 2^256.
const MAX_DECIMAL_DIGITS = 78

/** A non-negative integer in decimal, `BEYOND_ALL` from 2^53 on; undefined for anything else. */
function decodeDecimal(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isInteger(value) && value >= 0 ? toIndex(value) : undefined
  if (typeof value !== 'string' || !/^[0-9]+$/.test(value) || value.length > MAX_DECIMAL_DIGITS) return undefined
  return toIndex(Number(value))
}

function decodeBlockId(value: unknown, path: string, expected = BLOCK_ID): BlockId {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return decodeBlockObject(value, path)
  if (typeof value === 'string' && value.length === 66 && /^0[xX]/.test(value)) {
    return { hash: hash32.decode(value, path), requireCanonical: false }
  }
  return decodeTag(value) ?? decodeBlockNumber(value, path, expected)
}

/** EIP-1898. */
function decodeBlockObject(value: object, path: string): BlockId {
  const { blockNumber, blockHash, requireCanonical } = value as Record<string, unknown>
  if (isAbsent(blockNumber) === isAbsent(blockHash)) {
    throw new InvalidValue(`${path}: expected an object with either blockNumber or blockHash`)
  }
  if (!isAbsent(blockNumber)) return blockNumberOrTag.decode(blockNumber, `${path}.blockNumber`)
  return {
    hash: hash32.decode(blockHash, `${path}.blockHash`),
    requireCanonical: isAbsent(requireCanonical) ? false : boolean.decode(requireCanonical, `${path}.requireCanonical`),
  }
}

function decodeData(value: unknown, path: string, expected: string): Uint8Array {
  if (typeof value !== 'string' || !/^0[xX]/.test(value)) throw invalidValue(path, `${expected}, with 0x prefix`, value)
  try {
    return parseHex(value)
  } catch {
    throw invalidValue(path, expected, value)
  }
}

// Names arrays and objects only by kind, because they may be too deep for a recursive formatter.
function describe(value: unknown): string {
  if (typeof value === 'string') return `"${abbreviate(value)}"`
  if (Array.isArray(value)) return `an array of ${value.length}`
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}
