import type { ObjectStore, RequestControl } from '../lib/objects/objectStore.js'
import { readObject } from '../lib/objects/readObject.js'
import { MAX_MANIFEST_BYTES, parseManifest, type SnapshotManifest } from './manifest.js'

const PENDING = 'pending/'

/** A snapshot under way that is older than this was given up. */
const GIVEN_UP_MS = 7 * 24 * 3_600_000

/** Key of the note that a snapshot under way needs its parts, so that nobody removes them: its manifest under another name. */
export function pendingKey({ name, creator }: SnapshotManifest): string {
  return `${PENDING}${name}-${creator}.json`
}

/** Parts that snapshots under way need. Notes that were given up are removed. */
export async function pendingParts(
  store: ObjectStore,
  { nowMs, ...control }: RequestControl & { nowMs: number },
): Promise<Set<string>> {
  const parts = new Set<string>()
  for await (const { key } of store.list(PENDING, control)) {
    const manifest = await readPending(store, key, control)
    if (manifest === undefined) continue
    if (nowMs - Date.parse(manifest.createdAt) > GIVEN_UP_MS) await store.delete(key, control)
    else for (const { sha256 } of manifest.parts) parts.add(sha256)
  }
  return parts
}

async function readPending(
  store: ObjectStore,
  key: string,
  control: RequestControl,
): Promise<SnapshotManifest | undefined> {
  const found = await readObject(store, key, { ...control, maxBytes: MAX_MANIFEST_BYTES })
  return found && parseManifest(found.content.toString('utf8'), `${store.place}/${key}`)
}
