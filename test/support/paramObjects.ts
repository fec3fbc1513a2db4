import type { JsonSchema, Method } from '../../src/rpc/core/method.js'

/** An object somewhere in the parameters of a method. */
export interface ParamObject {
  readonly method: Method
  /** Where it is, for messages: `eth_call.stateOverrides.*`. */
  readonly place: string
  readonly schema: JsonSchema
  /** Members that it must have. */
  readonly least: { readonly [name: string]: unknown }
  /** The parameters of a call with that value in its place. */
  paramsWith(value: object): unknown[]
}

/** The objects with named members in the parameters of a method, those inside of others too. It does not look into
 *  objects that `isOpen` accepts. */
export function* paramObjects(method: Method, isOpen: (schema: JsonSchema) => boolean): Generator<ParamObject> {
  for (const [i, { name, schema }] of method.params.entries()) {
    const paramsWith = (value: unknown) =>
      method.params.map((param, j) => (j === i ? value : param.required ? sampleOf(param.schema) : null))
    for (const found of objectsIn(schema, `${method.name}.${name}`, isOpen)) {
      const { place, schema: inner } = found
      yield {
        method,
        place,
        schema: inner,
        least: leastOf(inner),
        paramsWith: (value) => paramsWith(found.wrap(value)),
      }
    }
  }
}

interface Found {
  place: string
  schema: JsonSchema
  wrap(value: unknown): unknown
}

function* objectsIn(schema: JsonSchema, place: string, isOpen: (schema: JsonSchema) => boolean): Generator<Found> {
  for (const { name, inner, wrap } of partsOf(schema)) {
    for (const found of objectsIn(inner, place + name, isOpen))
      yield { ...found, wrap: (value) => wrap(found.wrap(value)) }
  }
  const properties = schema.properties as { [name: string]: JsonSchema } | undefined
  if (properties === undefined) return
  yield { place, schema, wrap: (value) => value }
  if (isOpen(schema)) return
  for (const [name, each] of Object.entries(properties)) {
    for (const found of objectsIn(each, `${place}.${name}`, isOpen)) {
      const wrap = (value: unknown) => ({ ...leastOf(schema), ...beside(found), [name]: found.wrap(value) })
      yield { ...found, wrap }
    }
  }
}

/** What the members of the tracer's options need beside them. */
function beside({ schema: { title } }: Found): object {
  return typeof title === 'string' && title.endsWith('Tracer') ? { tracer: title } : {}
}

function partsOf(schema: JsonSchema): { name: string; inner: JsonSchema; wrap: (value: unknown) => unknown }[] {
  const { oneOf, anyOf, items, prefixItems, additionalProperties } = schema as { [key: string]: unknown }
  const choices = ((oneOf ?? anyOf ?? []) as JsonSchema[]).map((inner) => ({ name: '', inner, wrap: same }))
  const tuple = (prefixItems ?? []) as JsonSchema[]
  const elements = tuple.map((inner, i) => ({
    name: `[${i}]`,
    inner,
    wrap: (value: unknown) => tuple.map((each, j) => (i === j ? value : sampleOf(each))),
  }))
  const list =
    items === undefined ? [] : [{ name: '[]', inner: items as JsonSchema, wrap: (value: unknown) => [value] }]
  const map =
    typeof additionalProperties === 'object' && additionalProperties !== null
      ? [{ name: '.*', inner: additionalProperties as JsonSchema, wrap: (value: unknown) => ({ [ADDRESS]: value }) }]
      : []
  return [...choices, ...elements, ...list, ...map]
}

const same = (value: unknown) => value
const ADDRESS = `0x${'11'.repeat(20)}`
const BY_TITLE: { readonly [title: string]: unknown } = {
  QUANTITY: '0x1',
  DATA: '0x',
  HASH32: `0x${'22'.repeat(32)}`,
  ADDRESS20: ADDRESS,
}
const BY_TYPE: { readonly [type: string]: unknown } = { boolean: true, array: [] }

function leastOf(schema: JsonSchema): { [name: string]: unknown } {
  const properties = schema.properties as { [name: string]: JsonSchema }
  return Object.fromEntries(((schema.required ?? []) as string[]).map((name) => [name, sampleOf(properties[name])]))
}

/** A value that the schema allows. */
export function sampleOf(schema: JsonSchema): unknown {
  const { title, type, oneOf, anyOf, enum: words, minimum, pattern, properties } = schema as { [key: string]: unknown }
  const choices = oneOf ?? anyOf
  if (Array.isArray(choices)) return sampleOf(choices[0] as JsonSchema)
  if (Array.isArray(words)) return words[0]
  if (typeof title === 'string' && title in BY_TITLE) return BY_TITLE[title]
  if (type === 'integer' || type === 'number') return minimum ?? 1
  if (type === 'object') return properties === undefined ? {} : leastOf(schema)
  if (type === 'string') return String(pattern).startsWith('^0x') ? '0x1' : '1s'
  return BY_TYPE[String(type)]
}
