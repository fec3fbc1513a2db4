import { parse, TomlError } from 'smol-toml'
import { UsageError } from '../../lib/errors.js'

/** A parsed configuration file. */
export interface ConfigDocument {
  readonly value: { readonly [name: string]: unknown }
  /** Returns the line, from 1 on, where the name at a path begins; undefined where it cannot be found. */
  lineOf(path: readonly string[]): number | undefined
}

/** Parses a configuration file: JSON if its name ends in .json, else TOML. Messages have its lines and none of its
 *  values, which may be secret.
 *  @throws UsageError for a syntax error, a name that is there twice, and JSON that is not an object */
export function parseDocument(path: string, text: string): ConfigDocument {
  return path.endsWith('.json') ? parseJson(path, text) : parseToml(path, text)
}

/** Returns the error of a configuration file, with file and line. */
export function configError(path: string, line: number | undefined, problem: string): UsageError {
  return new UsageError(`${path}${line === undefined ? '' : `:${line}`}: ${problem}`)
}

function parseToml(path: string, text: string): ConfigDocument {
  try {
    return { value: parse(text), lineOf: (wanted) => findTomlLine(text, wanted) }
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    // The message continues with lines of the file.
    throw configError(path, error.line, error.message.split('\n')[0])
  }
}

/** Finds where a name begins: the last line with its text before which the file is whole and lacks the name. */
function findTomlLine(text: string, path: readonly string[]): number | undefined {
  const lines = text.split('\n')
  for (let i = lines.length - 1; i >= 0; i--) {
    if (!lines[i].includes(path.at(-1)!)) continue
    try {
      if (!hasPath(parse(lines.slice(0, i).join('\n')), path)) return i + 1
    } catch {
      // within a value of several lines
    }
  }
  return undefined
}

function hasPath(value: unknown, path: readonly string[]): boolean {
  let at = value
  for (const name of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return false
    at = (at as { [name: string]: unknown })[name]
  }
  return true
}

function parseJson(path: string, text: string): ConfigDocument {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    // The message of V8 may quote the file.
    const [, line] = /\(line (\d+) column \d+\)/.exec(String(error)) ?? []
    throw configError(path, line === undefined ? undefined : Number(line), 'invalid JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw configError(path, 1, 'expected an object')
  }
  const lines = new Map<string, number>()
  for (const { key, line } of listJsonNames(text)) {
    const name = JSON.stringify(key)
    if (lines.has(name)) throw configError(path, line, `${key.at(-1)} is there twice`)
    lines.set(name, line)
  }
  return { value: value as ConfigDocument['value'], lineOf: (wanted) => lines.get(JSON.stringify(wanted)) }
}

/** Lists the names of all objects of valid JSON with their paths, in order. Elements of arrays count as names. */
function listJsonNames(text: string): { key: string[]; line: number }[] {
  const found: { key: string[]; line: number }[] = []
  const path: string[] = []
  let line = 1
  let last = { name: '', line: 0 }
  let arrays = 0
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]:\n]/g)) {
    if (token === '\n') line++
    else if (token === ':') {
      path.splice(-1, 1, last.name)
      found.push({ key: [...path], line: last.line })
    } else if (token === '{' || token === '[') path.push(token === '[' ? `[${arrays++}]` : `{${arrays++}}`)
    else if (token === '}' || token === ']') path.pop()
    else last = { name: JSON.parse(token) as string, line }
  }
  return found
}
