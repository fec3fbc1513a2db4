import { CairnError } from '../../../lib/errors.js'
import { abbreviate } from '../../../lib/hex.js'
import { type Felt, parseBareFelt, parseFelt, parseFeltOrDecimal } from '../felt.js'

/** A recording that is not a layer-2 block, or has an invalid value. The message starts with the path of the field. */
export class InvalidL2Recording extends CairnError {}

/** A value of a recording with its path, such as `block.transactions[3].type`. */
export interface Field {
  readonly value: unknown
  readonly path: string
}

/** The member of an object; its value is undefined when it is absent or null.
 *  @throws InvalidL2Recording when the field is not an object. */
export function member(field: Field, name: string): Field {
  const { value, path } = field
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw unexpected(field, 'an object')
  const held = Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined
  return { value: held ?? undefined, path: `${path}.${name}` }
}

/** The value as read by `read`; undefined when the field is absent. */
export function optional<T>(field: Field, read: (field: Field) => T): T | undefined {
  return field.value === undefined ? undefined : read(field)
}

/** The entries of an array, read by `read`.
 *  @throws InvalidL2Recording when the field is not an array. */
export function list<T>(field: Field, read: (field: Field) => T): T[] {
  if (!Array.isArray(field.value)) throw unexpected(field, 'an array')
  return field.value.map((value, i) => read({ value, path: `${field.path}[${i}]` }))
}

/** The entries of an object whose keys are felts, read by `read`.
 *  @throws InvalidL2Recording when the field is not an object or a key is not a felt. */
export function feltMap<T>(field: Field, read: (key: Felt, value: Field) => T): T[] {
  if (typeof field.value !== 'object' || field.value === null || Array.isArray(field.value)) {
    throw unexpected(field, 'an object')
  }
  return Object.entries(field.value).map(([name, value]) => {
    const key = parseFelt(name)
    if (key === undefined) throw unexpected({ value: name, path: `${field.path} key` }, 'a felt such as 0x1b4')
    return read(key, { value, path: `${field.path}.${name}` })
  })
}

/** A felt in hex with `0x`. */
export function felt(field: Field): Felt {
  return readFelt(field, parseFelt, 'a felt such as 0x1b4')
}

/** A felt in hex, with or without `0x`. */
export function bareFelt(field: Field): Felt {
  return readFelt(field, parseBareFelt, 'a felt in hex')
}

/** A felt in hex with `0x`, or in decimal. */
export function feltOrDecimal(field: Field): Felt {
  return readFelt(field, parseFeltOrDecimal, 'a felt in hex with 0x or in decimal')
}

function readFelt(field: Field, parse: (text: string) => Felt | undefined, expected: string): Felt {
  const value = typeof field.value === 'string' ? parse(field.value) : undefined
  if (value === undefined) throw unexpected(field, expected)
  return value
}

/** An integer from 0 to 2^53 - 1: a count, block number or Unix time. */
export function safeInteger(field: Field): number {
  const value = Number(amount(field))
  if (!Number.isSafeInteger(value)) throw unexpected(field, 'an integer from 0 to 2^53 - 1')
  return value
}

/** A non-negative integer: a safe JSON number, a string of up to 78 decimal digits, or `0x` and up to 64 hex digits. */
export function amount(field: Field): bigint {
  const { value } = field
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return BigInt(value)
  if (typeof value === 'string' && /^([0-9]{1,78}|0[xX][0-9a-fA-F]{1,64})$/.test(value)) return BigInt(value)
  throw unexpected(field, 'a non-negative integer')
}

/** A string. */
export function text(field: Field): string {
  if (typeof field.value !== 'string') throw unexpected(field, 'a string')
  return field.value
}

/** One of the strings `values`. */
export function oneOf<const T extends string>(field: Field, values: readonly T[]): T {
  const found = values.find((value) => value === field.value)
  if (found === undefined) throw unexpected(field, `one of ${values.join(', ')}`)
  return found
}

/** An error that reads `path: expected …, got …`. */
export function unexpected({ value, path }: Field, expected: string): InvalidL2Recording {
  const got =
    typeof value === 'string' ? JSON.stringify(abbreviate(value)) : value === undefined ? 'nothing' : describe(value)
  return new InvalidL2Recording(`${path}: expected ${expected}, got ${got}`)
}

function describe(value: unknown): string {
  if (Array.isArray(value)) return `an array of ${value.length}`
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}
