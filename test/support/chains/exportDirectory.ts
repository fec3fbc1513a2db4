import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Manifest, readManifest } from '../../../src/export/manifest.js'

/** Requires that the manifest names whole files that do not overlap, and returns it. */
export function checkManifest(directory: string): Manifest {
  const manifest = readManifest(directory)
  for (const { files, rangeSize } of Object.values(manifest.datasets)) {
    let next = 0
    for (const { file, from, to, bytes, sha256 } of files) {
      assert.ok(from >= next && to >= from, `${file} overlaps another`)
      assert.equal(Math.floor(from / rangeSize), Math.floor(to / rangeSize), `${file} is not aligned`)
      next = to + 1
      const content = readFileSync(join(directory, file))
      assert.equal(content.length, bytes, file)
      assert.equal(createHash('sha256').update(content).digest('hex'), sha256, file)
    }
  }
  return manifest
}

/** The manifest of an export that has ended: there must be no file beside those that it names. */
export function checkFinished(directory: string): Manifest {
  const manifest = checkManifest(directory)
  const named = Object.values(manifest.datasets).flatMap(({ files }) => files.map(({ file }) => file))
  const found = readdirSync(directory).filter((name) => !name.startsWith('.') && name !== 'manifest.json')
  assert.deepEqual(found.sort(), named.sort())
  return manifest
}
