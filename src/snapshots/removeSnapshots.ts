import type { ObjectStore, RequestControl } from '../lib/objects/objectStore.js'
import { listSnapshots, manifestKey, PARTS, partKey, type SnapshotManifest } from './manifest.js'
import { pendingParts } from './pending.js'

/** Removes all but the `keep` newest snapshots of the chain: their manifests first, then parts that no manifest and no
 *  snapshot in progress needs. Returns the names of the removed ones. @throws SnapshotDamaged for an unreadable
 *  manifest, and removes no part; as the store */
export async function removeOldSnapshots(
  store: ObjectStore,
  { chain, keep, ...control }: RequestControl & { chain: SnapshotManifest; keep: number },
): Promise<string[]> {
  const isOfChain = (other: SnapshotManifest) =>
    other.chainId === chain.chainId && other.genesisHash === chain.genesisHash
  const all = await listSnapshots(store, control)
  const old = all.filter(isOfChain).slice(keep)
  for (const { name } of old) await store.delete(manifestKey(name), control)
  await removeUnusedParts(store, control)
  return old.map(({ name }) => name)
}

/** Lists parts before what needs them: a snapshot that begins meanwhile notes its parts before it relies on one. */
async function removeUnusedParts(store: ObjectStore, control: RequestControl): Promise<void> {
  const found: string[] = []
  for await (const { key } of store.list(PARTS, control)) found.push(key)
  const needed = await pendingParts(store, { ...control, nowMs: Date.now() })
  for (const { parts } of await listSnapshots(store, control)) for (const { sha256 } of parts) needed.add(sha256)
  const keys = new Set([...needed].map(partKey))
  for (const key of found) if (!keys.has(key)) await store.delete(key, control)
}
