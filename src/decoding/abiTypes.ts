import { abbreviate } from '../lib/hex.js'
import { InvalidAbi } from './errors.js'

/** A type of the Solidity ABI. */
export type AbiType =
  | { readonly kind: 'uint' | 'int'; readonly bits: number }
  | { readonly kind: 'address' | 'bool' | 'bytes' | 'string' }
  /** `isFunction`: written `function` in ABIs and signatures, an address and a selector. */
  | { readonly kind: 'fixedBytes'; readonly size: number; readonly isFunction?: boolean }
  | { readonly kind: 'array'; readonly item: AbiType; readonly length?: number }
  | { readonly kind: 'tuple'; readonly components: readonly AbiParameter[] }

/** A named value; the name may be empty. */
export interface AbiParameter {
  readonly name: string
  readonly type: AbiType
}

// Far beyond what compilers emit. Readers recurse as deep as the type, and allocate no more than the data contains.
const MAX_DEPTH = 16
const MAX_TYPE_CHARACTERS = 4096
const MAX_STATIC_BYTES = 1_048_576

const EXPECTED = 'uint8 to uint256, int8 to int256, address, bool, bytes, bytes1 to bytes32, string, tuple, or an array'

/** Parses a type such as `uint256[2][]`; `components` are those of a `tuple`. @throws InvalidAbi */
export function parseType(text: string, components?: readonly AbiParameter[]): AbiType {
  const refuse = (expected = EXPECTED) => new InvalidAbi({ field: 'type', value: abbreviate(text), expected })
  if (text.length > MAX_TYPE_CHARACTERS) throw refuse(`at most ${MAX_TYPE_CHARACTERS} characters`)
  const [, base, suffixes] = /^(.*?)((?:\[\d*\])*)$/s.exec(text)!
  let type = parseBase(base, components)
  if (type === undefined) throw refuse()
  for (const [, length] of suffixes.matchAll(/\[(\d*)\]/g)) {
    if (length !== '' && Number(length) === 0) throw refuse('an array of at least one item')
    type = length === '' ? { kind: 'array', item: type } : { kind: 'array', item: type, length: Number(length) }
  }
  if (depthOf(type) > MAX_DEPTH) throw refuse(`at most ${MAX_DEPTH} levels of arrays and tuples`)
  if (headBytes(type) > MAX_STATIC_BYTES) throw refuse(`a static size of at most ${MAX_STATIC_BYTES} bytes`)
  return type
}

function parseBase(base: string, components: readonly AbiParameter[] | undefined): AbiType | undefined {
  if (base === 'tuple') return components && components.length > 0 ? { kind: 'tuple', components } : undefined
  if (base === 'address' || base === 'bool' || base === 'bytes' || base === 'string') return { kind: base }
  if (base === 'function') return { kind: 'fixedBytes', size: 24, isFunction: true }
  const [, word, digits] = /^(u?int|bytes)(\d*)$/.exec(base) ?? []
  if (word === 'bytes') return Number(digits) >= 1 && Number(digits) <= 32 ? fixedBytes(digits) : undefined
  if (word !== 'uint' && word !== 'int') return undefined
  const bits = digits === '' ? 256 : Number(digits)
  return bits >= 8 && bits <= 256 && bits % 8 === 0 && !digits.startsWith('0') ? { kind: word, bits } : undefined
}

function fixedBytes(digits: string): AbiType | undefined {
  return digits.startsWith('0') ? undefined : { kind: 'fixedBytes', size: Number(digits) }
}

/** Formats the type as in signatures: `(address,uint256)[]`. */
export function formatType(type: AbiType): string {
  switch (type.kind) {
    case 'uint':
    case 'int':
      return `${type.kind}${type.bits}`
    case 'fixedBytes':
      return type.isFunction ? 'function' : `bytes${type.size}`
    case 'array':
      return `${formatType(type.item)}[${type.length ?? ''}]`
    case 'tuple':
      return `(${type.components.map((component) => formatType(component.type)).join(',')})`
    default:
      return type.kind
  }
}

/** Returns true if values of the type are encoded behind an offset. */
export function isDynamic(type: AbiType): boolean {
  if (type.kind === 'array') return type.length === undefined || isDynamic(type.item)
  if (type.kind === 'tuple') return type.components.some((component) => isDynamic(component.type))
  return type.kind === 'bytes' || type.kind === 'string'
}

/** Returns the size of a value's head in bytes; that of a dynamic value is its offset. */
export function headBytes(type: AbiType): number {
  if (isDynamic(type)) return 32
  if (type.kind === 'array') return type.length! * headBytes(type.item)
  if (type.kind === 'tuple') return type.components.reduce((sum, component) => sum + headBytes(component.type), 0)
  return 32
}

function depthOf(type: AbiType): number {
  if (type.kind === 'array') return 1 + depthOf(type.item)
  if (type.kind === 'tuple') return 1 + Math.max(...type.components.map((component) => depthOf(component.type)))
  return 0
}
