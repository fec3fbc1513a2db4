import type { ObjectStore, RequestControl } from '../lib/objects/objectStore.js'
import { readObject } from '../lib/objects/readObject.js'
import { MAX_MANIFEST_BYTES, parseManifest, type SnapshotManifest } from './manifest.js'

const PENDING = 'pending/'

/** An unfinished snapshot that is older than this counts as abandoned. */
const GIVEN_UP_MS = 7 * 24 * 3_600_000

/** Returns the key under which a snapshot in progress stores its manifest, so that no process removes its parts. */
export function pendingKey({ name, creator }: SnapshotManifest): string {
  return `${PENDING}${name}-${creator}.json`
}

/** Returns the parts that snapshots in progress need. Removes abandoned notes. */
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
