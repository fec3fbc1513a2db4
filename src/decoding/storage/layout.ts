import { membersOf } from '../../lib/json.js'

/* The storage layout that solc writes (output `storageLayout`; Solidity documentation, Layout of State Variables in
 * Storage). */

/** A variable, or a member of a struct. */
export interface StorageVariable {
  readonly label: string
  /** Key of its type. */
  readonly type: string
  /** Of the contract, or counted from the beginning of the struct. */
  readonly slot: bigint
  /** Bytes of the slot behind it, 0 to 31: its place from the lowest byte on. */
  readonly offset: number
}

/** A type of a layout. */
export interface StorageType {
  readonly encoding: 'inplace' | 'mapping' | 'dynamic_array' | 'bytes'
  /** In Solidity's words: `mapping(address => uint256)`. */
  readonly label: string
  readonly numberOfBytes: bigint
  /** Of a struct. */
  readonly members?: readonly StorageVariable[]
  /** Keys of the types of elements, keys and values. */
  readonly base?: string
  readonly key?: string
  readonly value?: string
}

/** The variables of a contract in their order, and their types. */
export interface StorageLayout {
  readonly variables: readonly StorageVariable[]
  readonly types: ReadonlyMap<string, StorageType>
}

const ENCODINGS = ['inplace', 'mapping', 'dynamic_array', 'bytes'] as const
const MAX_VARIABLES = 2_000
const MAX_TYPES = 4_000
/** Of a label and of a key of a type. */
const MAX_TEXT = 1_000
const MAX_UINT256 = 2n ** 256n - 1n

/** Returns the layout; undefined if it is none, names a type that it does not have, or has more than 2,000 variables or
 *  4,000 types. */
export function parseStorageLayout(json: unknown): StorageLayout | undefined {
  const { storage, types: typesJson } = membersOf(json)
  const types = parseTypes(membersOf(typesJson)) // null in a contract without variables
  const variables = parseVariables(storage)
  if (types === undefined || variables === undefined) return undefined
  const isKnown = (type: string | undefined) => type === undefined || types.has(type)
  const areKnown = (list: readonly StorageVariable[]) => list.every(({ type }) => isKnown(type))
  const isWhole = [...types.values()].every(
    ({ members = [], base, key, value }) => areKnown(members) && [base, key, value].every(isKnown),
  )
  return isWhole && areKnown(variables) ? { variables, types } : undefined
}

/** Returns the layout as JSON that `parseStorageLayout` reads: without what solc writes besides. */
export function formatStorageLayout({ variables, types }: StorageLayout): object {
  return {
    storage: variables.map(formatVariable),
    types: Object.fromEntries(
      Array.from(types, ([key, { members, numberOfBytes, ...type }]) => [
        key,
        { ...type, numberOfBytes: String(numberOfBytes), ...(members && { members: members.map(formatVariable) }) },
      ]),
    ),
  }
}

function formatVariable({ slot, ...variable }: StorageVariable): object {
  return { ...variable, slot: String(slot) }
}

function parseTypes(json: { readonly [key: string]: unknown }): Map<string, StorageType> | undefined {
  const entries = Object.entries(json)
  if (entries.length > MAX_TYPES) return undefined
  const types = new Map<string, StorageType>()
  for (const [key, value] of entries) {
    const type = parseType(value)
    if (type === undefined || key.length > MAX_TEXT) return undefined
    types.set(key, type)
  }
  return types
}

function parseType(json: unknown): StorageType | undefined {
  const parts = membersOf(json)
  const encoding = ENCODINGS.find((each) => each === parts.encoding)
  const numberOfBytes = parseInteger(parts.numberOfBytes)
  const members = parts.members === undefined ? undefined : parseVariables(parts.members)
  if (encoding === undefined || !isText(parts.label) || numberOfBytes === undefined) return undefined
  if (parts.members !== undefined && members === undefined) return undefined
  const [base, key, value] = [parts.base, parts.key, parts.value].map((each) => (isText(each) ? each : undefined))
  if (encoding === 'mapping' && (key === undefined || value === undefined)) return undefined
  if (encoding === 'dynamic_array' && base === undefined) return undefined
  return {
    ...{ encoding, label: parts.label, numberOfBytes },
    ...(members && { members }),
    ...(base !== undefined && { base }),
    ...(key !== undefined && { key }),
    ...(value !== undefined && { value }),
  }
}

function parseVariables(json: unknown): StorageVariable[] | undefined {
  if (!Array.isArray(json) || json.length > MAX_VARIABLES) return undefined
  const variables: StorageVariable[] = []
  for (const each of json) {
    const { label, type, offset, slot: slotText } = membersOf(each)
    const slot = parseInteger(slotText)
    const isOffset = typeof offset === 'number' && Number.isInteger(offset) && offset >= 0 && offset < 32
    if (!isText(label) || !isText(type) || slot === undefined || !isOffset) return undefined
    variables.push({ label, type, slot, offset })
  }
  return variables
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_TEXT
}

function parseInteger(value: unknown): bigint | undefined {
  if (typeof value !== 'string' || !/^\d{1,78}$/.test(value)) return undefined
  const integer = BigInt(value)
  return integer <= MAX_UINT256 ? integer : undefined
}
