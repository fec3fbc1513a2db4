import type { ObserveCall } from '../../rpc/core/clientDispatcher.js'
import { isCall, type ParsedBody, type RpcOutcome } from '../../rpc/core/envelope.js'
import type { RpcErrorBody } from '../../rpc/core/errors.js'
import type { Caller } from '../access/access.js'
import type { AccessLog } from './accessLog.js'
import type { KeyUsageCounter } from './keyUsage.js'

/** Destinations of request records; absent: not recorded. */
export interface Accounting {
  readonly accessLog?: AccessLog
  readonly usage?: KeyUsageCounter
}

/** Method names in one line. Each name is cut. */
const MAX_METHODS = 10
const MAX_METHOD_CHARACTERS = 64

/** A request, or a message on a WebSocket, until its response. */
export interface RequestRecord {
  /** Records the parsed body. Returns a function that records its calls. */
  receive(caller: Caller, body: ParsedBody, sizeBytes: number): ObserveCall
  /** The error with which the whole request was refused. */
  refuse(error: RpcErrorBody): void
  /** The response was handed to the connection, or never will be: 499 for a client that left. Only the first call
   *  counts. */
  end(status: number, sizeBytes: number): void
}

/** Origin of a request. `key` is the masked key, or the name of the caller. */
export interface RequestOrigin {
  readonly transport: 'http' | 'ws'
  readonly remoteAddress: string | undefined
  readonly key: string | undefined
}

/** Opens a record of a request that begins now. */
export function openRecord({ accessLog, usage }: Accounting, origin: RequestOrigin): RequestRecord {
  const begunMs = performance.now()
  let parsed: ParsedBody | undefined
  let bytesIn = 0
  let errors = 0
  let code: number | undefined
  let hasEnded = false
  const countError = (error: RpcErrorBody) => {
    errors++
    code ??= error.code
  }
  return {
    receive({ keyId }, body, sizeBytes) {
      parsed = body
      bytesIn = sizeBytes
      const items = body.kind === 'single' ? [body.item] : body.items
      for (const item of items) if (!isCall(item)) countError(item.error)
      const share = sizeBytes / items.length
      return ({ method }, outcome, callBegunMs) => {
        const failed = 'error' in outcome
        if (failed) countError(outcome.error)
        if (usage === undefined || keyId === undefined) return outcome
        const ms = performance.now() - callBegunMs
        const bytesOut = failed ? 0 : outcome.result.length
        usage.add(keyId, method, { calls: 1, errors: failed ? 1 : 0, bytesIn: share, bytesOut, ms })
        return countRest(outcome, (figures) =>
          usage.add(keyId, method, { calls: 0, errors: 0, bytesIn: 0, bytesOut: 0, ms: 0, ...figures }),
        )
      }
    },
    refuse: countError,
    end(status, sizeBytes) {
      if (hasEnded) return
      hasEnded = true
      accessLog?.write({
        client: origin.remoteAddress,
        key: origin.key,
        transport: origin.transport,
        ...describeBody(parsed),
        status,
        ...(code !== undefined && { code }),
        ...(parsed?.kind === 'batch' && { errors }),
        bytesIn,
        bytesOut: sizeBytes,
        ms: Math.round((performance.now() - begunMs) * 1000) / 1000,
      })
    },
  }
}

function describeBody(body: ParsedBody | undefined): object {
  if (body === undefined) return {}
  if (body.kind === 'single') return isCall(body.item) ? { methods: [cut(body.item.method)] } : {}
  const names = new Set<string>()
  for (const item of body.items) {
    if (names.size === MAX_METHODS) break
    if (isCall(item)) names.add(cut(item.method))
  }
  return { batch: body.items.length, methods: [...names] }
}

function cut(method: string): string {
  return method.length > MAX_METHOD_CHARACTERS ? `${method.slice(0, MAX_METHOD_CHARACTERS)}…` : method
}

/** Counts the parts of a result that are still to come. */
function countRest(outcome: RpcOutcome, add: (figures: { bytesOut: number } | { errors: 1 }) => void): RpcOutcome {
  if ('error' in outcome || outcome.rest === undefined) return outcome
  const { rest } = outcome
  return {
    result: outcome.result,
    rest: {
      async next() {
        try {
          const part = await rest.next()
          if (part !== undefined) add({ bytesOut: part.length })
          return part
        } catch (error) {
          add({ errors: 1 })
          throw error
        }
      },
      cancel: () => rest.cancel(),
    },
  }
}
