import { createHmac, timingSafeEqual } from 'node:crypto'

// Engine API, authentication: "iat" within 60 s.
const MAX_SKEW_SECONDS = 60
// Tokens have about 130 characters.
const MAX_TOKEN_CHARACTERS = 4096

/** Checks the Authorization header of a request: a JSON web token signed with HS256 (RFC 7519) by the secret, 32 bytes,
 *  issued within 60 s of `nowSeconds`. Returns why it is refused; undefined when it is accepted. */
export function checkToken(
  header: string | undefined,
  { secret, nowSeconds }: { secret: Uint8Array; nowSeconds: number },
): string | undefined {
  if (header === undefined) return 'missing token'
  const [, token] = /^Bearer ([\w.-]+)$/i.exec(header.slice(0, MAX_TOKEN_CHARACTERS)) ?? []
  const parts = token?.split('.') ?? []
  if (parts.length !== 3) return 'malformed token'
  const [head, claims, signature] = parts
  if (readObject(head)?.alg !== 'HS256') return 'the token is not signed with HS256'
  const expected = createHmac('sha256', secret).update(`${head}.${claims}`).digest()
  const actual = Buffer.from(signature, 'base64url')
  if (actual.length !== expected.length || !timingSafeEqual(actual, expected)) return 'the token has another signature'
  const { iat, exp } = readObject(claims) ?? {}
  if (typeof iat !== 'number' || Math.abs(iat - nowSeconds) > MAX_SKEW_SECONDS)
    return `the token was not issued within ${MAX_SKEW_SECONDS} s`
  if (exp !== undefined && !(typeof exp === 'number' && exp > nowSeconds)) return 'the token has expired'
  return undefined
}

function readObject(part: string): { readonly [name: string]: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
    return typeof value === 'object' && value !== null ? (value as { [name: string]: unknown }) : undefined
  } catch {
    return undefined
  }
}
