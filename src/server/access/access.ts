import type { FailureLog } from '../../lib/failureLog.js'
import type { ClientId } from '../../rpc/core/dispatch.js'
import type { RpcErrorBody } from '../../rpc/core/errors.js'
import { INTERNAL_ERROR, LIMIT_EXCEEDED, UNAUTHORIZED } from '../../rpc/core/errors.js'
import type { ApiKeyReader } from '../../store/apiKeys.js'
import type { RefusalReason } from '../limits/refusals.js'
import { clientOfAddress } from './addresses.js'
import { createGuessLimiter } from './keyGuesses.js'
import { createRateLimiter, type RateRefusal } from './rateLimit.js'

/** Who asks: `keyId` is undefined on an open server. */
export interface Caller {
  readonly keyId: number | undefined
}

/** Whose turn it is when threads and memory are shared: the key's, else the connection's. */
export function clientOf(caller: Caller, connection: object): ClientId {
  return caller.keyId ?? connection
}

/** What of a request says who asks. */
export interface Credentials {
  /** With the query, if any. */
  readonly path: string
  /** The `Authorization` header. */
  readonly authorization: string | undefined
  /** The `X-API-Key` header. */
  readonly apiKey: string | undefined
  readonly remoteAddress: string | undefined
}

/** Why a request is not answered. */
export interface Refusal {
  /** 401; 429 and 503 with a time to wait; 503 without one while keys cannot be looked up. */
  readonly status: 401 | 429 | 503
  readonly reason: RefusalReason
  readonly error: RpcErrorBody
  readonly retryAfterSeconds?: number
}

/** Decides who may ask, and how often. */
export interface Access {
  /** The caller that a request names by the key in its path, else in its headers, or why it is refused; undefined for a path
   *  that takes no calls. `prefix` is `/v3` or `/ws/v3`. */
  identify(credentials: Credentials, prefix: string): Caller | Refusal | undefined
  /** What to answer to whom `identify` refused: the same, or 429 where this client has sent many wrong keys. Counts this one,
   *  so it is called once for each request. A right key is let in whatever came before. */
  countRefusal(refusal: Refusal, remoteAddress: string | undefined): Refusal
  /** Why these calls of a caller are refused: its key was revoked, or it asks too often. */
  refuse(caller: Caller, calls: number): Refusal | undefined
  /** False once the caller's key is revoked. */
  isLive(caller: Caller): boolean
  /** Tells, asked before each call of a batch, why the rest of it is refused: the key was revoked. Undefined for a caller
   *  without a key. */
  watchKey(caller: Caller): (() => RpcErrorBody | undefined) | undefined
}

/** How long a key is taken to be live while a batch runs: to look it up takes as long as a small call. */
const KEY_LIVES_MS = 5

const KEY_REQUIRED: Refusal = {
  status: 401,
  reason: 'unauthorized',
  error: { code: UNAUTHORIZED, message: 'API key required in the path' },
}
const KEY_INVALID: Refusal = {
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

/** True for what `identify` gives when it refuses. */
export function isRefusal(answer: Caller | Refusal): answer is Refusal {
  return 'error' in answer
}

/** Access by API key, or for everyone when `open`. `rateLimitRps` is per key; 0 is no limit. While the database cannot be read,
 *  which `failures` is told, nobody with a key is let in, and callers who were let in stay. */
export function createAccess(options: {
  keys: ApiKeyReader
  open: boolean
  rateLimitRps: number
  failures: FailureLog
}): Access {
  const { keys, open, rateLimitRps, failures } = options
  const limiter = rateLimitRps > 0 ? createRateLimiter(rateLimitRps) : undefined
  const guesses = createGuessLimiter()
  /** What the keys say; `otherwise` where they cannot be read: on the ways here nobody catches an error. */
  const lookUp = <T, Otherwise>(read: () => T, otherwise: Otherwise): T | Otherwise => {
    try {
      const found = read()
      failures.worked()
      return found
    } catch (error) {
      failures.failed(error)
      return otherwise
    }
  }
  const isLive = ({ keyId }: Caller) => keyId === undefined || lookUp(() => keys.isLive(keyId), true)
  return {
    identify(credentials, prefix) {
      const inPath = keyInPath(credentials.path, prefix)
      if (inPath === undefined) return undefined
      if (open) return { keyId: undefined }
      const key = inPath || keyInHeaders(credentials)
      if (key === '') return KEY_REQUIRED
      return lookUp(() => {
        const keyId = keys.find(key)
        return keyId === undefined ? KEY_INVALID : { keyId }
      }, KEYS_UNREADABLE)
    },
    countRefusal(refusal, remoteAddress) {
      if (refusal !== KEY_INVALID) return refusal // without a key nothing was guessed
      const retryAfterSeconds = guesses.charge(clientOfAddress(remoteAddress))
      return retryAfterSeconds === undefined
        ? refusal
        : { status: 429, reason: 'key_guesses', error: TOO_MANY_GUESSES, retryAfterSeconds }
    },
    refuse(caller, calls) {
      if (!isLive(caller)) return KEY_INVALID
      if (limiter === undefined || caller.keyId === undefined) return undefined
      const refusal = limiter.charge(caller.keyId, calls)
      if (refusal === undefined) return undefined
      const retryAfterSeconds = Math.max(1, Math.ceil(refusal.backoff_seconds))
      return { status: 429, reason: 'rate_limit', error: rateError(refusal), retryAfterSeconds }
    },
    isLive,
    watchKey(caller) {
      if (caller.keyId === undefined) return undefined
      let seenMs = Number.NEGATIVE_INFINITY
      return () => {
        const now = performance.now()
        if (now - seenMs < KEY_LIVES_MS) return undefined
        if (!isLive(caller)) return KEY_INVALID.error
        seenMs = now
        return undefined
      }
    },
  }
}

/** The path segment after the prefix, empty for the prefix alone and for the paths above it (`/`, `/ws`); undefined for
 *  another path. */
function keyInPath(path: string, prefix: string): string | undefined {
  const end = path.indexOf('?')
  const bare = (end < 0 ? path : path.slice(0, end)).replace(/\/$/, '')
  if (bare === '' || bare === prefix || bare === prefix.replace('/v3', '')) return ''
  return bare.startsWith(`${prefix}/`) ? bare.slice(prefix.length + 1) : undefined
}

/** The key of `Authorization: Bearer KEY` (RFC 6750, section 2.1) or of `X-API-Key: KEY`; empty when there is none. */
function keyInHeaders({ authorization, apiKey }: Credentials): string {
  const bearer = authorization && /^bearer +([^ ]+) *$/i.exec(authorization)?.[1]
  return bearer || apiKey || ''
}

function rateError(refusal: RateRefusal): RpcErrorBody {
  return { code: LIMIT_EXCEEDED, message: 'request rate exceeded', data: refusal }
}
