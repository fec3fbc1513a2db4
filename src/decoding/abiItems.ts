import { keccak256 } from '../chain/crypto.js'
import { abbreviate } from '../lib/hex.js'
import { type AbiParameter, formatType, parseType } from './abiTypes.js'
import { InvalidAbi } from './errors.js'

/** A parameter of an event. */
export interface EventParameter extends AbiParameter {
  readonly indexed: boolean
}

/** An event of an ABI. */
export interface AbiEvent {
  readonly type: 'event'
  readonly name: string
  readonly inputs: readonly EventParameter[]
  readonly anonymous: boolean
  /** `Transfer(address,address,uint256)`. */
  readonly signature: string
}

/** What a function may do: read, read nothing, receive ether, or change state. */
export type StateMutability = 'view' | 'pure' | 'payable' | 'nonpayable'

/** A function of an ABI: its name and its parameters. */
export interface AbiFunction {
  readonly type: 'function'
  readonly name: string
  readonly inputs: readonly AbiParameter[]
  /** What it returns; undefined if the ABI does not say it. */
  readonly outputs?: readonly AbiParameter[]
  /** Undefined if the ABI does not say it. */
  readonly stateMutability?: StateMutability
  readonly signature: string
}

/** A custom error of an ABI: its name and its parameters. */
export interface AbiError {
  readonly type: 'error'
  readonly name: string
  readonly inputs: readonly AbiParameter[]
  readonly signature: string
}

type FunctionResult = Pick<AbiFunction, 'outputs' | 'stateMutability'>

const MUTABILITIES: readonly StateMutability[] = ['view', 'pure', 'payable', 'nonpayable']

export type AbiItem = AbiEvent | AbiFunction | AbiError

// The largest contracts have a few hundred items.
const MAX_ITEMS = 2000
const MAX_PARAMETERS = 256

// Solidity identifiers; empty for parameters without a name.
const IDENTIFIER = /^[A-Za-z_$][\w$]{0,255}$/

/** Returns the Keccak-256 of a signature: topic0 of an event; its first 4 bytes are the selector of a function or
 *  error. */
export function hashSignature(signature: string): Uint8Array {
  return keccak256(Buffer.from(signature))
}

/** Parses the events, functions and errors of a JSON ABI: an array, or a Hardhat or Foundry artefact with a member
 *  `abi`. Skips other items (constructors). @throws InvalidAbi */
export function parseAbiJson(json: unknown): AbiItem[] {
  const list = isObject(json) ? json.abi : json
  if (!Array.isArray(list)) throw invalid('abi', json, 'a JSON ABI: an array, or an object with a member abi')
  if (list.length > MAX_ITEMS) throw invalid('abi', list.length, `at most ${MAX_ITEMS} items`)
  return list.flatMap((item: unknown, i) => {
    const path = `abi[${i}]`
    if (!isObject(item)) throw invalid(path, item, 'an object')
    const { type = 'function' } = item
    if (typeof type !== 'string') throw invalid(`${path}.type`, type, 'a string such as event or function')
    return isItemType(type) ? [locate(path, () => parseItem(item, type))] : []
  })
}

function isItemType(type: string): type is AbiItem['type'] {
  return type === 'event' || type === 'function' || type === 'error'
}

function parseItem(item: JsonObject, type: AbiItem['type']): AbiItem {
  const name = parseName(item.name, { mayBeEmpty: false })
  if (type === 'function') {
    const { outputs, stateMutability } = parseResult(item)
    return makeFunction(name, parseParameters(item.inputs), { outputs, stateMutability })
  }
  if (type === 'error') return makeError(name, parseParameters(item.inputs))
  const { anonymous = false } = item
  if (typeof anonymous !== 'boolean') throw invalid('anonymous', anonymous, 'true or false')
  const inputs = parseParameters(item.inputs).map((parameter, i) => {
    const { indexed = false } = (item.inputs as JsonObject[])[i]
    if (typeof indexed !== 'boolean') throw invalid(`inputs[${i}].indexed`, indexed, 'true or false')
    return { ...parameter, indexed }
  })
  return makeEvent(name, inputs, anonymous)
}

/** Returns outputs and mutability of a function. Decoding needs neither, so malformed ones are left out. */
function parseResult({ outputs, stateMutability, constant }: JsonObject): FunctionResult {
  const known = MUTABILITIES.find((each) => each === stateMutability) ?? (constant === true ? 'view' : undefined)
  try {
    return { outputs: outputs === undefined ? undefined : parseParameters(outputs, 'outputs'), stateMutability: known }
  } catch (error) {
    if (error instanceof InvalidAbi) return { stateMutability: known }
    throw error
  }
}

/** Creates an event. @throws InvalidAbi if it has more indexed parameters than a log has topics */
function makeEvent(name: string, inputs: readonly EventParameter[], anonymous = false): AbiEvent {
  const indexed = inputs.filter((input) => input.indexed).length
  const most = anonymous ? 4 : 3
  if (indexed > most) throw invalid('inputs', `${indexed} of them`, `at most ${most} indexed parameters`)
  return { type: 'event', name, inputs, anonymous, signature: signatureOf(name, inputs) }
}

/** Creates a function. */
function makeFunction(name: string, inputs: readonly AbiParameter[], result: FunctionResult = {}): AbiFunction {
  return { type: 'function', name, inputs, ...result, signature: signatureOf(name, inputs) }
}

