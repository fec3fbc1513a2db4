import type { IncomingMessage, ServerResponse } from 'node:http'
import { packagePath } from '../../store/open.js'
import { chooseCoding } from '../http/acceptEncoding.js'
import { viewOfPath } from './explorerPaths.js'
import { type PageFile, readPageFiles } from './pageFiles.js'

/** The web explorer. */
export interface Page {
  /** Answers a GET or HEAD of one of the page's files, and of the explorer paths (EIP-3091). Returns false for any
   *  other request and leaves it alone. */
  answer(request: IncomingMessage, response: ServerResponse): boolean
}

/** Nothing from other hosts, no inline script, no frame, no form. `connect-src 'self'` includes WebSockets (CSP 3). */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const SECURITY_HEADERS = [
  ...['Content-Security-Policy', POLICY],
  ...['X-Content-Type-Options', 'nosniff'],
  ...['X-Frame-Options', 'DENY'],
  ...['Referrer-Policy', 'no-referrer'],
  ...['Cross-Origin-Opener-Policy', 'same-origin'],
  ...['Cross-Origin-Resource-Policy', 'same-origin'],
]

/** Loads the page that the build wrote to `folder`. Its files, about 300 kB, are read on first request. */
export function createPage(folder: string = packagePath('dist/web')): Page {
  let files: ReadonlyMap<string, PageFile> | undefined
  return {
    answer(request, response) {
      if (request.method !== 'GET' && request.method !== 'HEAD') return false
      files ??= readPageFiles(folder)
      const path = (request.url ?? '/').replace(/\?.*$/, '')
      const file = files?.get(path)
      const view = files === undefined ? undefined : viewOfPath(path)
      if (file !== undefined) sendFile(file, request, response)
      else if (view !== undefined) redirect(view, response)
      else return false
      return true
    },
  }
}

/** True when `origin` is that of the page served to a client that sent this Host header, over HTTP or through a proxy
 *  that terminates TLS. */
export function isOwnOrigin(origin: string, host: string | undefined): boolean {
  return host !== undefined && (origin === `http://${host}` || origin === `https://${host}`)
}

/** Redirects to a view. The location is relative: a proxy may serve the page below a path. */
function redirect(view: string, response: ServerResponse) {
  response.writeHead(302, ['Location', view, 'Cache-Control', 'no-cache', 'Content-Length', '0', ...SECURITY_HEADERS])
  response.end()
}

function sendFile(
  { type, etag, cacheControl, contents }: PageFile,
  request: IncomingMessage,
  response: ServerResponse,
) {
  const headers = ['ETag', etag, 'Cache-Control', cacheControl, 'Vary', 'Accept-Encoding', ...SECURITY_HEADERS]
  if (matchesEtag(request.headers['if-none-match'], etag)) return void response.writeHead(304, headers).end()
  const accepted = chooseCoding(request.headers['accept-encoding'] as string | undefined)
  const body = (accepted && contents[accepted]) ?? contents.identity
  if (accepted !== undefined && body !== contents.identity) headers.push('Content-Encoding', accepted)
  headers.push('Content-Type', type, 'Content-Length', String(body.length))
  response.writeHead(200, headers)
  response.end(request.method === 'HEAD' ? undefined : body)
}

/** `If-None-Match` (RFC 9110, section 13.1.2), compared weakly: proxies mark tags of what they recompress as weak. */
function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  return header.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag)
}
