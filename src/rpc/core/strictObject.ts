import { isDeepStrictEqual } from 'node:util'
import { nearestWord } from '../../lib/suggestion.js'
import { InvalidValue } from './errors.js'
import type { JsonSchema } from './method.js'
import { decodeMembers, isAbsent, type ValueType } from './params.js'

// Longer names are cut before the search for the nearest known one.
const MAX_NAME = 80

type Fields = { readonly [name: string]: ValueType<unknown> }
type Values<S extends Fields> = { [K in keyof S]: S[K] extends ValueType<infer T> ? T : never }

/** The definition of a strict object, with other clients' names for its members. */
export interface StrictOptions<S extends Fields> {
  readonly title?: string
  /** Member by alias. */
  readonly aliases?: { readonly [alias: string]: keyof S & string }
}

/** An object in which an ignored member would change the answer: filters, overrides, configurations. Names and aliases
 *  are matched without regard to letter case, as Go matches them; any other member is refused by name, with the nearest
 *  known one. Several spellings of a member must have equal values. Member paths are `path.spelling`. */
export function strictObject<S extends Fields>(
  fields: S,
  { title, aliases = {} }: StrictOptions<S> = {},
): ValueType<Values<S>> {
  const names = Object.keys(fields)
  const known = [...names, ...Object.keys(aliases)]
  const nameOf = new Map(known.map((spelling) => [spelling.toLowerCase(), aliases[spelling] ?? spelling]))
  return {
    schema: describe(fields, title, aliases),
    decode: (value, path) => {
      const out: Record<string, unknown> = {}
      const spellings: Record<string, string> = {}
      for (const [spelling, member] of Object.entries(decodeMembers(value, path))) {
        const name = nameOf.get(spelling.toLowerCase())
        if (name === undefined) throw unknownMember(path, spelling, known)
        if (isAbsent(member)) continue
        const decoded = fields[name].decode(member, `${path}.${spelling}`)
        if (name in spellings && !isDeepStrictEqual(out[name], decoded)) {
          throw new InvalidValue(`${path}: ${spellings[name]} and ${spelling} differ; they are the same member`)
        }
        out[name] = decoded
        spellings[name] = spelling
      }
      for (const name of names) {
        if (name in spellings) continue
        if (!fields[name].optional) throw new InvalidValue(`${path}.${name}: missing`)
        out[name] = fields[name].decode(undefined, `${path}.${name}`)
      }
      return out as Values<S>
    },
  }
}

function unknownMember(path: string, spelling: string, known: readonly string[]): InvalidValue {
  const name = spelling.length > MAX_NAME ? `${spelling.slice(0, MAX_NAME)}…` : spelling
  const nearest = nearestWord(spelling.slice(0, MAX_NAME), known)
  const all = known.length === 0 ? ', it has no members' : `, want ${known.join(', ')}`
  const advice = nearest === undefined ? all : ` (did you mean ${nearest}?)`
  return new InvalidValue(`${path}: unknown member ${JSON.stringify(name)}${advice}`)
}

function describe(
  fields: Fields,
  title: string | undefined,
  aliases: { readonly [alias: string]: string },
): JsonSchema {
  const names = Object.keys(fields)
  const required = names.filter((name) => !fields[name].optional)
  const others = Object.entries(aliases).map(([alias, name]) => [
    alias,
    { ...fields[name].schema, description: `The same as \`${name}\`.` },
  ])
  return {
    ...(title === undefined ? {} : { title }),
    type: 'object',
    properties: {
      ...Object.fromEntries(names.map((name) => [name, fields[name].schema])),
      ...Object.fromEntries(others),
    },
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  }
}
