import {
  type AbiFunction,
  type AbiParameter,
  decodeErrorResult,
  decodeFunctionResult,
  encodeFunctionData,
  isAddress,
  isHex,
  numberToHex,
  toFunctionSignature,
} from 'viem'
import type { Decoded, Hex } from './client/types.js'

/* Calls of contract functions: converts form input to calldata and results to text. Pure functions, without the
 * browser. */

/** Encodes a call whose arguments are as typed. @throws Error that names the argument */
export function encodeCall(item: AbiFunction, texts: readonly string[]): Hex {
  const args = item.inputs.map((input, i) => {
    const name = input.name || `argument ${i}`
    try {
      return parseArgument(input, texts[i] ?? '')
    } catch (error) {
      throw new Error(`${name}: ${(error as Error).message}`)
    }
  })
  return encodeFunctionData({ abi: [item], functionName: item.name, args })
}

/** Parses a typed argument: integers in decimal or hex, arrays and tuples as JSON. @throws Error that says what would
 *  work */
function parseArgument(parameter: AbiParameter, text: string): unknown {
  if (parameter.type === 'string') return text
  const trimmed = text.trim()
  if (!isList(parameter)) return parseScalar(parameter.type, trimmed)
  return convertJson(parameter, parseJson(parameter, trimmed))
}

/** True for arrays and tuples, which are typed as JSON. */
export function isList({ type }: AbiParameter): boolean {
  return type.endsWith(']') || type.startsWith('tuple')
}

function parseJson({ type }: AbiParameter, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    const form = type.endsWith(']') ? '["0x…", "1"]' : '{"name": "value"}, or a list of its values'
    throw new Error(`${type} is written as JSON, such as ${form}`)
  }
}

/** Converts JSON to the value of a type. */
function convertJson(parameter: AbiParameter, value: unknown): unknown {
  const [, itemType, length] = /^(.*)\[(\d*)\]$/.exec(parameter.type) ?? []
  if (itemType !== undefined) {
    if (!Array.isArray(value)) throw new Error(`${parameter.type} is a list`)
    if (length !== '' && value.length !== Number(length)) throw new Error(`${parameter.type} has ${length} values`)
    return value.map((each) => convertJson({ ...parameter, type: itemType }, each))
  }
  if (parameter.type === 'tuple') return convertTuple(parameter, value)
  if (typeof value === 'number' && !Number.isSafeInteger(value)) {
    throw new Error('integers beyond 2^53 are written as text, "123"')
  }
  const text = typeof value === 'string' ? value : String(value)
  return parameter.type === 'string' ? text : parseScalar(parameter.type, text.trim())
}

function convertTuple(parameter: AbiParameter, value: unknown): unknown {
  const { components } = parameter as { components: readonly AbiParameter[] }
  const isPositional = Array.isArray(value)
  if (!isPositional && (typeof value !== 'object' || value === null)) {
    throw new Error('a tuple is an object by member name, or a list of its values')
  }
  const values = components.map((component, i) => {
    const member = isPositional ? value[i] : (value as { [name: string]: unknown })[component.name ?? '']
    if (member === undefined) throw new Error(`the member ${component.name || i} is missing`)
    return convertJson(component, member)
  })
  // The encoder reads a tuple without names by position, and one with names by name.
  if (components.some(({ name }) => !name)) return values
  return Object.fromEntries(components.map(({ name }, i) => [name, values[i]]))
}

function parseScalar(type: string, text: string): unknown {
  if (/^u?int\d*$/.test(type)) return parseInteger(type, text)
  if (type === 'bool') {
    if (text === 'true' || text === 'false') return text === 'true'
    throw new Error('a bool is true or false')
  }
  if (type === 'address') {
    if (isAddress(text, { strict: false })) return text.toLowerCase()
    throw new Error('an address is 0x and 40 hex digits')
  }
  const size = /^bytes(\d*)$/.exec(type)?.[1]
  if (size === undefined) throw new Error(`the type ${type} is not supported`)
  if (!isHex(text) || text.length % 2 !== 0) throw new Error(`${type} is 0x and pairs of hex digits`)
  if (size !== '' && text.length !== 2 + 2 * Number(size))
    throw new Error(`${type} is 0x and ${2 * Number(size)} digits`)
  return text
}

function parseInteger(type: string, text: string): bigint {
  const plain = text.replaceAll(/[_,]/g, '')
  if (!/^(-?\d{1,78}|0x[\da-f]{1,64})$/i.test(plain))
    throw new Error(`${type} is an integer in decimal, or hex with 0x`)
  const value = BigInt(plain)
  const bits = BigInt(/\d+$/.exec(type)?.[0] ?? 256)
  const [least, most] = type.startsWith('u') ? [0n, 2n ** bits - 1n] : [-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n]
  if (value < least || value > most) throw new Error(`${plain} is beyond ${type}`)
  return value
}

