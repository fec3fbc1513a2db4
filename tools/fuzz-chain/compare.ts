import { isDeepStrictEqual } from 'node:util'
import { INTENDED, type IntendedDifference, type JsonAnswer } from './differences.js'
import type { Request } from './requests/random.js'

/** A request to which two servers answer differently. */
export interface Finding {
  request: Request
  /** Where the answers differ, with both values. */
  differences: string[]
  /** The tracer, or the method: findings of one kind are often of one cause. */
  kind: string
}

/** Most values of a difference that are shown. */
const MOST_SHOWN = 4

/** Compares the answers of Cairn and geth to requests, without the intended differences. */
export async function* compareAnswers(
  urls: { cairn: string; geth: string },
  requests: Iterable<Request>,
  intended: readonly IntendedDifference[] = INTENDED,
): AsyncGenerator<Finding> {
  for (const request of requests) {
    const [own, theirs] = await Promise.all([urls.cairn, urls.geth].map((url) => askText(url, request)))
    if (own === theirs) continue
    const differences = differencesOf(request, [parseAnswer(own), parseAnswer(theirs)], intended)
    if (differences.length > 0) yield { request, differences, kind: kindOf(request) }
  }
}

/** The answer as text. */
async function askText(url: string, { method, params }: Request): Promise<string> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  try {
    const response = await fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })
    return (await response.text()).trim()
  } catch (cause) {
    throw new Error(`no answer from ${url} to ${body}`, { cause })
  }
}

function parseAnswer(text: string): JsonAnswer {
  try {
    return JSON.parse(text) as JsonAnswer
  } catch (error) {
    return { invalid: `${error}: ${text.slice(0, 200)}` }
  }
}

function differencesOf(
  request: Request,
  answers: [JsonAnswer, JsonAnswer],
  intended: readonly IntendedDifference[],
): string[] {
  let pair = answers
  for (const { apply } of intended) pair = apply(request, ...pair) ?? pair
  const found: string[] = []
  collect(pair[0], pair[1], '', found)
  return found
}

function collect(own: unknown, theirs: unknown, path: string, found: string[]): void {
  if (found.length >= MOST_SHOWN || isDeepStrictEqual(own, theirs)) return
  const objects = [own, theirs].every((each) => typeof each === 'object' && each !== null)
  if (!objects || Array.isArray(own) !== Array.isArray(theirs)) {
    found.push(`${path}: cairn ${show(own)}, geth ${show(theirs)}`)
    return
  }
  const [left, right] = [own, theirs] as { [name: string]: unknown }[]
  for (const name of new Set([...Object.keys(left), ...Object.keys(right)])) {
    collect(left[name], right[name], `${path}.${name}`, found)
  }
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 200 ? `${text.slice(0, 197)}...` : text
}

function kindOf({ method, params }: Request): string {
  const config = params.find((each) => typeof each === 'object' && each !== null && 'tracer' in each)
  return config === undefined ? method : `${method} ${(config as { tracer: string }).tracer}`
}
