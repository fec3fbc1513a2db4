import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statfsSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceFile, syncPath } from '../lib/durableFiles.js'
import { messageOf } from '../lib/errors.js'
import type { ObjectStore } from '../lib/objects/objectStore.js'
import { openCopy } from '../store/backup.js'
import { ForeignSchema } from '../store/cleanCopy.js'
import type { Database } from '../store/database.js'
import { holdLock } from '../store/fileLock.js'
import { DATABASE_FILE, DatabaseLocked, DatabaseOfEarlierBuild, DatabaseTooNew } from '../store/open.js'
import { openForWriting } from '../store/openForWriting.js'
import { completeCopy } from '../store/snapshotCopy.js'
import type { SnapshotStep } from './createSnapshot.js'
import { DatadirInUse, NoSpace, SnapshotDamaged, SnapshotMissing } from './errors.js'
import {
  encodeManifest,
  listSnapshots,
  parseManifest,
  partKey,
  readSnapshotManifest,
  type SnapshotManifest,
} from './manifest.js'
import { digestPart, forEachConcurrently, type PlacedPart, placeParts } from './parts.js'

/** What to restore, and where. */
interface RestoreTerms {
  readonly store: ObjectStore
  /** Default: the newest. */
  readonly name?: string
  readonly datadir: string
  readonly signal: AbortSignal
  /** Refuses a snapshot by its manifest, before anything is downloaded. @throws its reason */
  accept?(manifest: SnapshotManifest): void
  /** Receives the bytes done and the total of the step. */
  onProgress(step: SnapshotStep, done: number, total: number): void
}

/** A restored database. */
interface RestoredSnapshot {
  readonly manifest: SnapshotManifest
  /** Bytes downloaded; the others were left by an interrupted run. */
  readonly downloaded: number
  /** Items of the snapshot that are not in the database, as `trigger NAME`, `setting NAME` or `1 API key`. */
  readonly leftOut: readonly string[]
}

/** The folder in the data directory for the database until it is complete. */
export const UNFINISHED = 'cairn.restore'
const MANIFEST = 'manifest.json'
const COPY = 'copy.db'
const DOWNLOADS = 4

/** Refusals of a whole copy: the next run would meet them again. */
const REFUSALS = [SnapshotDamaged, DatabaseOfEarlierBuild, DatabaseTooNew]

/** Files allowed in the data directory: none of another database. */
const ALLOWED =
  /^(cairn\.restore|cairn\.replaced|publisher\.json|snapshot\.lock(-journal)?|cairn\.lock(-journal)?|cairn\.following|usage\.db(-wal|-shm)?|lost\+found)$/

/** Restores a snapshot into an empty data directory. Checks every part against its digest before use, and the head
 *  against the manifest. The database appears once complete and on disk. After a kill at any moment, the next run
 *  resumes with the parts on disk.
 *  @throws DatadirInUse; SnapshotMissing; SnapshotDamaged; NoSpace; DatabaseLocked; DatabaseOfEarlierBuild;
 *    DatabaseTooNew; ObjectStoreFailed; what `accept` throws; the reason of the signal */
export async function restoreSnapshot(terms: RestoreTerms): Promise<RestoredSnapshot> {
  const { datadir } = terms
  mkdirSync(datadir, { recursive: true, mode: 0o700 })
  requireEmpty(datadir)
  const lock = holdLock(join(datadir, 'cairn.lock'))
  if (lock === undefined) throw new DatabaseLocked(join(datadir, DATABASE_FILE))
  let restored: RestoredSnapshot
  try {
    requireEmpty(datadir)
    restored = await restore(terms)
  } finally {
    lock.close()
  }
  // Migrates an older schema, and sets the journal mode that servers need.
  openForWriting(datadir).close()
  return restored
}

/** @throws DatadirInUse */
function requireEmpty(datadir: string): void {
  const other = readdirSync(datadir).find((file) => !ALLOWED.test(file))
  if (other !== undefined) throw new DatadirInUse(datadir, other)
}

async function restore(terms: RestoreTerms): Promise<RestoredSnapshot> {
  const { datadir, signal } = terms
  const folder = join(datadir, UNFINISHED)
  const manifest = await chooseSnapshot(terms, folder)
  terms.accept?.(manifest)
  const isBegun = existsSync(join(folder, COPY))
  if (!isBegun) requireSpace(datadir, manifest.bytes)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  replaceFile(join(folder, MANIFEST), encodeManifest(manifest).toString())
  const path = join(folder, COPY)
  const file = await open(path, isBegun ? 'r+' : 'wx+', 0o600)
  let downloaded = 0
  try {
    await file.truncate(manifest.bytes)
    const missing = isBegun ? await findMissing(path, manifest, terms) : placeParts(manifest)
    downloaded = missing.reduce((sum, { bytes }) => sum + bytes, 0)
    await download(file, missing, { ...terms, manifest })
    await file.sync()
  } finally {
    await file.close()
  }
  signal.throwIfAborted()
  let leftOut: readonly string[]
  try {
    leftOut = complete(path, manifest, terms.store)
  } catch (error) {
    if (REFUSALS.some((kind) => error instanceof kind)) rmSync(folder, { recursive: true, force: true })
    throw error
  }
  renameSync(path, join(datadir, DATABASE_FILE))
  syncPath(datadir)
  rmSync(folder, { recursive: true, force: true })
  return { manifest, downloaded, leftOut }
}

