import type { JsonSchema } from './method.js'

type Members = { readonly [name: string]: JsonSchema }

/** Returns the JSON schema of an object with members that are always present, and others that may be absent. */
export function objectSchema(title: string, always: Members, sometimes: Members = {}): JsonSchema {
  return { title, type: 'object', properties: { ...always, ...sometimes }, required: Object.keys(always) }
}
