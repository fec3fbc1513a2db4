import { isDeepStrictEqual } from 'node:util'
import type { RecordedAnswer } from '../chains/recordings.js'

/** Where an answer differs from the recorded one; empty when it does not. Members that the recording lacks are allowed,
 *  since a newer answer may say more. An error must have the recorded code and data; its words are compared when
 *  `messages` is set. With `kindOnly`, result stands against result and error against error, whatever they hold. */
export function compareAnswers(
  recorded: RecordedAnswer,
  actual: RecordedAnswer,
  { kindOnly = false, messages = false } = {},
): string[] {
  if (recorded.error !== undefined) {
    if (actual.error === undefined) return [`expected error ${show(recorded.error)}, got ${show(actual.result)}`]
    const names = ['code', ...('data' in recorded.error ? ['data'] : []), ...(messages ? ['message'] : [])] as const
    return names.flatMap((name) =>
      compareValues(recorded.error![name as 'code'], actual.error![name as 'code'], `error.${name}`),
    )
  }
  if (actual.error !== undefined) return [`expected ${show(recorded.result)}, got error ${show(actual.error)}`]
  if (!kindOnly) return compareValues(recorded.result, actual.result, 'result')
  const [wanted, got] = [kindOf(recorded.result), kindOf(actual.result)]
  return wanted === got ? [] : [`result: expected ${wanted}, got ${got}`]
}

function compareValues(recorded: unknown, actual: unknown, path: string): string[] {
  const kind = kindOf(recorded)
  if (kind !== kindOf(actual)) return [differ(path, recorded, actual)]
  if (kind === 'array') {
    const [wanted, got] = [recorded as unknown[], actual as unknown[]]
    const length = wanted.length === got.length ? [] : [differ(`${path}.length`, wanted.length, got.length)]
    return [
      ...length,
      ...wanted.flatMap((item, i) => (i < got.length ? compareValues(item, got[i], `${path}[${i}]`) : [])),
    ]
  }
  if (kind === 'object') {
    const got = actual as { [name: string]: unknown }
    return Object.entries(recorded as object).flatMap(([name, value]) => {
      if (name in got) return compareValues(value, got[name], `${path}.${name}`)
      return value === null ? [] : [differ(`${path}.${name}`, value, undefined)]
    })
  }
  return isDeepStrictEqual(normalizeHex(recorded), normalizeHex(actual)) ? [] : [differ(path, recorded, actual)]
}

function normalizeHex(value: unknown): unknown {
  return typeof value === 'string' && /^0x[0-9a-f]*$/i.test(value) ? value.toLowerCase() : value
}

function differ(path: string, recorded: unknown, actual: unknown): string {
  return `${path}: expected ${show(recorded)}, got ${show(actual)}`
}

function kindOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 120 ? `${text.slice(0, 117)}...` : text
}
