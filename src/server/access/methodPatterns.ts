import type { Method } from '../../rpc/core/method.js'
import { CLASS_NAMES, classByParams } from '../../rpc/core/methodClasses.js'

/** The parts of a method that patterns name; a path such as `sql` has no classes. */
export type NamedMethod = Pick<Method, 'name'> & { readonly classes: readonly string[] }

/** True if a method may be called: a pattern names it or a class of it, or no pattern allows anything, and no `!`
 *  pattern names it or a class of it. `*` matches any text. With `params`, `!logs` also excludes subscriptions to
 *  logs. */
export function allowsMethod(patterns: readonly string[], { name, classes }: NamedMethod, params?: unknown): boolean {
  let isAllowed = true
  let isNamed = false
  for (const pattern of patterns) {
    if (pattern.startsWith('!')) {
      const excluded = pattern.slice(1)
      if (names(excluded, name, classes) || excluded === classByParams(name, params)) return false
    } else {
      isAllowed = false
      isNamed ||= names(pattern, name, classes)
    }
  }
  return isAllowed || isNamed
}

/** True if a pattern names the class, or the method, by itself: neither `*` nor the absence of patterns does. */
export function grantsMethod(patterns: readonly string[] | undefined, { name, classes }: NamedMethod): boolean {
  return patterns?.some((pattern) => pattern === name || classes.includes(pattern)) ?? false
}

function names(pattern: string, method: string, classes: readonly string[]): boolean {
  return classes.includes(pattern) || matches(pattern, method)
}

/** Matches the texts between a pattern's stars in order, the first one at the start, the last one at the end. Unlike a
 *  regular expression, it takes linear time for any pattern. */
function matches(pattern: string, method: string): boolean {
  const [first, ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return method === first
  if (!method.startsWith(first)) return false
  let at = first.length
  for (const part of rest) {
    const found = method.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return method.length - at >= last.length && method.endsWith(last)
}

/** Parses a comma-separated list of method patterns: `eth_*`, `net_version`, `!debug_*`, `logs`; at least one.
 *  Undefined if one is malformed. */
export function parseMethodPatterns(text: string): string[] | undefined {
  const patterns = text.split(',').map((pattern) => pattern.trim())
  return patterns.every((pattern) => /^!?[\w*]{1,100}$/.test(pattern)) ? patterns : undefined
}

/** The patterns, without `!`, that name none of the methods and no class. */
export function unknownPatterns(patterns: readonly string[], methods: readonly NamedMethod[]): string[] {
  const known = [...methods.map(({ name }) => name), ...CLASS_NAMES]
  return patterns
    .map((pattern) => pattern.replace(/^!/, ''))
    .filter((pattern) => !known.some((name) => matches(pattern, name)))
}

// Omits `blocks` and `node`: whoever names their methods means exactly these.
const GUARDED = ['logs', 'calls', 'traces', 'state', 'stream', 'send'] as const

/** A class whose methods are partly excluded, by name, by patterns with `!`. */
export interface PartlyExcluded {
  readonly name: (typeof GUARDED)[number]
  /** The methods of the class that may still be called. */
  readonly left: readonly string[]
}

/** The classes that keep some methods although a `!` pattern names methods of that class only: whoever excludes a
 *  method by name seldom wants its siblings to be open. */
export function partlyExcluded(patterns: readonly string[], methods: readonly NamedMethod[]): PartlyExcluded[] {
  const excluding = patterns.filter((pattern) => pattern.startsWith('!')).map((pattern) => pattern.slice(1))
  const excluded = excluding.map((pattern) => methods.filter(({ name }) => matches(pattern, name)))
  return GUARDED.filter((name) =>
    excluded.some((found) => found.length > 0 && found.every(({ classes }) => classes.includes(name))),
  )
    .map((name) => {
      const left = methods.filter((each) => each.classes.includes(name) && allowsMethod(patterns, each))
      return { name, left: left.map((each) => each.name) }
    })
    .filter(({ left }) => left.length > 0)
}
