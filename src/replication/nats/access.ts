import { X509Certificate } from 'node:crypto'
import {
  type Authenticator,
  credsAuthenticator,
  errors,
  type NodeConnectionOptions,
  nkeyAuthenticator,
} from '@nats-io/transport-node'
import { messageOf, UsageError } from '../../lib/errors.js'
import { readOptionText } from '../../lib/optionFile.js'

/** NATS servers and credentials. Plain data. */
export interface NatsAccess {
  /** URLs `nats://HOST:PORT` or `tls://HOST:PORT`, optionally with a user and a password, or a token as user. At
   *  least one. */
  readonly servers: readonly string[]
  /** A file with an NKEY seed, or a `.creds` file. */
  readonly credentialsFile?: string
  /** Trusted CA certificates (PEM). Requires TLS. */
  readonly caFile?: string
}

/** Reads the files and returns addresses, certificates and credentials for the library.
 *  @throws UsageError for an invalid URL or file; it names the option and shows no credentials */
export function readAccess(access: NatsAccess): NodeConnectionOptions {
  const { caFile, credentialsFile } = access
  const servers = access.servers.map(parseServer)
  if (servers.length === 0) throw new UsageError('NATS: expected at least one server')
  const { user, pass, token } = servers.find((server) => server.user ?? server.token) ?? {}
  const isTls = caFile !== undefined || servers.some((server) => server.isTls)
  const ca = caFile === undefined ? undefined : readAuthorities(caFile)
  return {
    servers: servers.map(({ host }) => host),
    ...(credentialsFile === undefined ? { user, pass, token } : { authenticator: readCredentials(credentialsFile) }),
    ...(isTls ? { tls: ca === undefined ? {} : { ca } } : {}),
  }
}

/** A server from the settings. */
interface ParsedServer {
  readonly host: string // and port
  readonly isTls: boolean
  readonly user?: string
  readonly pass?: string
  readonly token?: string
}

/** @throws UsageError, without credentials */
export function parseServer(text: string): ParsedServer {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || (url.protocol !== 'nats:' && url.protocol !== 'tls:') || url.hostname === '') {
    throw new UsageError('NATS: expected a URL such as nats://127.0.0.1:4222, got something else')
  }
  const host = `${url.hostname}:${url.port || '4222'}`
  const isTls = url.protocol === 'tls:'
  const [user, pass] = [url.username, url.password].map(decodePart)
  if (user === '') return { host, isTls }
  return pass === '' ? { host, isTls, token: user } : { host, isTls, user, pass }
}

function decodePart(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new UsageError('NATS: expected user and password of the URL with % only as in %40, got something else')
  }
}

// The authorities of a system are some 250 kB.
const MAX_AUTHORITIES_BYTES = 4 * 2 ** 20
const MAX_CREDENTIALS_BYTES = 2 ** 16
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** Reads PEM certificates. OpenSSL would skip entries that it cannot read. */
function readAuthorities(path: string): string {
  const text = readOptionText('--nats-ca', path, MAX_AUTHORITIES_BYTES)
  const certificates = text.match(CERTIFICATE) ?? []
  try {
    for (const each of certificates) new X509Certificate(each)
  } catch (error) {
    throw new UsageError(`--nats-ca ${path}: ${messageOf(error)}`)
  }
  if (certificates.length === 0) throw new UsageError(`--nats-ca ${path}: expected certificates in PEM, got none`)
  return text
}

function readCredentials(path: string): Authenticator {
  const text = readOptionText('--nats-credentials', path, MAX_CREDENTIALS_BYTES)
  const seed = text.split('\n').find((line) => /^SU[A-Z2-7]{56}\s*$/.test(line))
  const isCreds = text.includes('BEGIN NATS USER JWT')
  if (seed !== undefined) {
    const authenticator = isCreds ? credsAuthenticator(Buffer.from(text)) : nkeyAuthenticator(Buffer.from(seed.trim()))
    try {
      authenticator('nonce') // called like this when a server asks for it
      return authenticator
    } catch {} // the library's message may contain what it has read
  }
  throw new UsageError(
    `--nats-credentials ${path}: expected an NKEY seed (SU…) of a user, or a .creds file, got something else or a damaged one`,
  )
}

/** OpenSSL codes for a certificate that no trusted authority has signed. */
const UNTRUSTED = new Set([
  ...['SELF_SIGNED_CERT_IN_CHAIN', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ...['UNABLE_TO_GET_ISSUER_CERT', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'CERT_SIGNATURE_FAILURE', 'CERT_UNTRUSTED'],
])

/** Describes why there is no connection, with the option to check. Shows no credentials. */
export function describeRefusal(error: unknown, { caFile, credentialsFile, servers }: NatsAccess): string {
  if (error instanceof errors.AuthorizationError) {
    if (credentialsFile !== undefined)
      return `the server refused the credentials of --nats-credentials ${credentialsFile}`
    const isNamed = servers.some((server) => parseServer(server).user ?? parseServer(server).token)
    return isNamed
      ? 'the credentials were refused: those in the URL of the server'
      : 'the server wants credentials: --nats-credentials FILE, or a user and a password in the URL of the server'
  }
  const code = codeOf(error)
  if (UNTRUSTED.has(code)) {
    return caFile === undefined
      ? `the certificate of the server is of an authority that is not known (${code}): --nats-ca FILE names it`
      : `the certificate of the server is not of an authority in --nats-ca ${caFile} (${code})`
  }
  if (error instanceof Error && error.message.includes("'tls'")) {
    return 'the server has no TLS, which tls:// and --nats-ca demand'
  }
  return messageOf(error)
}

/** Returns the code of the error or of one of its causes; empty when none has one. */
function codeOf(error: unknown): string {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code } = at as NodeJS.ErrnoException
    if (typeof code === 'string') return code
  }
  return ''
}
