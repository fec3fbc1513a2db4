import { validateHeaderName, validateHeaderValue } from 'node:http'
import { UsageError } from '../../lib/errors.js'
import type { UpstreamAddress } from './types.js'

/** A parsed upstream address: what is sent, and what may be shown. */
export interface ParsedAddress {
  /** Without user and password. */
  readonly url: URL
  /** The headers of the address, and basic authorization where the URL has a user. */
  readonly headers: Readonly<Record<string, string>>
  /** The URL without credentials, for messages. */
  readonly name: string
  /** Removes the credentials of this address from a text of the upstream or of a library; returns one line of at most
   *  `maxCharacters`, 200 by default. */
  redact(text: string, maxCharacters?: number): string
}

const PROTOCOLS = ['http:', 'https:', 'ws:', 'wss:']

// Everything else in a path may be a key.
const PLAIN_SEGMENT =
  /^(v\d{1,2}|v0_\d{1,2}|rpc|jsonrpc|json-rpc|http|https|ws|wss|eth|evm|ethereum|api|ext|bc|C|node|archive|main|mainnet|testnet|sepolia|holesky|hoodi|goerli|execution|starknet|feeder_gateway)$/
// A label of a host name that is a key, as some providers have them.
const KEY_LABEL = /^(?=.*\d)[0-9a-z]{20,}$/i
const HIDDEN = '…'

/** Formats a URL for messages, logs and reports: without user, password, query and fragment, with `…` in place of path
 *  segments and host labels that may be keys. Returns `…` for a text that is not a URL. */
export function describeUrl(url: string | URL): string {
  const parsed = typeof url === 'string' ? parseUrl(url) : url
  if (!parsed || !PROTOCOLS.includes(parsed.protocol)) return HIDDEN
  const host = parsed.hostname.split('.').map((label) => (KEY_LABEL.test(label) ? HIDDEN : label))
  const path = parsed.pathname.split('/').map((part) => (part === '' || PLAIN_SEGMENT.test(part) ? part : HIDDEN))
  const port = parsed.port === '' ? '' : `:${parsed.port}`
  return `${parsed.protocol}//${host.join('.')}${port}${path.join('/').replace(/\/+$/, '')}`
}

/** Returns ` #2` and so on for URLs that are described like an earlier one; empty for others. */
export function suffixesOf(urls: readonly string[]): string[] {
  const names = urls.map(describeUrl)
  return names.map((name, i) => {
    const before = names.slice(0, i).filter((other) => other === name).length
    return before === 0 ? '' : ` #${before + 1}`
  })
}

/** Checks an upstream address. Appends `suffix` to its name. @throws UsageError, without credentials, for another
 *  protocol or a bad header. */
export function parseUpstreamAddress({ url: text, headers = {} }: UpstreamAddress, suffix = ''): ParsedAddress {
  const url = parseUrl(text)
  if (!url) throw new UsageError('upstream: expected a URL such as http://127.0.0.1:8545, got something else')
  if (!PROTOCOLS.includes(url.protocol)) {
    throw new UsageError('upstream: expected an http, https, ws or wss URL, got one of another protocol')
  }
  const name = describeUrl(url) + suffix
  for (const [header, value] of Object.entries(headers)) requireHeader(name, header, value)
  const user = decode(url.username)
  const password = decode(url.password)
  const basic = user || password ? Buffer.from(`${user}:${password}`).toString('base64') : undefined
  const secrets = listSecrets(url, [user, password, basic, ...Object.values(headers)])
  url.username = ''
  url.password = ''
  url.hash = ''
  return {
    url,
    headers: basic === undefined ? headers : { authorization: `Basic ${basic}`, ...headers },
    name,
    redact: (original, maxCharacters = 200) => {
      let shown = original
      for (const secret of secrets) shown = shown.replaceAll(secret, HIDDEN)
      shown = shown.replace(/\s+/g, ' ').trim()
      return shown.length <= maxCharacters ? shown : `${shown.slice(0, maxCharacters)}…`
    },
  }
}

/** Returns the texts that must not be shown, the longest first, so that none leaves a part of another. */
function listSecrets(url: URL, others: readonly (string | undefined)[]): string[] {
  const hidden = (parts: string[], isPlain: (part: string) => boolean) => parts.filter((part) => part && !isPlain(part))
  const secrets = [
    ...others,
    ...others.map((value) => value?.replace(/^\S+ /, '')), // the token after `Bearer`
    url.username,
    url.password,
    ...hidden(url.pathname.split('/'), (part) => PLAIN_SEGMENT.test(part)),
    ...hidden(url.hostname.split('.'), (label) => !KEY_LABEL.test(label)),
    url.search.slice(1),
    ...[...url.searchParams].flat().filter((part) => part.length > 3),
  ]
  const all = secrets.filter((secret): secret is string => Boolean(secret))
  return [...new Set(all.flatMap((secret) => [secret, decode(secret)]))].sort((a, b) => b.length - a.length)
}

function requireHeader(upstream: string, header: string, value: string): void {
  try {
    validateHeaderName(header)
    validateHeaderValue(header, value)
  } catch {
    throw new UsageError(
      `upstream ${upstream}: the header ${JSON.stringify(header.slice(0, 40))} is not a valid header`,
    )
  }
}

function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
