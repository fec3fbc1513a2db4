import { ObjectTooLarge } from './errors.js'
import type { ObjectStore, RequestControl } from './objectStore.js'

/** A small object in memory. */
interface SmallObject {
  readonly content: Buffer
  readonly version: string
}

/** Reads a whole object; undefined if missing. @throws ObjectTooLarge; as `get` of the store */
export async function readObject(
  store: ObjectStore,
  key: string,
  { maxBytes, signal }: RequestControl & { maxBytes: number },
): Promise<SmallObject | undefined> {
  const found = await store.get(key, { signal })
  if (found === undefined) return undefined
  const { stream, bytes, version } = found
  if (bytes > maxBytes) {
    stream.destroy()
    throw new ObjectTooLarge(`${store.place}/${key}`, { bytes, maxBytes })
  }
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk as Uint8Array)
  return { content: Buffer.concat(chunks), version }
}
