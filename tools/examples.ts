import type { ErrorDoc, Method } from '../src/rpc/core/method.js'
import type { MethodExamples, RecordedCall, RecordedError, RecordedExample } from '../src/rpc/examples.js'
import { messagePattern } from '../test/support/exampleServers.js'
import type { Answer } from '../test/support/rpcClient.js'
import type { RpcCase } from './rpcCases/case.js'

/** A case that was run. */
export interface RunCase {
  name: string
  each: RpcCase
  call: RecordedCall
  answer: Answer
}

// Longer results are examples only where there is no shorter one.
const SHORT_RESULT = 2_500

/** The example of a method and a call for each of its documented errors, from its cases in their order. */
export function selectExamples(method: Method, cases: readonly RunCase[]): MethodExamples {
  return {
    example: selectExample(cases),
    errors: method.errors.flatMap((documented) => selectError(documented, cases)),
  }
}

function selectExample(cases: readonly RunCase[]): RecordedExample | undefined {
  const usable = cases.filter(({ each, answer }) => answer.result !== undefined && !each.keep && !each.drop)
  const lengthOf = ({ answer }: RunCase) => JSON.stringify(answer.result).length
  const chosen =
    usable.find(({ each }) => each.example) ??
    usable.find((run) => isTelling(run.answer.result) && lengthOf(run) <= SHORT_RESULT) ??
    usable.filter(({ answer }) => isTelling(answer.result)).sort((a, b) => lengthOf(a) - lengthOf(b))[0] ??
    usable[0]
  if (!chosen) return undefined
  const { name, each, call, answer } = chosen
  return { name, ...call, result: answer.result, ...(each.varies ? { varies: true } : {}) }
}

function isTelling(result: unknown): boolean {
  return result !== null && !(Array.isArray(result) && result.length === 0) && result !== '0x'
}

function selectError({ code, message }: ErrorDoc, cases: readonly RunCase[]): RecordedError[] {
  const pattern = messagePattern(message)
  const found = cases.find(({ answer: { error } }) => error?.code === code && pattern.test(error.message))
  return found ? [{ code, message, ...found.call, answered: found.answer.error!.message }] : []
}

/** The new examples with what differs from run to run as it was recorded before: random ids, times and counts. The
 *  record then changes only where an answer does. */
export function keepVarying(recorded: MethodExamples | undefined, now: MethodExamples): MethodExamples {
  const example = now.example && keepOf(recorded?.example, now.example)
  const errors = now.errors.map((error) =>
    keepOf(
      recorded?.errors.find((old) => isSameCall(old, error)),
      error,
    ),
  )
  return { ...(example === undefined ? {} : { example }), errors }
}

/** A call as it was recorded if only what varies is different, else the new one. */
function keepOf<T extends RecordedCall & Partial<RecordedExample>>(recorded: T | undefined, now: T): T {
  if (recorded === undefined || !isSameCall(recorded, now)) return now
  const before = now.before && {
    before: now.before.map((call, i) => ({ ...call, result: recorded.before![i].result })),
  }
  const keepsResult = now.varies && shapeOf(recorded.result) === shapeOf(now.result)
  return { ...now, ...before, ...(keepsResult ? { result: recorded.result } : {}) }
}

function isSameCall(recorded: RecordedCall, now: RecordedCall): boolean {
  return identify(recorded) === identify(now)
}

function identify({ params, before = [], transport, on }: RecordedCall): string {
  const calls = before.map(({ method, params: values, result }) => [method, values, shapeOf(result)])
  return JSON.stringify([params, calls, transport, on])
}

/** A value as JSON, without its numbers and random ids. */
function shapeOf(value: unknown): string {
  return JSON.stringify(value, (_, each) => {
    if (typeof each === 'number') return 0
    return typeof each === 'string' && /^(0x[0-9a-f]{32}|\d+)$/.test(each) ? 'id' : each
  })
}
