import { createHash } from 'node:crypto'
import { readPart } from '../lib/objects/directoryStore.js'
import type { FilePart } from '../lib/objects/objectStore.js'
import type { SnapshotPart } from './manifest.js'

/** A part and its offset in the database file. */
export interface PlacedPart extends SnapshotPart {
  readonly index: number
  /** Offset of its first byte. */
  readonly from: number
}

/** Returns the parts with their offsets. */
export function placeParts({ parts, partBytes }: { parts: readonly SnapshotPart[]; partBytes: number }): PlacedPart[] {
  return parts.map((part, index) => ({ ...part, index, from: index * partBytes }))
}

/** Returns the SHA-256 of a part of a file as 64 hex digits. @throws the reason of the signal */
export async function digestPart(part: FilePart, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of readPart(part, signal)) hash.update(chunk as Uint8Array)
  return hash.digest('hex')
}

/** Cuts a file into parts and digests them. @throws the reason of the signal */
export async function cutIntoParts(
  path: string,
  bytes: number,
  { partBytes, signal, onProgress }: { partBytes: number; signal: AbortSignal; onProgress(done: number): void },
): Promise<SnapshotPart[]> {
  const parts: SnapshotPart[] = []
  for (let from = 0; from < bytes; from += partBytes) {
    const length = Math.min(partBytes, bytes - from)
    parts.push({ sha256: await digestPart({ path, from, length }, signal), bytes: length })
    onProgress(from + length)
  }
  return parts
}

/** Runs a task for each item, up to `concurrency` at a time. The first failure stops the others and is thrown once all
 *  have ended. */
export async function forEachConcurrently<T>(
  items: readonly T[],
  { concurrency, signal }: { concurrency: number; signal: AbortSignal },
  task: (item: T, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const stop = new AbortController()
  const own = AbortSignal.any([signal, stop.signal])
  let next = 0
  let failure: { error: unknown } | undefined
  const work = async () => {
    while (next < items.length && !own.aborted) {
      try {
        await task(items[next++], own)
      } catch (error) {
        failure ??= { error }
        stop.abort()
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, work))
  signal.throwIfAborted()
  if (failure) throw failure.error
}
