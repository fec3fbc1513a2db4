import { addedType, describeTypes, MAX_ETHEREUM_TYPE } from '../../chain/eth/families/addedTypes.js'
import { DecodeError } from '../../chain/eth/rlp.js'
import type { TransactionType } from '../../chain/eth/types.js'
import { bigIntToFixedBytes, equalBytes } from '../../lib/bytes.js'
import { abbreviate, formatData, parseHex } from '../../lib/hex.js'
import { isObject } from '../upstreams/jsonRpc.js'

/** Readers of the members of a JSON object. `undefined` and `null` both mean that a member is absent. All throw
 *  DecodeError with the name of the member. */
export interface Fields {
  readonly path: string
  has(name: string): boolean
  /** The member as it is. */
  member(name: string): unknown
  /** DATA of any length. */
  data(name: string): Uint8Array
  /** DATA of exactly `length` bytes. */
  fixed(name: string, length: number): Uint8Array
  /** QUANTITY. Leading zeros are accepted: hashes are recomputed from the value. */
  quantity(name: string): bigint
  /** QUANTITY below 2^53. */
  integer(name: string): number
  optional<T>(name: string, read: (name: string) => T): T | undefined
  array(name: string): unknown[]
  /** An array of DATA of 32 bytes each. */
  hashes(name: string): Uint8Array[]
  /** Requires DATA to be `expected`: another value throws. */
  requireSame(name: string, expected: Uint8Array): void
}

const QUANTITY = /^0x[0-9a-f]{1,64}$/i

/** Creates readers of `value`. @throws DecodeError at `path` when it is not an object. */
export function readFields(value: unknown, path: string): Fields {
  if (!isObject(value)) throw new DecodeError(path, `expected an object, got ${show(value)}`)
  const fail = (name: string, expected: string): never => {
    throw new DecodeError(`${path}.${name}`, `expected ${expected}, got ${show(value[name])}`)
  }
  const fields: Fields = {
    path,
    has: (name) => value[name] !== undefined && value[name] !== null,
    member: (name) => value[name],
    data: (name) => parseData(value[name]) ?? fail(name, 'hex data'),
    fixed: (name, length) => {
      const bytes = parseData(value[name])
      return bytes?.length === length ? bytes : fail(name, `${length} bytes of hex data`)
    },
    quantity: (name) => {
      const text = value[name]
      return typeof text === 'string' && QUANTITY.test(text) ? BigInt(text) : fail(name, 'a hex quantity')
    },
    integer: (name) => {
      const number = Number(fields.quantity(name))
      return Number.isSafeInteger(number) ? number : fail(name, 'a hex quantity below 2^53')
    },
    optional: (name, read) => (fields.has(name) ? read(name) : undefined),
    array: (name) => {
      const items = value[name]
      return Array.isArray(items) ? items : fail(name, 'an array')
    },
    hashes: (name) =>
      fields.array(name).map((item) => {
        const bytes = parseData(item)
        return bytes?.length === 32 ? bytes : fail(name, '32 bytes of hex data each')
      }),
    requireSame: (name, expected) => {
      if (!equalBytes(fields.fixed(name, expected.length), expected)) fail(name, formatData(expected))
    },
  }
  return fields
}

/** Returns the bytes of hex data; undefined for anything else. */
export function parseData(value: unknown): Uint8Array | undefined {
  if (typeof value !== 'string' || !value.startsWith('0x')) return undefined
  try {
    return parseHex(value)
  } catch {
    return undefined
  }
}

/** Returns a slot or its value, which nodes write as data of 32 bytes or as a quantity, as 32 bytes.
 *  @throws DecodeError */
export function readSlot(value: unknown): Uint8Array {
  const data = parseData(value)
  return data?.length === 32
    ? data
    : bigIntToFixedBytes(readFields({ slot: value }, 'access list').quantity('slot'), 32)
}

/** Returns the type of a transaction or receipt; 0 where it is absent, as at nodes without EIP-2718.
 *  @throws DecodeError for a type that no family has. */
export function readTransactionType(fields: Fields): TransactionType {
  const type = fields.optional('type', fields.integer) ?? 0
  if (type > MAX_ETHEREUM_TYPE && addedType(type) === undefined) {
    throw new DecodeError(`${fields.path}.type`, `expected ${describeTypes(0)}, got ${type}`)
  }
  return type as TransactionType
}

function show(value: unknown): string {
  if (value === undefined) return 'nothing'
  return abbreviate(typeof value === 'string' ? value : JSON.stringify(value))
}
