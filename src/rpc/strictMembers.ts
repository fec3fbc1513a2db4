import type { JsonSchema, Param } from './core/method.js'

/** One sentence for each object in a parameter that refuses unknown members: its members and their other names, in
 *  Markdown. */
export function describeMembers({ name, schema }: Param<unknown>): string[] {
  return [...strictObjects(schema, name)].map(({ place, properties }) => {
    const aliases = Object.entries(properties).flatMap(([alias, { description }]) => {
      const [, of] = /^The same as `(.*)`\.$/.exec(String(description)) ?? []
      return of === undefined ? [] : [{ alias, of }]
    })
    const names = Object.keys(properties).filter((member) => aliases.every(({ alias }) => alias !== member))
    const members = names.map((member) => {
      const others = aliases.filter(({ of }) => of === member).map(({ alias }) => `\`${alias}\``)
      return `\`${member}\`${others.length === 0 ? '' : ` (or ${others.join(', ')})`}`
    })
    return `Members of \`${place}\`: ${members.join(', ')}.`
  })
}

interface StrictObject {
  place: string
  properties: { [name: string]: JsonSchema }
}

function* strictObjects(schema: JsonSchema, place: string): Generator<StrictObject> {
  const { additionalProperties, properties = {}, items, oneOf, anyOf } = schema as { [key: string]: unknown }
  const members = properties as { [name: string]: JsonSchema }
  if (additionalProperties === false && Object.keys(members).length > 0) yield { place, properties: members }
  for (const [name, member] of Object.entries(members)) yield* strictObjects(member, `${place}.${name}`)
  for (const choice of (oneOf ?? anyOf ?? []) as JsonSchema[]) {
    yield* strictObjects(choice, choice.title === undefined ? place : `${place} of ${choice.title}`)
  }
  if (items !== undefined) yield* strictObjects(items as JsonSchema, `${place}[]`)
  if (typeof additionalProperties === 'object' && additionalProperties !== null) {
    yield* strictObjects(additionalProperties as JsonSchema, `${place}.0x…`)
  }
}
