import { equalBytes } from '../../lib/bytes.js'
import { InvalidValue, invalidParams } from '../core/errors.js'
import {
  address,
  arrayOf,
  type BlockNumberOrTag,
  blockNumberOrTag,
  decodeMembers,
  hash32,
  invalidValue,
  isAbsent,
  required,
  type ValueType,
} from '../core/params.js'

/** A filter object as received. Absent bounds are undefined. */
export interface LogFilterObject {
  blockHash?: Uint8Array // 32
  fromBlock?: BlockNumberOrTag
  toBlock?: BlockNumberOrTag
  addresses: Uint8Array[] // 20 each; empty: any
  topics: (Uint8Array[] | null)[]
}

const oneOrMore = (type: ValueType<Uint8Array>) => ({ oneOf: [type.schema, { type: 'array', items: type.schema }] })

/** A filter object. */
export const logFilter: ValueType<LogFilterObject> = {
  schema: {
    title: 'log filter',
    type: 'object',
    properties: {
      blockHash: hash32.schema,
      fromBlock: blockNumberOrTag.schema,
      toBlock: blockNumberOrTag.schema,
      address: oneOrMore(address),
      topics: {
        type: 'array',
        maxItems: 4,
        items: { oneOf: [{ type: 'null' }, hash32.schema, { type: 'array', items: hash32.schema }] },
      },
    },
  },
  decode: (value, path) => {
    const object = decodeMembers(value, path)
    const blockHash = decodeBlockHash(object, path)
    const { fromBlock, toBlock } = object
    if (blockHash && !(isAbsent(fromBlock) && isAbsent(toBlock))) {
      throw new InvalidValue('cannot specify both BlockHash and FromBlock/ToBlock, choose one or the other')
    }
    return {
      blockHash,
      fromBlock: isAbsent(fromBlock) ? undefined : blockNumberOrTag.decode(fromBlock, `${path}.fromBlock`),
      toBlock: isAbsent(toBlock) ? undefined : blockNumberOrTag.decode(toBlock, `${path}.toBlock`),
      addresses: decodeAddresses(object.address, `${path}.address`),
      topics: decodeTopics(object.topics, `${path}.topics`),
    }
  },
}

/** Both spellings of the API specification are accepted. */
function decodeBlockHash(object: { readonly [name: string]: unknown }, path: string): Uint8Array | undefined {
  const [first, second] = ['blockHash', 'blockhash']
    .filter((name) => !isAbsent(object[name]))
    .map((name) => hash32.decode(object[name], `${path}.${name}`))
  if (first && second && !equalBytes(first, second)) throw new InvalidValue(`${path}: blockHash and blockhash differ`)
  return first
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
