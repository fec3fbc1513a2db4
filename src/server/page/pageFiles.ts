import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import type { Coding } from '../http/acceptEncoding.js'

/** A file of the page. */
export interface PageFile {
  readonly type: string
  readonly etag: string
  readonly cacheControl: string
  /** Contents uncompressed, and as compressed by the build. */
  readonly contents: { readonly identity: Buffer } & { readonly [coding in Coding]?: Buffer }
}

const TYPES: { readonly [extension: string]: string } = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}
const SUFFIXES = { br: '.br', gzip: '.gz' } as const

/** Reads the built page by URL path; undefined when `folder` has none. Files below `/assets/` have the hash of their
 *  content in their names, so that browsers need not request them again. */
export function readPageFiles(folder: string): ReadonlyMap<string, PageFile> | undefined {
  if (!existsSync(join(folder, 'index.html'))) return undefined
  const files = new Map<string, PageFile>()
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const type = TYPES[extname(name)]
    if (type === undefined) continue
    const path = name === 'index.html' ? '/' : `/${name.replaceAll('\\', '/')}`
    files.set(path, readPageFile(join(folder, name), type, path.startsWith('/assets/')))
  }
  return files
}

function readPageFile(path: string, type: string, isHashed: boolean): PageFile {
  const identity = readFileSync(path)
  const compressed = Object.entries(SUFFIXES).flatMap(([coding, suffix]) =>
    existsSync(path + suffix) ? [[coding, readFileSync(path + suffix)]] : [],
  )
  return {
    type,
    etag: `"${createHash('sha256').update(identity).digest('base64url').slice(0, 22)}"`,
    cacheControl: isHashed ? 'public, max-age=31536000, immutable' : 'no-cache',
    contents: { identity, ...Object.fromEntries(compressed) },
  }
}
