import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFile, syncPath } from '../lib/durableFiles.js'
import { ObjectConflict } from '../lib/objects/errors.js'
import type { ObjectStore } from '../lib/objects/objectStore.js'
import { backUp } from '../store/backup.js'
import { holdLock } from '../store/fileLock.js'
import { openForReading, requireCurrentSchema } from '../store/open.js'
import { type CopyFacts, type PublishedPlace, prepareCopy } from '../store/snapshotCopy.js'
import { NothingToSnapshot, SnapshotDamaged, SnapshotExists, SnapshotRunning } from './errors.js'
import {
  defaultName,
  encodeManifest,
  manifestKey,
  PART_BYTES,
  PARTS,
  parseManifest,
  partKey,
  readSnapshotManifest,
  type SnapshotManifest,
} from './manifest.js'
import { cutIntoParts, forEachConcurrently, type PlacedPart, placeParts } from './parts.js'
import { pendingKey } from './pending.js'

/** Steps of a snapshot, as shown to users. */
export type SnapshotStep = 'copy' | 'digest' | 'upload' | 'check' | 'download'

/** Source and destination of a snapshot. */
interface CreateTerms {
  readonly datadir: string
  readonly store: ObjectStore
  /** Default: derived from the head. */
  readonly name?: string
  /** Published position of the writer, read before the snapshot begins. */
  readonly published?: PublishedPlace
  /** Version of Cairn. */
  readonly version: string
  /** Default: 64 MiB. */
  readonly partBytes?: number
  readonly signal: AbortSignal
  /** Receives the bytes done and the total of the step. */
  onProgress(step: SnapshotStep, done: number, total: number): void
}

/** A created snapshot. */
interface CreatedSnapshot {
  readonly manifest: SnapshotManifest
  /** Bytes stored, and bytes of parts that existed already. */
  readonly uploaded: number
  readonly kept: number
  /** True if the copy of an interrupted run was used. */
  readonly resumed: boolean
}

/** The folder in the data directory for the copy until its parts are stored. */
export const PARTIAL = 'snapshot.partial'
const LOCK = 'snapshot.lock'
const STATE = 'state.json'
const COPY = 'copy.db'
const UPLOADS = 3
/** An older copy is recreated. */
const STALE_MS = 24 * 3_600_000
/** Passes over the parts: another process that removes old snapshots at the same time may delete some. */
const PASSES = 3

/** Creates a snapshot of the database while other processes read and write it: a copy without keys and secrets, its
 *  parts, and then the manifest that names them. After a kill at any moment, the next run for the same place and name
 *  resumes with the same copy.
 *  @throws SnapshotExists; SnapshotRunning; NothingToSnapshot; ObjectStoreFailed; DatabaseMissing; DatabaseOutdated;
 *    the reason of the signal */
export async function createSnapshot(terms: CreateTerms): Promise<CreatedSnapshot> {
  const { datadir, store, name, signal } = terms
  if (name !== undefined && (await readSnapshotManifest(store, name, { signal }))) requireOwn(terms, name)
  openForReading(datadir).close() // fails without a database of this version before a lock is created
  const lock = holdLock(join(datadir, LOCK))
  if (lock === undefined) throw new SnapshotRunning(datadir)
  const folder = join(datadir, PARTIAL)
  try {
    const unfinished = readUnfinished(folder, terms)
    const manifest = unfinished ?? (await makeCopy(folder, terms))
    const control = { signal }
    await store.put(pendingKey(manifest), encodeManifest(manifest), control)
    try {
      const uploaded = await upload(join(folder, COPY), manifest, terms)
      await publish(store, manifest, signal)
      rmSync(folder, { recursive: true, force: true })
      await store.delete(pendingKey(manifest), control)
      return { manifest, uploaded, kept: manifest.bytes - uploaded, resumed: unfinished !== undefined }
    } catch (error) {
      if (!(error instanceof SnapshotExists)) throw error
      rmSync(folder, { recursive: true, force: true })
      await store.delete(pendingKey(manifest), control)
      throw error
    }
  } finally {
    lock.close()
  }
}

/** Refuses an existing name, unless it is that of the run to resume. @throws SnapshotExists */
function requireOwn(terms: CreateTerms, name: string): void {
  if (readUnfinished(join(terms.datadir, PARTIAL), terms)?.name !== name) {
    throw new SnapshotExists(terms.store.place, name)
  }
}