/** Creates a custom error. */
function makeError(name: string, inputs: readonly AbiParameter[]): AbiError {
  return { type: 'error', name, inputs, signature: signatureOf(name, inputs) }
}

function signatureOf(name: string, inputs: readonly AbiParameter[]): string {
  return `${name}(${inputs.map(({ type }) => formatType(type)).join(',')})`
}

function parseParameters(list: unknown, field = 'inputs', depth = 0): AbiParameter[] {
  if (!Array.isArray(list) || list.length > MAX_PARAMETERS) {
    throw invalid(field, list, `an array of at most ${MAX_PARAMETERS} parameters`)
  }
  if (depth > 16) throw invalid(field, '…', 'at most 16 levels of tuples')
  return list.map((parameter: unknown, i) => {
    const path = `${field}[${i}]`
    if (!isObject(parameter)) throw invalid(path, parameter, 'an object')
    return locate(path, () => {
      const { type, components } = parameter
      if (typeof type !== 'string') throw invalid('type', type, 'a type such as uint256')
      const members = type.startsWith('tuple') ? parseParameters(components, 'components', depth + 1) : undefined
      return { name: parseName(parameter.name ?? '', { mayBeEmpty: true }), type: parseType(type, members) }
    })
  })
}

function parseName(name: unknown, { mayBeEmpty }: { mayBeEmpty: boolean }): string {
  if (typeof name === 'string' && (IDENTIFIER.test(name) || (mayBeEmpty && name === ''))) return name
  throw invalid('name', name, 'a Solidity identifier')
}

type JsonObject = { readonly [name: string]: unknown }

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function invalid(field: string, value: unknown, expected: string): InvalidAbi {
  return new InvalidAbi({ field, value: abbreviate(JSON.stringify(value) ?? 'nothing'), expected })
}

function locate<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw error instanceof InvalidAbi ? error.within(path) : error
  }
}

/** Parses a declaration such as `event Transfer(address indexed from, address indexed to, uint256 value)` or
 *  `function name() view returns (string)`. A function without a word behind its parameters is nonpayable.
 *  @throws InvalidAbi */
export function parseSignature(line: string): AbiItem {
  const [, type, name, inputs, mutability, outputs] = DECLARATION.exec(line) ?? []
  if (type === undefined) throw invalid('signature', line, 'event NAME(…), function NAME(…) or error NAME(…)')
  const parameters = splitParameters(inputs).map(parseDeclaration)
  if (type === 'error') return makeError(name, parameters)
  if (type === 'event') return makeEvent(name, parameters)
  const stateMutability = MUTABILITIES.find((each) => each === mutability) ?? 'nonpayable'
  if (outputs === undefined) return makeFunction(name, parameters, { stateMutability })
  return makeFunction(name, parameters, { stateMutability, outputs: splitParameters(outputs).map(parseDeclaration) })
}

const DECLARATION = /^(event|function|error) (\w+)\((.*?)\)(?: (view|pure|payable))?(?: returns \((.*)\))?$/

/** Parses `uint256 value`, `address indexed from`, `(address to, bytes data)[] calls`. */
function parseDeclaration(text: string): EventParameter {
  const [, members, array, word, indexed, name] =
    /^(?:\((.*)\)((?:\[\d*\])*)|(\S+))( indexed)?(?: (\w+))?$/.exec(text) ?? []
  const type =
    members === undefined
      ? parseType(word ?? text)
      : parseType(`tuple${array}`, splitParameters(members).map(parseDeclaration))
  return { name: name ?? '', type, indexed: indexed !== undefined }
}

/** Splits at the commas outside parentheses. */
function splitParameters(text: string): string[] {
  const parts: string[] = []
  let depth = 0
  let from = 0
  for (let i = 0; i <= text.length; i++) {
    if (text[i] === '(') depth++
    else if (text[i] === ')') depth--
    else if (i === text.length || (text[i] === ',' && depth === 0)) {
      parts.push(text.slice(from, i).trim())
      from = i + 1
    }
  }
  return text === '' ? [] : parts
}

/** Formats the items as JSON ABI, for the database. */
export function formatAbiJson(items: readonly AbiItem[]): object[] {
  return items.map((item) => ({
    type: item.type,
    name: item.name,
    inputs: item.inputs.map((input) => ({ ...jsonParameter(input), ...indexedMember(input) })),
    ...(item.type === 'event' && item.anonymous ? { anonymous: true } : {}),
    ...(item.type === 'function' && item.outputs ? { outputs: item.outputs.map(jsonParameter) } : {}),
    ...(item.type === 'function' && item.stateMutability ? { stateMutability: item.stateMutability } : {}),
  }))
}

function indexedMember(input: AbiParameter): object {
  return 'indexed' in input && input.indexed === true ? { indexed: true } : {}
}

function jsonParameter({ name, type }: AbiParameter): object {
  let suffix = ''
  let base = type
  while (base.kind === 'array') {
    suffix = `[${base.length ?? ''}]${suffix}`
    base = base.item
  }
  if (base.kind !== 'tuple') return { name, type: formatType(type) }
  return { name, type: `tuple${suffix}`, components: base.components.map(jsonParameter) }
}
