/** The longest wait that an upstream may ask for. */
export const MAX_RETRY_AFTER_MS = 5 * 60_000

/** Returns the milliseconds that a Retry-After header asks for, in seconds or as a date (RFC 9110, section 10.2.3): 0
 *  to 5 minutes. Undefined for a header that is absent or neither. */
export function parseRetryAfter(header: string | undefined, unixMs: number): number | undefined {
  if (header === undefined) return undefined
  const text = header.trim()
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - unixMs
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS)
}
