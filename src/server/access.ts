import type { RpcErrorBody } from '../rpc/errors.js'
import { LIMIT_EXCEEDED, UNAUTHORIZED } from '../rpc/errors.js'
import type { ApiKeyReader } from '../store/apiKeys.js'
import { createRateLimiter, type RateRefusal } from './rateLimit.js'

/** Who asks: `keyId` is undefined on an open server. */
export interface Caller {
  readonly keyId: number | undefined
}

/** Decides who may ask, and how often. */
export interface Access {
  /** The caller that a request path names, or why it is refused; undefined for a path that takes no calls. `prefix` is
   *  `/v3` or `/ws/v3`. */
  identify(path: string, prefix: string): Caller | RpcErrorBody | undefined
  /** Why these calls of a caller are refused: its key was revoked, or it asks too often. */
  refuse(caller: Caller, calls: number): { error: RpcErrorBody; retryAfterSeconds?: number } | undefined
  /** False once the caller's key is revoked. */
  isLive(caller: Caller): boolean
}

const KEY_REQUIRED: RpcErrorBody = { code: UNAUTHORIZED, message: 'API key required in the path' }
const KEY_INVALID: RpcErrorBody = { code: UNAUTHORIZED, message: 'invalid API key' }

/** True for what `identify` gives when it refuses. */
export function isRefusal(answer: Caller | RpcErrorBody): answer is RpcErrorBody {
  return 'code' in answer
}

/** Access by API key, or for everyone when `open`. `rateLimitRps` is per key; 0 is no limit. */
export function createAccess(options: { keys: ApiKeyReader; open: boolean; rateLimitRps: number }): Access {
  const { keys, open, rateLimitRps } = options
  const limiter = rateLimitRps > 0 ? createRateLimiter(rateLimitRps) : undefined
  const isLive = (caller: Caller) => caller.keyId === undefined || keys.isLive(caller.keyId)
  return {
    identify(path, prefix) {
      const key = keyInPath(path, prefix)
      if (key === undefined) return undefined
      if (open) return { keyId: undefined }
      if (key === '') return KEY_REQUIRED
      const keyId = keys.find(key)
      return keyId === undefined ? KEY_INVALID : { keyId }
    },
    refuse(caller, calls) {
      if (!isLive(caller)) return { error: KEY_INVALID }
      if (limiter === undefined || caller.keyId === undefined) return undefined
      const refusal = limiter.charge(caller.keyId, calls)
      return (
        refusal && { error: rateError(refusal), retryAfterSeconds: Math.max(1, Math.ceil(refusal.backoff_seconds)) }
      )
    },
    isLive,
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

function rateError(refusal: RateRefusal): RpcErrorBody {
  return { code: LIMIT_EXCEEDED, message: 'request rate exceeded', data: refusal }
}
