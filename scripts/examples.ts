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