/** Returns the manifest of an interrupted run whose copy can be used. */
function readUnfinished(folder: string, { store, name }: CreateTerms): SnapshotManifest | undefined {
  const [state, copy] = [join(folder, STATE), join(folder, COPY)]
  if (!existsSync(state) || !existsSync(copy)) return undefined
  const { place, manifest: text } = JSON.parse(readFileSync(state, 'utf8')) as { place: string; manifest: string }
  const manifest = parseManifest(text, state)
  const isFresh = Date.now() - Date.parse(manifest.createdAt) < STALE_MS
  const isAsked = place === store.place && (name === undefined || name === manifest.name)
  return isFresh && isAsked && statSync(copy).size === manifest.bytes ? manifest : undefined
}

async function makeCopy(folder: string, terms: CreateTerms): Promise<SnapshotManifest> {
  const { datadir, published, version, name, store, partBytes = PART_BYTES, signal, onProgress } = terms
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { mode: 0o700 })
  const copy = join(folder, COPY)
  let facts: CopyFacts | undefined
  const bytes = await backUp(datadir, copy, {
    signal,
    onProgress: (done, total) => onProgress('copy', done, total),
    check: (db) => {
      requireCurrentSchema(db)
      facts = prepareCopy(db, published)
      if (facts === undefined) throw new NothingToSnapshot(datadir)
    },
  })
  const manifest: SnapshotManifest = {
    format: 1,
    name: name ?? defaultName(facts!),
    createdAt: new Date().toISOString(),
    version,
    ...facts!,
    ...{ bytes, partBytes },
    parts: await cutIntoParts(copy, bytes, {
      partBytes,
      signal,
      onProgress: (done) => onProgress('digest', done, bytes),
    }),
    creator: randomBytes(16).toString('hex'),
  }
  replaceFile(join(folder, STATE), JSON.stringify({ place: store.place, manifest: JSON.stringify(manifest) }))
  syncPath(datadir)
  if (name === undefined && (await readSnapshotManifest(store, manifest.name, { signal }))) {
    rmSync(folder, { recursive: true, force: true })
    throw new SnapshotExists(store.place, manifest.name)
  }
  return manifest
}

/** Stores the missing parts. Returns their bytes. */
async function upload(copy: string, manifest: SnapshotManifest, terms: CreateTerms): Promise<number> {
  const { store, signal, onProgress } = terms
  let uploaded = 0
  for (let pass = 1; ; pass++) {
    const missing = await missingParts(store, manifest, signal)
    if (missing.length === 0) return uploaded
    if (pass > PASSES)
      throw new SnapshotDamaged(store.place, 'parts vanish while they are stored; run the same command again')
    let done = manifest.bytes - missing.reduce((sum, { bytes }) => sum + bytes, 0)
    await forEachConcurrently(missing, { concurrency: UPLOADS, signal }, async (part, own) => {
      const { sha256, from, bytes } = part
      await store.put(partKey(sha256), { path: copy, from, length: bytes }, { sha256, signal: own })
      uploaded += bytes
      done += bytes
      onProgress('upload', done, manifest.bytes)
    })
  }
}

/** Returns the parts missing in the store, each once. */
async function missingParts(
  store: ObjectStore,
  manifest: SnapshotManifest,
  signal: AbortSignal,
): Promise<PlacedPart[]> {
  const held = new Map<string, number>()
  for await (const { key, bytes } of store.list(PARTS, { signal })) held.set(key, bytes)
  const missing = placeParts(manifest).filter(({ sha256, bytes }) => held.get(partKey(sha256)) !== bytes)
  return [...new Map(missing.map((part) => [part.sha256, part])).values()]
}

/** Stores the manifest unless one exists. @throws SnapshotExists */
async function publish(store: ObjectStore, manifest: SnapshotManifest, signal: AbortSignal): Promise<void> {
  try {
    await store.put(manifestKey(manifest.name), encodeManifest(manifest), { condition: 'absent', signal })
  } catch (error) {
    if (!(error instanceof ObjectConflict)) throw error
    const there = await readSnapshotManifest(store, manifest.name, { signal })
    if (there?.creator !== manifest.creator) throw new SnapshotExists(store.place, manifest.name)
  }
}
