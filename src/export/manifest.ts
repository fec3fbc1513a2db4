import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BlockRange } from '../chain/eth/types.js'
import { messageOf } from '../lib/errors.js'
import { ObjectConflict } from '../lib/objects/errors.js'
import type { ObjectStore } from '../lib/objects/objectStore.js'
import { readObject } from '../lib/objects/readObject.js'
import type { Column } from './columns.js'
import type { Format } from './encoders/rowEncoder.js'
import { ExportLocked, OtherExport } from './errors.js'

/** A finished file. */
export interface ManifestFile extends BlockRange {
  readonly file: string
  readonly rows: number
  readonly bytes: number
  /** 64 hex digits. */
  readonly sha256: string
  /** Hashes of the first and the last block as hex DATA; null if the range has no blocks. */
  readonly firstBlockHash: string | null
  readonly lastBlockHash: string | null
}

/** Terms shared by the files of a dataset. An export with other terms needs another directory. */
export interface DatasetTerms {
  /** Decimal for layer 1, text for layer 2. */
  readonly chainId: string | null
  readonly network: string
  /** The first stored block: distinguishes chains with the same id. */
  readonly firstBlock: { readonly number: number; readonly hash: string }
  readonly format: Format
  readonly rangeSize: number
  /** Addresses that select rows, as hex DATA; null: all. */
  readonly addresses: readonly string[] | null
  /** Contracts and calldata of calls, as hex DATA; absent without. */
  readonly contracts?: readonly string[]
  readonly callData?: readonly string[]
  readonly columns: readonly Column[]
}

/** The files of a dataset, ascending. */
export interface DatasetManifest extends DatasetTerms {
  files: ManifestFile[]
}

/** The finished files of a directory or a prefix. Other files in it are ignored. */
export interface Manifest {
  readonly version: 1
  /** Keyed by the dataset's name in file names. */
  readonly datasets: { [dataset: string]: DatasetManifest }
}

/** The manifest's name in its directory. */
export const MANIFEST = 'manifest.json'

/** A manifest and the version of its object. */
export interface StoredManifest {
  readonly manifest: Manifest
  /** Undefined if the object is missing. */
  version: string | undefined
}

const MAX_BYTES = 256 * 2 ** 20

/** Reads the manifest of the directory; empty if missing. @throws OtherExport for an invalid file */
export function readManifest(directory: string): Manifest {
  const path = join(directory, MANIFEST)
  return existsSync(path) ? parseManifest(path, readFileSync(path, 'utf8')) : { version: 1, datasets: {} }
}

/** Reads the manifest of a store; empty if missing. @throws OtherExport for an invalid object; as `get` of the store */
export async function fetchManifest(store: ObjectStore): Promise<StoredManifest> {
  const found = await readObject(store, MANIFEST, { maxBytes: MAX_BYTES })
  if (found === undefined) return { manifest: { version: 1, datasets: {} }, version: undefined }
  const manifest = parseManifest(`${store.place}/${MANIFEST}`, found.content.toString('utf8'))
  return { manifest, version: found.version }
}

/** Replaces the manifest of a store, unless another process has. A crash leaves the old or the new one.
 *  @throws ExportLocked; as `put` of the store */
export async function storeManifest(store: ObjectStore, stored: StoredManifest): Promise<void> {
  const { manifest, version } = stored
  const condition = version === undefined ? 'absent' : { version }
  try {
    stored.version = await store.put(MANIFEST, Buffer.from(`${JSON.stringify(manifest, null, 1)}\n`), { condition })
  } catch (error) {
    throw error instanceof ObjectConflict ? new ExportLocked(store.place, { cause: error }) : error
  }
}

function parseManifest(object: string, text: string): Manifest {
  const manifest = parse(object, text)
  if (manifest?.version === 1 && typeof manifest.datasets === 'object') return manifest
  throw new OtherExport(`${object} is no manifest of this version of cairn export; use another --out`)
}

function parse(path: string, text: string): Manifest | undefined {
  try {
    return JSON.parse(text) as Manifest | undefined
  } catch (error) {
    throw new OtherExport(`${path}: invalid JSON: ${messageOf(error)}; use another --out`, { cause: error })
  }
}

/** Describes how the terms of an export differ from those of existing files; undefined if they agree. */
export function differingTerm(held: DatasetTerms, wanted: DatasetTerms): string | undefined {
  const { firstBlock, ...others } = wanted
  const isSameFirst = held.firstBlock.number !== firstBlock.number || held.firstBlock.hash === firstBlock.hash
  const names = Object.keys(others) as (keyof typeof others)[]
  const differing = names.find((name) => JSON.stringify(held[name]) !== JSON.stringify(others[name]))
  if (differing === 'chainId' || differing === 'network' || !isSameFirst) {
    return `another chain (${held.network}, block ${held.firstBlock.number} is ${held.firstBlock.hash})`
  }
  if (differing === undefined) return undefined
  if (differing === 'columns') return 'other columns'
  return `${WORDS[differing]} ${JSON.stringify(held[differing])}`
}

const WORDS = {
  format: 'the format',
  rangeSize: '--range-size',
  addresses: '--address',
  contracts: '--contract',
  callData: '--call-data',
} as const
