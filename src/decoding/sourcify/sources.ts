import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { keccak256 } from '../../chain/crypto.js'
import { equalBytes } from '../../lib/bytes.js'
import { parseHex } from '../../lib/hex.js'
import { membersOf } from '../../lib/json.js'
import type { SourceFile } from '../../store/contractSources.js'
import { formatStorageLayout, parseStorageLayout } from '../storage/layout.js'

/** Bytes of all sources of a contract; those of the largest contracts have about one million. */
const MAX_SOURCE_BYTES = 2_097_152
const MAX_FILES = 500
const MAX_PATH = 256
const MAX_LAYOUT_BYTES = 1_048_576

/** The sources of a bundle. */
export interface BundleSources {
  /** Those whose Keccak-256 is that of the metadata, in its order. */
  readonly files: readonly SourceFile[]
  /** Files that the metadata names and that are left out: missing, of another hash, or beyond a limit. */
  readonly missing: number
}

/** Reads the sources that the metadata of a bundle names: its member `content`, else the file of that path below
 *  `sources/`. At most 500 files and 2 MiB; paths have at most 256 characters. Links are not followed. */
export function readBundleSources(directory: string, metadata: Uint8Array): BundleSources {
  const named = Object.entries(membersOf(membersOf(JSON.parse(Buffer.from(metadata).toString())).sources))
  const files: SourceFile[] = []
  let left = MAX_SOURCE_BYTES
  for (const [path, source] of named.slice(0, MAX_FILES)) {
    const { keccak256: hash, content } = membersOf(source)
    if (path.length > MAX_PATH || typeof hash !== 'string' || !/^0x[\da-f]{64}$/i.test(hash)) continue
    const bytes = typeof content === 'string' ? Buffer.from(content) : readSource(directory, path, left)
    if (bytes === undefined || bytes.length > left || !equalBytes(keccak256(bytes), parseHex(hash.toLowerCase())))
      continue
    left -= bytes.length
    files.push({ path, content: Buffer.from(bytes).toString() })
  }
  return { files, missing: named.length - files.length }
}

/** The bytes of `sources/PATH`; undefined if it is no file there, or longer. */
function readSource(directory: string, path: string, maxBytes: number): Uint8Array | undefined {
  const steps = path.split('/').filter((step) => step !== '' && step !== '.')
  if (steps.length === 0 || steps.some((step) => step === '..' || step.includes('\0'))) return undefined
  let place = join(directory, 'sources')
  for (const step of steps) {
    if (!isDirectory(place)) return undefined
    place = join(place, step)
  }
  return readSmallFile(place, maxBytes)
}

function isDirectory(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

/** Undefined if it is missing, no plain file, or longer. */
function readSmallFile(path: string, maxBytes: number): Uint8Array | undefined {
  let file: number
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch {
    return undefined
  }
  try {
    const stats = fstatSync(file)
    return stats.isFile() && stats.size <= maxBytes ? readFileSync(file) : undefined
  } finally {
    closeSync(file)
  }
}

/** Reads `storageLayout.json` of a contract's directory: the output of solc, or an object with it as its member
 *  `storageLayout`, as artefacts and Sourcify's API have it. Returns the layout in solc's JSON; undefined if it is
 *  missing, has more than 1 MiB, or is none. */
export function readBundleLayout(directory: string): object | undefined {
  const bytes = readSmallFile(join(directory, 'storageLayout.json'), MAX_LAYOUT_BYTES)
  if (bytes === undefined) return undefined
  try {
    return pickStorageLayout(JSON.parse(Buffer.from(bytes).toString()))
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Returns the storage layout in JSON of solc, or in its member `storageLayout`; undefined if it has none. */
export function pickStorageLayout(json: unknown): object | undefined {
  const layout = parseStorageLayout(membersOf(json).storageLayout ?? json)
  return layout && formatStorageLayout(layout)
}
