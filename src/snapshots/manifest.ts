import { messageOf } from '../lib/errors.js'
import type { ObjectStore, RequestControl } from '../lib/objects/objectStore.js'
import { readObject } from '../lib/objects/readObject.js'
import { createSemaphore } from '../lib/semaphore.js'
import type { CopyFacts } from '../store/snapshotCopy.js'
import { SnapshotDamaged } from './errors.js'

/** A part of a snapshot: the next bytes of the database file. */
export interface SnapshotPart {
  /** 64 hex digits; names the object. */
  readonly sha256: string
  readonly bytes: number
}

/** A finished snapshot: facts about its chain, and the parts that make up its database. */
export interface SnapshotManifest extends CopyFacts {
  readonly format: 1
  readonly name: string
  /** ISO 8601, UTC. */
  readonly createdAt: string
  /** Version of Cairn. */
  readonly version: string
  /** Size of the database file. */
  readonly bytes: number
  /** Size of every part but the last. */
  readonly partBytes: number
  readonly parts: readonly SnapshotPart[]
  /** Random: distinguishes two snapshots in progress with the same name. */
  readonly creator: string
}

/** Default size of a part in bytes. */
export const PART_BYTES = 64 * 2 ** 20

/** A database of 16 TiB has a manifest of 25 MB. */
export const MAX_MANIFEST_BYTES = 64 * 2 ** 20

const MANIFESTS = 'manifests/'
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/
const READS = 8

/** Returns true for a valid snapshot name: 1 to 100 letters, digits, `.`, `_` and `-`. */
export function isSnapshotName(name: string): boolean {
  return NAME.test(name) && !name.endsWith('.tmp')
}

/** Returns the default name of a snapshot: `0023000000-1a2b3c4d`, the head's number and the beginning of its hash. */
export function defaultName({ head }: CopyFacts): string {
  return `${String(head.number).padStart(10, '0')}-${head.hash.slice(2, 10)}`
}

/** Returns the key of a manifest. */
export function manifestKey(name: string): string {
  return `${MANIFESTS}${name}.json`
}

/** Prefix of part keys. */
export const PARTS = 'parts/'

/** Returns the key of a part. Parts with the same bytes are one object. */
export function partKey(sha256: string): string {
  return `${PARTS}${sha256}`
}

/** Encodes the manifest as an object. */
export function encodeManifest(manifest: SnapshotManifest): Buffer {
  return Buffer.from(`${JSON.stringify(manifest, null, 1)}\n`)
}

/** Parses a manifest.
 *  @param object its name, for messages
 *  @throws SnapshotDamaged for anything but a manifest of this version */
export function parseManifest(text: string, object: string): SnapshotManifest {
  const fail = (problem: string) => new SnapshotDamaged(object, `not a manifest of a snapshot: ${problem}`)
  let value: Partial<SnapshotManifest> | null
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw fail(messageOf(error))
  }
  if (typeof value !== 'object' || value === null) throw fail('expected an object')
  if (value.format !== 1) throw fail(`format ${JSON.stringify(value.format)}, this version reads 1`)
  const wrong = Object.entries(CHECKS).find(([field, isRight]) => !isRight(value[field as keyof SnapshotManifest]))
  if (wrong !== undefined)
    throw fail(`${wrong[0]} is ${JSON.stringify(value[wrong[0] as keyof SnapshotManifest])?.slice(0, 80)}`)
  const manifest = value as SnapshotManifest
  const odd = manifest.parts.findIndex(({ bytes }, i) =>
    i < manifest.parts.length - 1 ? bytes !== manifest.partBytes : bytes > manifest.partBytes,
  )
  if (odd >= 0) throw fail(`part ${odd + 1} has ${manifest.parts[odd].bytes} bytes, partBytes is ${manifest.partBytes}`)
  const sum = manifest.parts.reduce((bytes, part) => bytes + part.bytes, 0)
  if (sum !== manifest.bytes) throw fail(`the parts have ${sum} bytes, the database ${manifest.bytes}`)
  return manifest
}

const isText = (value: unknown) => typeof value === 'string' && value.length <= 200
const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0
const isHash = (value: unknown) => typeof value === 'string' && /^0x[0-9a-f]{64}$/.test(value)
const isObject = (value: unknown): value is { [name: string]: unknown } => typeof value === 'object' && value !== null

const CHECKS: { readonly [K in Exclude<keyof SnapshotManifest, 'format'>]: (value: unknown) => boolean } = {
  name: (value) => typeof value === 'string' && isSnapshotName(value),
  createdAt: (value) => typeof value === 'string' && !Number.isNaN(Date.parse(value)),
  version: isText,
  schema: isCount,
  chainId: (value) => typeof value === 'string' && /^\d{1,78}$/.test(value),
  genesisHash: (value) => value === null || isHash(value),
  head: (value) => isObject(value) && isCount(value.number) && isHash(value.hash),
  finality: (value) => value === null || isObject(value),
  stateMode: isText,
  position: (value) =>
    value === null || (isObject(value) && isText(value.stream) && isCount(value.sequence) && isCount(value.epoch)),
  bytes: isCount,
  partBytes: (value) => isCount(value) && (value as number) > 0,
  parts: (value) => Array.isArray(value) && value.length > 0 && value.every(isPart),
  creator: (value) => typeof value === 'string' && /^[0-9a-f]{32}$/.test(value),
}

function isPart(value: unknown): boolean {
  const isDigest = isObject(value) && typeof value.sha256 === 'string' && /^[0-9a-f]{64}$/.test(value.sha256)
  return isDigest && isCount(value.bytes) && value.bytes !== 0
}

/** Reads the manifest of that name; undefined if missing. @throws SnapshotDamaged; as `get` of the store */
export async function readSnapshotManifest(
  store: ObjectStore,
  name: string,
  control: RequestControl = {},
): Promise<SnapshotManifest | undefined> {
  const key = manifestKey(name)
  const found = await readObject(store, key, { ...control, maxBytes: MAX_MANIFEST_BYTES })
  if (found === undefined) return undefined
  const object = `${store.place}/${key}`
  const manifest = parseManifest(found.content.toString('utf8'), object)
  if (manifest.name !== name) throw new SnapshotDamaged(object, `it is the manifest of ${manifest.name}`)
  return manifest
}

/** Returns all snapshots, newest first: by block, then by time. @throws SnapshotDamaged; as `list` and `get` of the
 *  store */
export async function listSnapshots(store: ObjectStore, control: RequestControl = {}): Promise<SnapshotManifest[]> {
  const names: string[] = []
  for await (const { key } of store.list(MANIFESTS, control)) {
    const name = key.slice(MANIFESTS.length, -'.json'.length)
    if (key === manifestKey(name) && isSnapshotName(name)) names.push(name)
  }
  const reads = createSemaphore(READS)
  const manifests = await Promise.all(names.map((name) => reads.run(() => readSnapshotManifest(store, name, control))))
  return manifests
    .filter((manifest) => manifest !== undefined) // removed meanwhile
    .sort((a, b) => b.head.number - a.head.number || (a.createdAt < b.createdAt ? 1 : -1))
}
