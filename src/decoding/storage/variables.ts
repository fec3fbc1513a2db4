import { keccak256 } from '../../chain/crypto.js'
import { formatChecksumAddress } from '../../chain/eth/checksumAddress.js'
import { bigIntToFixedBytes, bytesToBigInt, concatBytes, padLeft } from '../../lib/bytes.js'
import { CairnError } from '../../lib/errors.js'
import { formatData } from '../../lib/hex.js'
import { encodeKey } from './keys.js'
import type { StorageLayout, StorageType, StorageVariable } from './layout.js'

/** A variable, a member of a struct, an element of an array or a value of a mapping, as it is stored. */
export interface StoredVariable {
  /** Label of the variable or member, the index, or the key as it was written. */
  readonly name: string
  /** In Solidity's words. */
  readonly type: string
  readonly slot: Uint8Array // 32
  /** Bytes of the slot behind it, 0 to 31. */
  readonly offset: number
  /** Integers in decimal, addresses with EIP-55 checksum, bytes in hex, strings as text; null for what has parts. */
  readonly value: string | boolean | null
  /** Members of a struct or the first elements of an array; absent for other types. */
  readonly parts?: readonly StoredVariable[]
  /** Elements of an array, bytes of a string; absent for other types. */
  readonly length?: bigint
  /** Type of the keys of a mapping; absent for other types. */
  readonly keyType?: string
  /** True if parts or bytes are left out. */
  readonly isCut: boolean
}

/** A path that leads to nothing. The message says where it ends. */
export class UnknownPath extends CairnError {}

/** Reads the 32 bytes of a slot (32 bytes). */
export type SlotRead = (slot: Uint8Array) => Uint8Array

// A request reads at most this many variables.
const MAX_VARIABLES = 1_000
/** Elements of an array that are read; the others by their index. */
const MAX_ELEMENTS = 100
const MAX_STRING_BYTES = 1_024
/** Layouts are of others: a struct could contain itself. */
const MAX_DEPTH = 16

const WORDS = 2n ** 256n

/** Returns all variables of a layout in its order. At most 1,000 are read, 100 elements of an array, and 1,024 bytes of
 *  a string; mappings have no parts. */
export function readVariables(layout: StorageLayout, read: SlotRead): StoredVariable[] {
  const reader = new VariableReader(layout, read)
  const variables: StoredVariable[] = []
  for (const variable of layout.variables) {
    if (reader.isExhausted) break
    variables.push(reader.read(placeOf(variable, 0n), 0))
  }
  return variables
}

/** Returns the variable that a path leads to: the label or the number of a variable, then keys of mappings, indexes and
 *  labels of members. The bounds are those of `readVariables`. @throws UnknownPath */
export function readVariable(layout: StorageLayout, path: readonly string[], read: SlotRead): StoredVariable {
  const reader = new VariableReader(layout, read)
  const [first, ...rest] = path
  const { variables } = layout
  const variable = variables.find(({ label }) => label === first) ?? variables[indexOf(first) ?? -1]
  if (variable === undefined) throw new UnknownPath(`no variable '${first}'`)
  let place = placeOf(variable, 0n)
  for (const step of rest) place = reader.step(place, step)
  return reader.read(place, 0)
}

/** Where a variable is. */
interface Place {
  readonly name: string
  readonly type: string
  readonly slot: bigint
  readonly offset: number
}

function placeOf({ label, type, slot, offset }: StorageVariable, base: bigint): Place {
  return { name: label, type, slot: base + slot, offset }
}

/** An array: its element type, where it begins, and how many it has. */
interface Elements {
  readonly base: string
  readonly slot: bigint
  readonly length: bigint
}

class VariableReader {
  readonly #layout: StorageLayout
  readonly #read: SlotRead
  readonly #words = new Map<bigint, Uint8Array>()
  #left = MAX_VARIABLES

  constructor(layout: StorageLayout, read: SlotRead) {
    this.#layout = layout
    this.#read = read
  }

  get isExhausted(): boolean {
    return this.#left <= 0
  }