/** Returns the named snapshot; without a name, that of an unfinished restore if it still exists, else the newest.
 *  @throws SnapshotMissing */
async function chooseSnapshot({ store, name, signal }: RestoreTerms, folder: string): Promise<SnapshotManifest> {
  if (name !== undefined) {
    const named = await readSnapshotManifest(store, name, { signal })
    if (named === undefined) throw new SnapshotMissing(store.place, name)
    return named
  }
  const begun = readBegun(join(folder, MANIFEST))
  const same = begun && (await readSnapshotManifest(store, begun.name, { signal }))
  if (same?.creator === begun?.creator && same !== undefined) return same
  const [newest] = await listSnapshots(store, { signal })
  if (newest === undefined) throw new SnapshotMissing(store.place)
  return newest
}

function readBegun(path: string): SnapshotManifest | undefined {
  return existsSync(path) ? parseManifest(readFileSync(path, 'utf8'), path) : undefined
}

function requireSpace(datadir: string, needed: number): void {
  const { bavail, bsize } = statfsSync(datadir)
  const free = bavail * bsize
  if (free < needed) throw new NoSpace(datadir, { needed, free })
}

/** Returns the parts that an interrupted restore left incomplete. */
async function findMissing(
  path: string,
  manifest: SnapshotManifest,
  { signal, onProgress }: RestoreTerms,
): Promise<PlacedPart[]> {
  const missing: PlacedPart[] = []
  for (const part of placeParts(manifest)) {
    const { from, bytes, sha256 } = part
    if ((await digestPart({ path, from, length: bytes }, signal)) !== sha256) missing.push(part)
    onProgress('check', from + bytes, manifest.bytes)
  }
  return missing
}

async function download(
  file: FileHandle,
  missing: readonly PlacedPart[],
  { store, manifest, signal, onProgress }: RestoreTerms & { manifest: SnapshotManifest },
): Promise<void> {
  let done = manifest.bytes - missing.reduce((sum, { bytes }) => sum + bytes, 0)
  await forEachConcurrently(missing, { concurrency: DOWNLOADS, signal }, async (part, own) => {
    if (!(await fetchPart(file, part, store, own)) && !(await fetchPart(file, part, store, own))) {
      throw new SnapshotDamaged(
        `${store.place}/${partKey(part.sha256)}`,
        `part ${part.index + 1} of ${manifest.parts.length} of snapshot ${manifest.name} has another SHA-256`,
      )
    }
    done += part.bytes
    onProgress('download', done, manifest.bytes)
  })
}

/** Writes the part at its offset. Returns false if its digest differs. @throws SnapshotDamaged if it is missing */
async function fetchPart(
  file: FileHandle,
  { sha256, from, bytes }: PlacedPart,
  store: ObjectStore,
  signal: AbortSignal,
): Promise<boolean> {
  const found = await store.get(partKey(sha256), { signal })
  if (found === undefined)
    throw new SnapshotDamaged(`${store.place}/${partKey(sha256)}`, 'this part of the snapshot is missing')
  const hash = createHash('sha256')
  let at = 0
  for await (const chunk of found.stream) {
    const piece = chunk as Uint8Array
    if (at + piece.length > bytes) return false
    hash.update(piece)
    for (let written = 0; written < piece.length; ) {
      written += (await file.write(piece, written, piece.length - written, from + at + written)).bytesWritten
    }
    at += piece.length
  }
  return at === bytes && hash.digest('hex') === sha256
}

/** Returns what was left out. @throws SnapshotDamaged if the database does not match the manifest, or is not one of
 *  Cairn */
function complete(path: string, { head, name }: SnapshotManifest, store: ObjectStore): readonly string[] {
  const object = `${store.place}: snapshot ${name}`
  let db: Database | undefined
  try {
    db = openCopy(path)
    const { head: found, leftOut } = completeCopy(db, object)
    if (found?.hash === head.hash && found.number === head.number) return leftOut
    const held = found === undefined ? 'no block' : `block ${found.number} ${found.hash}`
    throw new SnapshotDamaged(
      object,
      `its database has ${held} as its head, its manifest block ${head.number} ${head.hash}`,
    )
  } catch (error) {
    if (error instanceof ForeignSchema || isUnreadable(error)) {
      throw new SnapshotDamaged(object, messageOf(error), { cause: error })
    }
    throw error
  } finally {
    db?.close()
  }
}

/** Returns true for SQLite's errors on a file that is not a database, or whose schema or pages it cannot read. */
function isUnreadable(error: unknown): boolean {
  return /^SQLITE_(CORRUPT|NOTADB|ERROR|FORMAT)/.test(String((error as { code?: unknown }).code))
}
