import { inspect } from 'node:util'
import { mapStack } from './sourceMaps.js'

/** Base of every failure that Cairn names itself. Subclasses carry what a caller needs as fields; only `rpc/errors`
 *  assigns JSON-RPC codes. */
export class CairnError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
  }
}

/** The command was used wrongly: unknown option, missing file, bad value. The process exits with 2. */
export class UsageError extends CairnError {}

/** Work was aborted and will be redone elsewhere or differently. It is not an answer to the request, so no layer
 *  translates it. */
export class Interruption extends CairnError {}

/** Creates an error that is thrown to be caught, and often: without a stack, which takes longer than all else. */
export function withoutStack<E extends Error>(create: () => E): E {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    return create()
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

/** Cleans up after `error` and throws it, whatever the clean-up throws: the operator needs the first failure. */
export function withoutHiding(error: unknown, cleanUp: () => void): never {
  try {
    cleanUp()
  } catch {
    // The cause of both is most likely the same, such as a full disk.
  }
  throw error
}

/** The message of anything thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** All details of a thrown value, for the log: an error's stack, else its content. Errors of other threads may arrive
 *  as plain objects. */
export function describeError(error: unknown): string {
  if (typeof error === 'string') return error
  const { stack, message } = (error ?? {}) as { stack?: unknown; message?: unknown }
  if (typeof stack === 'string') return mapStack(stack)
  return typeof message === 'string' ? message : inspect(error, { depth: 3 })
}
