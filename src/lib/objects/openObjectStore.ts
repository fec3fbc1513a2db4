import { UsageError } from '../errors.js'
import { createDirectoryStore } from './directoryStore.js'
import type { ObjectStore } from './objectStore.js'
import { readS3Settings, type S3Options } from './s3Settings.js'

const S3 = 's3://'

/** True for `s3://…`. */
export function isS3(place: string): boolean {
  return place.startsWith(S3)
}

/** Opens the object store at a directory or at `s3://BUCKET/PREFIX`, without requesting or creating anything yet. Loads
 *  S3's code only when it is named.
 *  @throws UsageError for a wrong place or missing settings */
export async function openObjectStore(place: string, options: S3Options, env: NodeJS.ProcessEnv): Promise<ObjectStore> {
  if (!isS3(place)) return createDirectoryStore(place)
  const { bucket, prefix } = parseS3Place(place)
  const settings = readS3Settings(options, env)
  const { createS3Store } = await import('./s3Store.js')
  return createS3Store(bucket, prefix, settings)
}

/** Bucket and prefix, without `/` at its ends. @throws UsageError */
export function parseS3Place(place: string): { bucket: string; prefix: string } {
  const [bucket, ...rest] = place.slice(S3.length).split('/')
  const prefix = rest.join('/').replace(/\/$/, '')
  const isPrefix =
    prefix === '' || prefix.split('/').every((name) => /^[\w.-]{1,255}$/.test(name) && !/^\.+$/.test(name))
  if (/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket) && isPrefix && prefix.length <= 512) return { bucket, prefix }
  throw new UsageError(
    `expected s3://BUCKET/PREFIX with letters, digits, '.', '_', '-' and '/', got ${JSON.stringify(place.slice(0, 200))}`,
  )
}
