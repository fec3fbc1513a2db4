import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { type JetStreamClient, type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect, errors, type NatsConnection } from '@nats-io/transport-node'
import type { Logger } from '../../lib/logger.js'
import { type Clock, systemClock } from '../../sources/upstreams/clock.js'
import { describeRefusal, type NatsAccess, parseServer, readAccess } from './access.js'

/** NATS servers, and how streams are created there. Plain data: can be sent to a thread. */
export interface NatsSettings extends NatsAccess {
  /** Copies of a new stream: 1, 3 or 5. */
  readonly streamReplicas: number
  /** Max age of messages in a new stream. */
  readonly maxAgeMs: number
  /** Max size of a new stream, which drops its oldest messages above it; undefined: no limit. */
  readonly maxBytes?: number
}

/** A connection that reconnects forever. */
export interface NatsLink {
  readonly settings: NatsSettings
  readonly connection: NatsConnection
  readonly publisher: JetStreamClient
  readonly manager: JetStreamManager
  /** Max bytes of a message with its headers, as the server reports. */
  readonly maxPayload: number
  /** Resolves when the connection is closed. Pending requests fail. */
  close(): Promise<void>
}

/** What `connectNats` needs in addition to the settings. */
export interface ConnectOptions {
  readonly log: Logger
  /** Ends the attempts to connect. `close` closes the link itself. */
  readonly signal: AbortSignal
  /** Called with the reason on disconnect, null on connect. */
  onProblem?(problem: string | null): void
  /** Time and timers, for tests. */
  readonly clock?: Clock
}

// With these, a frozen server stops publishing for 6.4 s instead of 15.
const TIMING = { timeout: 2000, pingInterval: 1000, maxPingOut: 2, reconnectTimeWait: 250, reconnectJitter: 250 }

const ALWAYS = { name: 'cairn', maxReconnectAttempts: -1, ignoreAuthErrorAbort: true }

/** Max time of closing: a frozen server confirms nothing. */
const CLOSE_MS = 1000

/** Node's channel that names each socket of a client of this thread. */
const CLIENT_SOCKETS = 'net.client.socket'

const FIRST_RETRY_MS = 250
const MAX_RETRY_MS = 5000

/** Connects, waiting without limit.
 *  @throws UsageError for an invalid URL or file, the reason of the signal when it aborts */
export async function connectNats(settings: NatsSettings, options: ConnectOptions): Promise<NatsLink> {
  const { signal, onProblem = () => {}, clock = systemClock } = options
  const connecting = { ...TIMING, ...readAccess(settings), ...ALWAYS }
  for (let retryMs = FIRST_RETRY_MS; ; retryMs = Math.min(2 * retryMs, MAX_RETRY_MS)) {
    signal.throwIfAborted()
    try {
      const connection = await withoutLeaks(() => connect(connecting), settings)
      if (signal.aborted) await closeWithin(connection)
      signal.throwIfAborted()
      onProblem(null)
      return await openLink(connection, settings, options)
    } catch (error) {
      signal.throwIfAborted()
      onProblem(`NATS at ${describeServers(settings)}: ${describeRefusal(error, settings)}`)
    }
    await clock.sleep(retryMs, signal)
  }
}

/** Runs an attempt to connect. The library leaves the socket of an attempt open that a frozen server has not answered
 *  in time: it would keep the thread alive, and the server busy once it resumes. */
async function withoutLeaks<T>(attempt: () => Promise<T>, { servers }: NatsSettings): Promise<T> {
  const opened = new Set<Socket>()
  const onSocket = (message: unknown) => void opened.add((message as { socket: Socket }).socket)
  subscribe(CLIENT_SOCKETS, onSocket)
  try {
    return await attempt()
  } catch (error) {
    const ports = new Set(servers.map((text) => Number(parseServer(text).host.split(':').at(-1))))
    for (const socket of opened) if (socket.bytesRead === 0 && ports.has(socket.remotePort ?? -1)) socket.destroy()
    throw error
  } finally {
    unsubscribe(CLIENT_SOCKETS, onSocket)
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
      } else if (status.type === 'error' && status.error instanceof errors.AuthorizationError) {
        onProblem(`NATS: ${describeRefusal(status.error, settings)}`)
      }
    }
  }
  void watch()
  return {
    settings,
    connection,
    publisher: jetstream(connection),
    // Skips the query of the account, which a replica's credentials need not permit.
    manager: await jetstreamManager(connection, { checkAPI: false }),
    get maxPayload() {
      return connection.info?.max_payload ?? DEFAULT_MAX_PAYLOAD
    },
    close: () => closeWithin(connection),
  }
}

/** Default of nats-server. */
const DEFAULT_MAX_PAYLOAD = 2 ** 20

async function closeWithin(connection: NatsConnection): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, CLOSE_MS)
  })
  await Promise.race([connection.close().catch(() => {}), late])
  clearTimeout(timer)
}

/** Lists the servers without credentials, for messages. */
export function describeServers({ servers }: NatsSettings): string {
  return servers.map((text) => parseServer(text).host).join(', ')
}

/** Checks addresses and reads the files, as `connectNats` does first. @throws UsageError */
export function requireNatsSettings(settings: NatsSettings): void {
  readAccess(settings)
}
