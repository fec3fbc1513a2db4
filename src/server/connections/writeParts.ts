import { once } from 'node:events'
import type { Writable } from 'node:stream'

/** Writes the parts as they come, as fast as the client reads them. Ends early when the connection is gone. */
export async function writeParts(
  writable: Writable,
  parts: AsyncIterable<Uint8Array>,
  write: (part: Uint8Array) => boolean,
): Promise<void> {
  for await (const part of parts) {
    if (writable.destroyed) return
    if (!write(part)) await drained(writable)
  }
}

/** Resolves when the stream accepts more, or never will. */
async function drained(writable: Writable): Promise<void> {
  const done = new AbortController()
  const { signal } = done
  await Promise.race(['drain', 'close'].map((event) => once(writable, event, { signal }))).catch(() => {})
  done.abort()
}