/** Decodes what a function returned; undefined if its ABI does not say what that is, or the data are something else. */
export function decodeResult(item: AbiFunction, data: Hex): Decoded['args'] | undefined {
  const { outputs } = item
  if (outputs === undefined) return undefined
  if (outputs.length === 0) return []
  try {
    const result: unknown = decodeFunctionResult({ abi: [item], functionName: item.name, data })
    const values = outputs.length === 1 ? [result] : (result as unknown[])
    return outputs.map(({ name = '', type }, i) => ({ name, type, value: toJson(values[i]) }))
  } catch {
    return undefined
  }
}

/** Decodes revert data by the errors of an ABI, in one line; undefined if none fits. */
export function describeRevert(items: readonly unknown[], data: unknown): string | undefined {
  if (!isHex(data) || data.length < 10) return undefined
  try {
    const { errorName, args = [] } = decodeErrorResult({ abi: items as never, data }) as {
      errorName: string
      args?: readonly unknown[]
    }
    return `${errorName}(${args.map((value) => formatValue(value)).join(', ')})`
  } catch {
    return undefined
  }
}

function formatValue(value: unknown): string {
  const json = toJson(value)
  return typeof json === 'string' ? json : JSON.stringify(json)
}

/** Replaces bigints and numbers by decimal text, as decoded values of the server have it. */
function toJson(value: unknown): unknown {
  if (typeof value === 'bigint' || typeof value === 'number') return String(value)
  if (Array.isArray(value)) return value.map(toJson)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, toJson(each)]))
}

/** What may be done with a function: `read` changes nothing, `write` may, `unknown` if the ABI does not say it. */
export function kindOf({ stateMutability }: AbiFunction): 'read' | 'write' | 'unknown' {
  if (stateMutability === undefined) return 'unknown'
  return stateMutability === 'view' || stateMutability === 'pure' ? 'read' : 'write'
}

/** Returns the signature, `balanceOf(address)`; its name alone if it has types that are not supported. */
export function signatureOf(item: AbiFunction): string {
  try {
    return toFunctionSignature(item)
  } catch {
    return item.name
  }
}

/** Converts a decimal block number to a quantity; returns tags and hex unchanged. */
export function parseBlock(text: string): string {
  const trimmed = text.trim()
  if (trimmed === '') return 'latest'
  return /^\d{1,15}$/.test(trimmed) ? numberToHex(Number(trimmed)) : trimmed
}

const IDENTIFIER = /^[A-Za-z_$][\w$]{0,255}$/
const MAX_ITEMS = 2000
const TYPES = ['function', 'event', 'error']

/** Parses the functions, events and errors of a JSON ABI: an array, or an artefact with a member `abi`. Leaves out
 *  other items. @throws Error that says what is wrong */
export function parseAbiText(text: string): { [member: string]: unknown }[] {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    throw new Error('an ABI is JSON: an array, or an artefact with a member abi')
  }
  const list = Array.isArray(parsed) ? parsed : (parsed as { abi?: unknown } | null)?.abi
  if (!Array.isArray(list)) throw new Error('an ABI is an array, or an artefact with a member abi')
  if (list.length > MAX_ITEMS) throw new Error(`an ABI has at most ${MAX_ITEMS} items`)
  const items = (list as unknown[]).filter((item) => TYPES.includes((item as { type?: string } | null)?.type ?? ''))
  for (const item of items) checkItem(item as { [member: string]: unknown })
  if (items.length === 0) throw new Error('the ABI has no function, event or error')
  return items as { [member: string]: unknown }[]
}

function checkItem({ name, inputs, outputs }: { [member: string]: unknown }): void {
  if (typeof name !== 'string' || !IDENTIFIER.test(name)) throw new Error(`${JSON.stringify(name)} is no name`)
  for (const list of [inputs, ...(outputs === undefined ? [] : [outputs])]) checkParameters(name, list, 0)
}

function checkParameters(owner: string, list: unknown, depth: number): void {
  if (!Array.isArray(list) || list.length > 256 || depth > 16) throw new Error(`${owner} has no list of parameters`)
  for (const { name = '', type, components } of list as { name?: unknown; type?: unknown; components?: unknown }[]) {
    const isNamed = typeof name === 'string' && (name === '' || IDENTIFIER.test(name))
    if (!isNamed || typeof type !== 'string' || !/^[a-z]+\d*(\[\d*\])*$/.test(type)) {
      throw new Error(`${owner} has a parameter without name or type`)
    }
    if (type.startsWith('tuple')) checkParameters(owner, components, depth + 1)
  }
}
