import { InvalidValue, invalidParams } from '../core/errors.js'
import {
  address,
  arrayOf,
  type BlockNumberOrTag,
  blockNumberOrTag,
  hash32,
  invalidValue,
  isAbsent,
  maybe,
  required,
  type ValueType,
} from '../core/params.js'
import { strictObject } from '../core/strictObject.js'

/** A filter object as received. Absent bounds are undefined. */
export interface LogFilterObject {
  blockHash?: Uint8Array // 32
  fromBlock?: BlockNumberOrTag
  toBlock?: BlockNumberOrTag
  addresses: Uint8Array[] // 20 each; empty: any
  topics: (Uint8Array[] | null)[]
}

/** An address or a list of them; empty: any. */
export const addresses: ValueType<Uint8Array[]> = {
  schema: { oneOf: [address.schema, { type: 'array', items: address.schema }] },
  optional: true,
  decode: decodeAddresses,
}

/** Topics by position, null for any. */
export const topics: ValueType<(Uint8Array[] | null)[]> = {
  schema: {
    type: 'array',
    maxItems: 4,
    items: { oneOf: [{ type: 'null' }, hash32.schema, { type: 'array', items: hash32.schema }] },
  },
  optional: true,
  decode: decodeTopics,
}

// `blockhash` is the other spelling of the API specification.
const members = strictObject(
  {
    blockHash: maybe(hash32),
    fromBlock: maybe(blockNumberOrTag),
    toBlock: maybe(blockNumberOrTag),
    address: addresses,
    topics,
  },
  { title: 'log filter', aliases: { blockhash: 'blockHash' } },
)

/** A filter object. */
export const logFilter: ValueType<LogFilterObject> = {
  schema: members.schema,
  decode: (value, path) => {
    const { address: wanted, ...filter } = members.decode(value, path)
    requireOneRange(filter)
    return { ...filter, addresses: wanted }
  },
}

/** @throws InvalidValue for a filter with both a block hash and a bound */
export function requireOneRange({ blockHash, fromBlock, toBlock }: Partial<LogFilterObject>): void {
  if (blockHash && (fromBlock !== undefined || toBlock !== undefined)) {
    throw new InvalidValue('cannot specify both BlockHash and FromBlock/ToBlock, choose one or the other')
  }
}

function decodeAddresses(value: unknown, path: string): Uint8Array[] {
  if (isAbsent(value)) return []
  if (typeof value === 'string') return [address.decode(value, path)]
  if (!Array.isArray(value)) throw invalidValue(path, '20-byte data or an array of it', value)
  return arrayOf(address).decode(value, path)
}

function decodeTopics(value: unknown, path: string): (Uint8Array[] | null)[] {
  if (isAbsent(value)) return []
  if (!Array.isArray(value)) throw invalidValue(path, 'an array', value)
  if (value.length > 4) throw invalidParams('exceed max topics')
  return value.map((item, i) => decodeTopic(item, `${path}[${i}]`))
}

/** One position: null, or a list containing null, matches any value, as in geth. */
function decodeTopic(value: unknown, path: string): Uint8Array[] | null {
  if (isAbsent(value)) return null
  if (!Array.isArray(value)) return [hash32.decode(value, path)]
  const values = value.map((item, i) => (isAbsent(item) ? null : hash32.decode(item, `${path}[${i}]`)))
  const named = values.filter((item) => item !== null)
  return named.length === values.length && named.length > 0 ? named : null
}

/** The parameter of `eth_getLogs`. */
export const logFilterParam = required(
  'filter',
  logFilter,
  'one block by `blockHash`, or a range `fromBlock` to `toBlock` (default `latest`); `address`: one or a list; ' +
    '`topics`: per position one value, a list, or null for any',
)
