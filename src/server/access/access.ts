import type { FailureLog } from '../../lib/failureLog.js'
import { abbreviate } from '../../lib/hex.js'
import type { ClientId } from '../../rpc/core/dispatch.js'
import type { RpcCall } from '../../rpc/core/envelope.js'
import type { RpcErrorBody } from '../../rpc/core/errors.js'
import { INTERNAL_ERROR, LIMIT_EXCEEDED, METHOD_NOT_FOUND, UNAUTHORIZED } from '../../rpc/core/errors.js'
import type { MethodTable } from '../../rpc/core/method.js'
import type { ApiKeyReader, KeyLimits, LiveKey } from '../../store/keys/apiKeys.js'
import type { RefusalReason } from '../admission/refusals.js'
import { clientOfAddress } from './addresses.js'
import { createGuessLimiter } from './keyGuesses.js'
import { allowsMethod, type NamedMethod } from './methodPatterns.js'
import type { RateLimiter, RateRefusal } from './rateLimit.js'

/** The authenticated caller. `keyId` and `name` are undefined on an open server. */
export interface Caller {
  readonly keyId: number | undefined
  readonly name?: string
  /** Limits of the key, as last found by `refuse`; undefined if it has none. */
  limits?: KeyLimits
}

/** Identity for fair scheduling of threads and memory: the API key, else the connection. */
export function clientOf(caller: Caller, connection: object): ClientId {
  return caller.keyId ?? connection
}

/** The parts of a request that identify the caller. */
export interface Credentials {
  /** With the query string, if any. */
  readonly path: string
  /** The `Authorization` header. */
  readonly authorization: string | undefined
  /** The `X-API-Key` header. */
  readonly apiKey: string | undefined
  readonly remoteAddress: string | undefined
}

/** A refused request: status and reason. */
export interface Refusal {
  /** 401; 429 and 503 with a retry delay; 503 without one while the keys cannot be read. */
  readonly status: 401 | 429 | 503
  readonly reason: RefusalReason
  readonly error: RpcErrorBody
  readonly retryAfterSeconds?: number
}

/** The `Retry-After` header of a refusal, if a retry makes sense. */
export function retryHeaders({ retryAfterSeconds }: Refusal): string[] {
  return retryAfterSeconds === undefined ? [] : ['Retry-After', String(retryAfterSeconds)]
}

/** Authentication and rate limits. */
export interface Access {
  /** The caller named by the API key in the path, else in the headers, or the refusal. Undefined for a path that
   *  accepts no calls. `prefix` is `/v3` or `/ws/v3`. */
  identify(credentials: Credentials, prefix: string): Caller | Refusal | undefined
  /** The response to a refused request: the refusal of `identify`, or 429 when this client has sent too many wrong
   *  keys. Counts the refusal, so call it once per request. A valid key is accepted whatever came before it. */
  countRefusal(refusal: Refusal, remoteAddress: string | undefined): Refusal
  /** Refuses calls of a caller whose key was revoked or that exceeds the rate limit; undefined when they may run. */
  refuse(caller: Caller, calls: number): Refusal | undefined
  /** True if `refuse` charges calls of the caller to a bucket. */
  isRateLimited(caller: Caller): boolean
  /** Counts work of a call that is under way as another call of its key: a fetch of state. */
  countWork(keyId: number): void
  /** False once the caller's key is revoked. */
  isLive(caller: Caller): boolean
  /** The error of a method, with these parameters, that the limits of the caller's key exclude; undefined for an
   *  allowed one. */
  exclude(caller: Caller, method: string, params?: unknown): RpcErrorBody | undefined
  /** True if the limits of the caller's key exclude a path, or a part of it, by this name and these classes. */
  excludes(caller: Caller, named: NamedMethod): boolean
  /** Returns a check that runs before each call of a body and returns the error of a call that the key may not make: of
   *  every call of a batch once the key is revoked, and of methods that its limits exclude. Undefined if there is
   *  nothing to check. Call it after `refuse`. */
  guardCalls(caller: Caller, isBatch: boolean): ((call: RpcCall) => RpcErrorBody | undefined) | undefined
}

/** How long a key lookup is reused within a batch. A lookup takes as long as a small call. */
const KEY_CHECK_INTERVAL_MS = 5

const KEY_REQUIRED: Refusal = {
  status: 401,
  reason: 'unauthorized',
  error: { code: UNAUTHORIZED, message: 'API key required in the path' },
}
/** Refusal of a key that is unknown or revoked. */
export const KEY_INVALID: Refusal = {
  status: 401,
  reason: 'unauthorized',
  error: { code: UNAUTHORIZED, message: 'invalid API key' },
}

const KEYS_UNREADABLE: Refusal = {
  status: 503,
  reason: 'keys_unreadable',
  error: { code: INTERNAL_ERROR, message: 'internal error' },
}

const TOO_MANY_GUESSES: RpcErrorBody = { code: LIMIT_EXCEEDED, message: 'too many invalid API keys' }

/** True when `identify` returned a refusal. */
export function isRefusal(answer: Caller | Refusal): answer is Refusal {
  return 'error' in answer
}

/** Access by API key, or for everyone when `open`. `rateLimitRps` is per key; 0 disables it. While the database cannot
 *  be read, which is reported to `failures`, new callers with a key are refused and known callers stay. */
