import { createHash } from 'node:crypto'
import { closeSync, openSync, writeSync } from 'node:fs'
import { writing } from '../lib/durableFiles.js'
import type { ObjectStore } from '../lib/objects/objectStore.js'
import type { ManifestFile } from './manifest.js'

/** Writes a new file. */
interface FileSink {
  write(chunk: Uint8Array): void
  /** Closes the file; may be called again. Returns its length and its SHA-256 as hex. */
  close(): { bytes: number; sha256: string }
}

/** Creates a sink into the file at the path, truncating an existing one. */
export function createSink(path: string): FileSink {
  const fd = openSync(path, 'w')
  const hash = createHash('sha256')
  let bytes = 0
  let end: { bytes: number; sha256: string } | undefined
  return {
    write: (chunk: Uint8Array) => {
      hash.update(chunk)
      bytes += chunk.length
      for (let at = 0; at < chunk.length; ) at += writing(path, () => writeSync(fd, chunk, at))
    },
    close: () => {
      if (end === undefined) {
        closeSync(fd)
        end = { bytes, sha256: hash.digest('hex') }
      }
      return end
    },
  }
}

/** Returns true if the object of a store has the digest in the manifest. */
export async function hasDigest(store: ObjectStore, { file, sha256 }: ManifestFile): Promise<boolean> {
  const found = await store.get(file)
  if (found === undefined) return false
  const hash = createHash('sha256')
  for await (const chunk of found.stream) hash.update(chunk as Uint8Array)
  return hash.digest('hex') === sha256
}
