import { readFileSync } from 'node:fs'
import { packagePath } from '../store/open.js'
import type { Method } from './core/method.js'

/** A call of a recorded example. In `params`, `$1` is the result of the first call of `before`. */
export interface RecordedCall {
  readonly params: unknown
  /** Calls made before it on the same connection. */
  readonly before?: readonly { readonly method: string; readonly params: unknown; readonly result: unknown }[]
  /** The required transport; absent: any. */
  readonly transport?: 'http' | 'websocket'
  /** The server it was recorded on, by its name in `test/support/exampleServers` or the options of `cairn serve`;
   *  absent: `cairn serve --fixture fixtures/chain`. */
  readonly on?: string
}

/** The example of a method. */
export interface RecordedExample extends RecordedCall {
  readonly name: string
  readonly result: unknown
  /** The result differs on every call. */
  readonly varies?: true
}

/** A call that fails with a documented error. */
export interface RecordedError extends RecordedCall {
  /** Code and message of the documented error. */
  readonly code: number
  readonly message: string
  /** The message that the server returned. */
  readonly answered: string
}

/** The recorded examples of a method. */
export interface MethodExamples {
  readonly example?: RecordedExample
  readonly errors: readonly RecordedError[]
}

/** Recorded examples by method name. */
export type Examples = { readonly [method: string]: MethodExamples }

/** Where `npm run record:rpc` writes the examples. */
export const EXAMPLES_FILE = packagePath('fixtures/rpc-examples.json')

let examples: Examples | undefined

/** The recorded examples of all methods; read once, on first use. */
export function readExamples(): Examples {
  examples ??= JSON.parse(readFileSync(EXAMPLES_FILE, 'utf8')) as Examples
  return examples
}

/** The parameters of a recorded call as sent, with the results of the previous calls in place of `$1`, `$2`, … */
export function sentParams({ params, before = [] }: RecordedCall): unknown {
  return bindResults(
    params,
    before.map(({ result }) => result),
  )
}

/** The parameters with `results` in place of `$1`, `$2`, … */
export function bindResults(params: unknown, results: readonly unknown[]): unknown {
  if (!Array.isArray(params)) return params
  return params.map((value) => (/^\$\d$/.test(value) ? results[Number(value.slice(1)) - 1] : value))
}

/** The values of the method's parameters in their order; absent ones are undefined. */
export function exampleValues(method: Method, call: RecordedCall): unknown[] {
  const params = sentParams(call)
  if (Array.isArray(params)) return params
  return method.params.map(({ name }) => (params as { [name: string]: unknown } | undefined)?.[name])
}

/** Methods without an example, each with the reason. */
export const WITHOUT_EXAMPLE: { readonly [method: string]: string } = {
  cairn_addAbi: 'The result is the id of the ABI. The servers of the examples are open, and it needs an API key.',
  rpc_discover: 'The result is the OpenRPC document of all methods on this page.',
}
