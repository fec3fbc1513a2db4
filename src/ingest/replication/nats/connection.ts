import { readFileSync } from 'node:fs'
import { type JetStreamClient, type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream'
import {
  type Authenticator,
  connect,
  credsAuthenticator,
  errors,
  type NatsConnection,
  type NodeConnectionOptions,
  nkeyAuthenticator,
} from '@nats-io/transport-node'
import { messageOf, UsageError } from '../../../lib/errors.js'
import type { Logger } from '../../../lib/logger.js'
import { type Clock, systemClock } from '../../sources/upstream/clock.js'

/** Which NATS servers, and how streams are made there. Plain data: can be sent to a thread. */
export interface NatsSettings {
  /** URLs `nats://HOST:PORT` or `tls://HOST:PORT`, which may have a user and a password, or a token as user. At least one. */
  readonly servers: readonly string[]
  /** A file with an NKEY seed, or a `.creds` file. */
  readonly credentialsFile?: string
  /** Certificates (PEM) of the authorities that are trusted. Demands TLS. */
  readonly caFile?: string
  /** Copies of a new stream: 1, 3 or 5. */
  readonly streamReplicas: number
  /** A new stream drops messages that are older. */
  readonly maxAgeMs: number
  /** A new stream drops its oldest messages above this size; undefined: no limit. */
  readonly maxBytes?: number
}

/** A connection that is made again for ever when it is lost. */
export interface NatsLink {
  readonly settings: NatsSettings
  readonly connection: NatsConnection
  readonly publisher: JetStreamClient
  readonly manager: JetStreamManager
  /** Most bytes of a message with its headers, as the server says. */
  readonly maxPayload: number
  /** Resolves when the connection is closed. What waits for an answer fails. */
  close(): Promise<void>
}

/** What `connectNats` needs besides the settings. */
export interface ConnectOptions {
  readonly log: Logger
  /** Ends the attempts to connect. The link itself is closed by `close`. */
  readonly signal: AbortSignal
  /** Told why there is no connection, and null when there is one. */
  onProblem?(problem: string | null): void
  /** Time and timers, for tests. */
  readonly clock?: Clock
}

// With these, a frozen server stops publishing for 6.4 s instead of 15.
const TIMING = { timeout: 2000, pingInterval: 1000, maxPingOut: 2, reconnectTimeWait: 250, reconnectJitter: 250 }

/** Time that closing may take: a frozen server confirms nothing. */
const CLOSE_MS = 1000

const FIRST_RETRY_MS = 250
const MAX_RETRY_MS = 5000

/** Connects, and waits for it as long as it takes.
 *  @throws UsageError for a URL or a file that is wrong, the reason of the signal when it aborts */
export async function connectNats(settings: NatsSettings, options: ConnectOptions): Promise<NatsLink> {
  const { signal, onProblem = () => {}, clock = systemClock } = options
  const connecting = describeConnection(settings)
  for (let retryMs = FIRST_RETRY_MS; ; retryMs = Math.min(2 * retryMs, MAX_RETRY_MS)) {
    signal.throwIfAborted()
    try {
      const connection = await connect(connecting)
      if (signal.aborted) await closeWithin(connection)
      signal.throwIfAborted()
      onProblem(null)
      return await openLink(connection, settings, options)
    } catch (error) {
      signal.throwIfAborted()
      onProblem(`NATS at ${describeServers(settings)}: ${describeProblem(error)}`)
    }
    await clock.sleep(retryMs, signal)
  }
}

async function openLink(
  connection: NatsConnection,
  settings: NatsSettings,
  { log, onProblem = () => {} }: ConnectOptions,
): Promise<NatsLink> {
  const watch = async () => {
    for await (const status of connection.status()) {
      if (status.type === 'disconnect') {
        onProblem(`NATS: lost the connection to ${status.server}`)
      } else if (status.type === 'reconnect') {
        log.info({ server: status.server }, 'connected to NATS again')
        onProblem(null)
      } else if (status.type === 'error' && status.error instanceof errors.PermissionViolationError) {
        const { operation, subject } = status.error
        onProblem(`NATS: the credentials do not allow the ${operation} of ${subject}`)
      }
    }
  }
  void watch()
  return {
    settings,
    connection,
    publisher: jetstream(connection),
    // Without a look at the account, which a replica's credentials need not allow.
    manager: await jetstreamManager(connection, { checkAPI: false }),
    get maxPayload() {
      return connection.info?.max_payload ?? DEFAULT_MAX_PAYLOAD
    },
    close: () => closeWithin(connection),
  }
}

/** Of nats-server, when it is not told otherwise. */
const DEFAULT_MAX_PAYLOAD = 2 ** 20

async function closeWithin(connection: NatsConnection): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, CLOSE_MS)
  })
  await Promise.race([connection.close().catch(() => {}), late])
  clearTimeout(timer)
}

/** The servers without credentials, for messages. */
export function describeServers({ servers }: NatsSettings): string {
  return servers.map((text) => parseServer(text).host).join(', ')
}

/** The message of an error of the library, which names no credentials. */
function describeProblem(error: unknown): string {
  return error instanceof errors.AuthorizationError ? 'the credentials were refused' : messageOf(error)
}

/** Checks addresses and reads the files, as `connectNats` does first. @throws UsageError */
export function requireNatsSettings(settings: NatsSettings): void {
  describeConnection(settings)
}

function describeConnection(settings: NatsSettings): NodeConnectionOptions {
  const { caFile, credentialsFile } = settings
  const servers = settings.servers.map(parseServer)
  if (servers.length === 0) throw new UsageError('NATS: expected at least one server')
  const { user, pass, token } = servers.find((server) => server.user ?? server.token) ?? {}
  const isTls = caFile !== undefined || servers.some((server) => server.isTls)
  const ca = caFile === undefined ? undefined : readText('--nats-ca', caFile)
  return {
    ...TIMING,
    servers: servers.map(({ host }) => host),
    ...(credentialsFile === undefined ? { user, pass, token } : { authenticator: readCredentials(credentialsFile) }),
    ...(isTls ? { tls: ca === undefined ? {} : { ca } } : {}),
    name: 'cairn',
    maxReconnectAttempts: -1,
    ignoreAuthErrorAbort: true,
  }
}

/** A server of the settings. */
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
  const [user, pass] = [url.username, url.password].map(decodeURIComponent)
  if (user === '') return { host, isTls }
  return pass === '' ? { host, isTls, token: user } : { host, isTls, user, pass }
}

function readCredentials(path: string): Authenticator {
  const text = readText('--nats-credentials', path)
  if (text.includes('BEGIN NATS USER JWT')) return credsAuthenticator(Buffer.from(text))
  const seed = text.split('\n').find((line) => /^SU[A-Z2-7]{56}\s*$/.test(line))
  if (seed !== undefined) return nkeyAuthenticator(Buffer.from(seed.trim()))
  throw new UsageError(`--nats-credentials ${path}: expected an NKEY seed (SU…) of a user, or a .creds file`)
}

function readText(option: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new UsageError(`${option} ${path}: ${messageOf(error)}`)
  }
}