export function createAccess(options: {
  keys: ApiKeyReader
  methods: MethodTable
  open: boolean
  rateLimitRps: number
  limiter: RateLimiter
  failures: FailureLog
}): Access {
  const { keys, methods, open, rateLimitRps, limiter, failures } = options
  const guesses = createGuessLimiter()
  /** Reads the keys; returns `otherwise` when they cannot be read. The callers here do not catch errors. */
  const tryRead = <T, Otherwise>(read: () => T, otherwise: Otherwise): T | Otherwise => {
    try {
      const found = read()
      failures.worked()
      return found
    } catch (error) {
      failures.failed(error)
      return otherwise
    }
  }
  /** Reads the limits of the caller's key; false once it is revoked. */
  const isLive = (caller: Caller) => {
    const { keyId } = caller
    if (keyId === undefined) return true
    const key = tryRead((): LiveKey | 'revoked' => keys.live(keyId) ?? 'revoked', undefined)
    if (key === 'revoked') return false
    if (key !== undefined) caller.limits = key.limits
    return true
  }
  const allowedRpsOf = ({ limits }: Caller) => limits?.rateRps ?? rateLimitRps
  const exclude = (caller: Caller, method: string, params?: unknown) => {
    const patterns = caller.limits?.methods
    if (patterns === undefined) return undefined
    const classes = methods.get(method)?.classes ?? []
    return allowsMethod(patterns, { name: method, classes }, params) ? undefined : methodExcluded(method)
  }
  return {
    identify(credentials, prefix) {
      const inPath = keyInPath(credentials.path, prefix)
      if (inPath === undefined) return undefined
      if (open) return { keyId: undefined }
      const key = inPath || keyInHeaders(credentials)
      if (key === '') return KEY_REQUIRED
      return tryRead(() => {
        const found = keys.find(key)
        return found === undefined ? KEY_INVALID : { keyId: found.id, name: found.name, limits: found.limits }
      }, KEYS_UNREADABLE)
    },
    countRefusal(refusal, remoteAddress) {
      if (refusal !== KEY_INVALID) return refusal // a request without a key is not a guess
      const retryAfterSeconds = guesses.charge(clientOfAddress(remoteAddress))
      return retryAfterSeconds === undefined
        ? refusal
        : { status: 429, reason: 'key_guesses', error: TOO_MANY_GUESSES, retryAfterSeconds }
    },
    refuse(caller, calls) {
      if (!isLive(caller)) return KEY_INVALID
      const allowedRps = allowedRpsOf(caller)
      if (allowedRps === 0 || caller.keyId === undefined) return undefined
      const refusal = limiter.charge(caller.keyId, calls, allowedRps)
      if (refusal === undefined) return undefined
      const retryAfterSeconds = Math.max(1, Math.ceil(refusal.backoff_seconds))
      return { status: 429, reason: 'rate_limit', error: rateError(refusal), retryAfterSeconds }
    },
    isRateLimited: (caller) => caller.keyId !== undefined && allowedRpsOf(caller) !== 0,
    countWork: (keyId) => limiter.debit(keyId, 1),
    isLive,
    exclude,
    excludes: ({ limits }, named) => limits?.methods !== undefined && !allowsMethod(limits.methods, named),
    guardCalls(caller, isBatch) {
      if (!isBatch && caller.limits === undefined) return undefined
      if (caller.keyId === undefined) return undefined
      let checkedMs = Number.NEGATIVE_INFINITY
      return ({ method, params }) => {
        const now = isBatch ? performance.now() : checkedMs
        if (now - checkedMs >= KEY_CHECK_INTERVAL_MS) {
          if (!isLive(caller)) return KEY_INVALID.error
          checkedMs = now
        }
        return exclude(caller, method, params)
      }
    },
  }
}

/** The path segment after the prefix. Empty for the prefix alone and for its parents (`/`, `/ws`); undefined for any
 *  other path. */
function keyInPath(path: string, prefix: string): string | undefined {
  const end = path.indexOf('?')
  const bare = (end < 0 ? path : path.slice(0, end)).replace(/\/$/, '')
  if (bare === '' || bare === prefix || bare === prefix.replace('/v3', '')) return ''
  return bare.startsWith(`${prefix}/`) ? bare.slice(prefix.length + 1) : undefined
}

/** The start of the key in a request, for logs; undefined without one. Too short to try the rest. */
export function maskKey(credentials: Credentials, prefix: string): string | undefined {
  const key = keyInPath(credentials.path, prefix) || keyInHeaders(credentials)
  return key === '' ? undefined : `${key.slice(0, 4)}…`
}

/** The key of `Authorization: Bearer KEY` (RFC 6750, section 2.1) or `X-API-Key: KEY`; empty when neither is
 *  present. */
function keyInHeaders({ authorization, apiKey }: Credentials): string {
  const bearer = authorization && /^bearer +([^ ]+) *$/i.exec(authorization)?.[1]
  return bearer || apiKey || ''
}

/** The error of a method that does not exist, with the reason. */
function methodExcluded(method: string): RpcErrorBody {
  const message = `the method ${abbreviate(method)} does not exist/is not available: this API key may not call it`
  return { code: METHOD_NOT_FOUND, message }
}

function rateError(refusal: RateRefusal): RpcErrorBody {
  return { code: LIMIT_EXCEEDED, message: 'request rate exceeded', data: refusal }
}