  read(place: Place, depth: number): StoredVariable {
    this.#left--
    const { name, offset } = place
    const type = this.#layout.types.get(place.type)!
    const common = { name, type: type.label, slot: slotBytes(place.slot), offset, isCut: false }
    if (type.encoding === 'mapping') {
      return { ...common, value: null, keyType: this.#layout.types.get(type.key!)!.label }
    }
    if (type.encoding === 'bytes') return { ...common, ...this.#readBytes(place.slot, /string/.test(place.type)) }
    if (type.members !== undefined) {
      const { parts, isCut } = this.#readParts(type.members.length, depth, (i) => placeOf(type.members![i], place.slot))
      return { ...common, value: null, parts, isCut }
    }
    const elements = this.#elementsOf(place, type)
    if (elements === undefined) return { ...common, value: formatValue(this.#bytesAt(place, type), place.type) }
    const { length } = elements
    const shown = length < MAX_ELEMENTS ? Number(length) : MAX_ELEMENTS
    const { parts, isCut } = this.#readParts(shown, depth, (i) => this.#elementAt(elements, BigInt(i)))
    return { ...common, value: null, parts, length, isCut: isCut || BigInt(shown) < length }
  }

  #readParts(count: number, depth: number, placeAt: (i: number) => Place) {
    const parts: StoredVariable[] = []
    while (parts.length < count && depth < MAX_DEPTH && !this.isExhausted) {
      parts.push(this.read(placeAt(parts.length), depth + 1))
    }
    return { parts, isCut: parts.length < count }
  }

  /** The place of a part. @throws UnknownPath */
  step(place: Place, step: string): Place {
    const type = this.#layout.types.get(place.type)!
    if (type.encoding === 'mapping') {
      const key = encodeKey(step, type.key!, this.#layout.types.get(type.key!)!)
      if (typeof key === 'string') throw new UnknownPath(`${place.name}: ${key}`)
      return { name: step, type: type.value!, slot: hashOf(key, slotBytes(place.slot)), offset: 0 }
    }
    const member = type.members?.find(({ label }) => label === step)
    if (member !== undefined) return placeOf(member, place.slot)
    const elements = this.#elementsOf(place, type)
    const index = elements && indexOf(step)
    if (elements === undefined || index === undefined || BigInt(index) >= elements.length) {
      throw new UnknownPath(`${place.name}: ${type.label} has no '${step}'`)
    }
    return this.#elementAt(elements, BigInt(index))
  }

  #elementsOf({ slot, type: key }: Place, { encoding, base }: StorageType): Elements | undefined {
    if (base === undefined) return undefined
    if (encoding === 'dynamic_array') {
      return { base, slot: hashOf(slotBytes(slot)), length: bytesToBigInt(this.#word(slot)) }
    }
    // t_array(t_uint256)5_storage
    const [, length] = /\)(\d{1,78})_storage$/.exec(key) ?? []
    return length === undefined ? undefined : { base, slot, length: BigInt(length) }
  }

  #elementAt({ base, slot }: Elements, index: bigint): Place {
    const { numberOfBytes } = this.#layout.types.get(base)!
    const size = numberOfBytes === 0n ? 1n : numberOfBytes
    const perSlot = 32n / size
    // Elements of more than half of a slot begin slots of their own.
    if (perSlot > 1n) {
      const offset = Number((index % perSlot) * size)
      return { name: String(index), type: base, slot: slot + index / perSlot, offset }
    }
    return { name: String(index), type: base, slot: slot + index * ((size + 31n) / 32n), offset: 0 }
  }

  #bytesAt({ slot, offset }: Place, { numberOfBytes }: StorageType): Uint8Array {
    const end = 32 - offset
    return this.#word(slot).subarray(Math.max(0, end - Number(numberOfBytes)), end)
  }

  /** `bytes` or `string`: up to 31 bytes with twice the length in the lowest byte, else one more than twice the length,
   *  and the bytes from the hash of the slot on. */
  #readBytes(slot: bigint, isText: boolean): Pick<StoredVariable, 'value' | 'length' | 'isCut'> {
    const word = this.#word(slot)
    const format = (bytes: Uint8Array) => (isText ? Buffer.from(bytes).toString() : formatData(bytes))
    if ((word[31] & 1) === 0) {
      const length = word[31] >> 1
      return { value: format(word.subarray(0, Math.min(31, length))), length: BigInt(length), isCut: length > 31 }
    }
    const length = bytesToBigInt(word) >> 1n
    const shown = length < MAX_STRING_BYTES ? Number(length) : MAX_STRING_BYTES
    const first = hashOf(slotBytes(slot))
    const words = Array.from({ length: Math.ceil(shown / 32) }, (_, i) => this.#word(first + BigInt(i)))
    const bytes = concatBytes(...words).subarray(0, shown)
    return { value: format(bytes), length, isCut: BigInt(shown) < length }
  }

  #word(slot: bigint): Uint8Array {
    const key = slot % WORDS
    let word = this.#words.get(key)
    if (word === undefined) {
      word = padLeft(this.#read(bigIntToFixedBytes(key, 32)), 32)
      this.#words.set(key, word)
    }
    return word
  }
}

function slotBytes(slot: bigint): Uint8Array {
  return bigIntToFixedBytes(slot % WORDS, 32)
}

function hashOf(...parts: readonly Uint8Array[]): bigint {
  return bytesToBigInt(keccak256(concatBytes(...parts)))
}

function indexOf(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined
}

/** Formats a value of a type with this key: its bytes in the slot, big-endian. */
function formatValue(bytes: Uint8Array, type: string): string | boolean {
  if (type === 't_bool') return bytesToBigInt(bytes) !== 0n
  if (/^t_(address|contract)/.test(type) && bytes.length === 20) return formatChecksumAddress(bytes)
  if (/^t_(uint|enum)/.test(type)) return String(bytesToBigInt(bytes))
  if (/^t_int/.test(type)) return String(BigInt.asIntN(8 * bytes.length, bytesToBigInt(bytes)))
  return formatData(bytes)
}
