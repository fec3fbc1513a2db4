import type { ResolvedBlocks } from './context.js'
import { InvalidValue, invalidParams } from './errors.js'
import type { CallArguments, Method, Param } from './method.js'

/** A call whose parameters match its method's definition. Each parameter is decoded, and the blocks it names are
 *  resolved, at most once, whichever thread runs it. */
export class BoundCall implements CallArguments {
  readonly method: Method
  /** The blocks it reads, if they were resolved on arrival. */
  blocks: ResolvedBlocks | undefined
  /** The undecoded parameters in order; absent ones are undefined. */
  readonly values: readonly unknown[]
  private readonly decoded: unknown[] = []
  /** Number of decoded parameters. */
  private known = 0

  /** Ignores `values` if `args`, the decoded parameters, is set. */
  constructor(method: Method, values: readonly unknown[], args?: readonly unknown[]) {
    this.method = method
    this.values = values
    if (args !== undefined) {
      this.decoded = [...args]
      this.known = method.params.length
    }
  }

  /** The decoded parameter. @throws RpcError -32602 naming it. */
  arg(index: number): unknown {
    const { decoded } = this
    if (this.isDecoded() || index in decoded) return decoded[index]
    const value = decodeParam(this.method, index, this.values[index] ?? undefined)
    decoded[index] = value
    this.known++
    return value
  }

  /** All decoded parameters. @throws RpcError -32602 naming the first invalid one. */
  args(): readonly unknown[] {
    for (let i = 0; i < this.method.params.length; i++) this.arg(i)
    return this.decoded
  }

  /** The message for another thread to run the call, with the decoded parameters if they are decoded. Cloneable. */
  toMessage(): CallMessage {
    const { blocks, method } = this
    return this.isDecoded()
      ? { method: method.name, args: this.decoded, blocks }
      : { method: method.name, values: this.values, blocks }
  }

  private isDecoded(): boolean {
    return this.known === this.method.params.length
  }
}

/** A bound call as a message to another thread; it has either `values` or `args`. */
export interface CallMessage {
  readonly method: string
  readonly values?: readonly unknown[]
  readonly args?: readonly unknown[]
  readonly blocks?: ResolvedBlocks
}

/** Binds parameters, an array or an object by name, to those of the method. @throws RpcError -32602 for too many,
 *  unknown or missing ones. */
export function bindCall(method: Method, params: unknown): BoundCall {
  const values = Array.isArray(params) ? params : namedValues(method, params)
  const want = method.params.length
  if (values.length > want) throw invalidParams(`too many arguments, want at most ${want}`)
  for (let i = 0; i < want; i++) {
    if (method.params[i].required && (values[i] === undefined || values[i] === null)) {
      throw invalidParams(`missing value for required argument ${i}`)
    }
  }
  return new BoundCall(method, values)
}

function decodeParam(method: Method, index: number, value: unknown): unknown {
  return decodeArgument(method.params[index], index, value)
}

/** The decoded value of argument `index`. @throws RpcError -32602 naming it. */
export function decodeArgument<T>(param: Param<T>, index: number, value: unknown): T {
  try {
    return param.decode(value, '')
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error
    throw invalidParams(`invalid argument ${index}: ${error.message}`)
  }
}

function namedValues(method: Method, params: unknown): unknown[] {
  if (params === undefined || params === null) return []
  if (typeof params !== 'object') throw invalidParams('params: expected an array or an object')
  const names = method.params.map((param) => param.name)
  for (const name of Object.keys(params)) {
    if (!names.includes(name)) {
      const wanted = names.length === 0 ? 'the method takes none' : `want ${names.join(', ')}`
      throw invalidParams(`unknown parameter ${JSON.stringify(name.slice(0, 80))}, ${wanted}`)
    }
  }
  return names.map((name) => (Object.hasOwn(params, name) ? (params as Record<string, unknown>)[name] : undefined))
}
