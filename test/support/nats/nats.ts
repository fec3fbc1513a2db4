import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from '@nats-io/transport-node'
import { silentLogger } from '../../../src/lib/logger.js'
import { connectNats, type NatsLink, type NatsSettings } from '../../../src/replication/nats/connection.js'
import { temporaryDirectory } from '../temporary.js'

/* Real nats-server processes on free ports, each with a folder of its own. */

const PROGRAM = process.env.NATS_SERVER ?? '/usr/sbin/nats-server'

/** Options of a test that needs nats-server: at most two minutes; skipped without it, except in CI, where its absence
 *  is a failure. */
export const NEEDS_NATS = {
  timeout: 120_000,
  skip: existsSync(PROGRAM) || process.env.CI === 'true' ? false : `${PROGRAM} is not there`,
}

/** A running nats-server. */
export interface NatsServer {
  readonly name: string
  /** `nats://127.0.0.1:PORT` */
  readonly url: string
  /** The folder of its streams. */
  readonly store: string
  /** `SIGKILL`. Resolves when the process is gone. */
  kill(): Promise<void>
  /** `SIGSTOP`: connections stay, nothing answers. */
  freeze(): void
  thaw(): void
  /** Starts it again with its files, after `kill`. */
  restart(): Promise<void>
}

/** What else the configuration has: `authorization {…}`, `tls {…}`, limits. */
export interface NatsServerOptions {
  readonly config?: string
  /** What all streams may store, as nats-server writes sizes. Default: `4G`. */
  readonly maxFile?: string
  /** URL by which the start is awaited, if it needs credentials: made from the port. */
  readonly urlOf?: (port: number) => string
  /** Clients are let in over TLS alone. */
  readonly isTls?: boolean
}

/** One server with JetStream, ended with the test. */
export async function startNats(t: TestContext, options: NatsServerOptions = {}): Promise<NatsServer> {
  const [port] = await freePorts(1)
  return startServer(t, { name: 'n1', port, options })
}

/** A cluster of three, ended with the test. Resolves when it has a leader. */
export async function startNatsCluster(t: TestContext, options: NatsServerOptions = {}): Promise<NatsServer[]> {
  const ports = await freePorts(6)
  const routes = ports.slice(3).map((port) => `nats://127.0.0.1:${port}`)
  const servers = await Promise.all(
    [0, 1, 2].map((i) => {
      const cluster = `cluster { name: test, listen: "127.0.0.1:${ports[3 + i]}", routes: [${routes.join(', ')}] }`
      const config = `${options.config ?? ''}\n${cluster}`
      return startServer(t, { name: `n${i + 1}`, port: ports[i], options: { ...options, config } })
    }),
  )
  const link = await openLink(t, servers, { streamReplicas: 3 })
  for (;;) {
    try {
      await link.manager.getAccountInfo()
      break
    } catch {
      await sleep(50)
    }
  }
  await link.close()
  return servers
}

/** Settings for the servers: one copy of the stream by default. */
export function settingsFor(servers: readonly { url: string }[], more: Partial<NatsSettings> = {}): NatsSettings {
  return { servers: servers.map(({ url }) => url), streamReplicas: 1, maxAgeMs: 7 * 86_400_000, ...more }
}

/** A connection that is closed with the test. */
export async function openLink(
  t: TestContext,
  servers: readonly { url: string }[],
  more: Partial<NatsSettings> = {},
): Promise<NatsLink> {
  const link = await connectNats(settingsFor(servers, more), {
    log: silentLogger,
    signal: new AbortController().signal,
  })
  t.after(() => link.close())
  return link
}

/** Name of the server that leads the stream. */
export async function leaderOf({ manager }: NatsLink, stream: string): Promise<string> {
  for (;;) {
    const leader = await manager.streams.info(stream).then(
      ({ cluster }) => cluster?.leader,
      () => undefined,
    )
    if (leader) return leader
    await sleep(50)
  }
}

async function startServer(
  t: TestContext,
  { name, port, options }: { name: string; port: number; options: NatsServerOptions },
): Promise<NatsServer> {
  let end = async () => {}
  t.after(() => end()) // before the folder is removed
  const folder = temporaryDirectory(t)
  const path = join(folder, 'nats.conf')
  const store = join(folder, 'store')
  writeFileSync(
    path,
    `server_name: ${name}\nlisten: "127.0.0.1:${port}"\njetstream { store_dir: "${store}", max_mem: 64M, max_file: ${options.maxFile ?? '4G'} }\n` +
      `${options.config ?? ''}\n`,
  )
  const url = `nats://127.0.0.1:${port}`
  let child: ChildProcess | undefined
  let exited: Promise<unknown> = Promise.resolve()
  const kill = async () => {
    child?.kill('SIGKILL')
    await exited
    child = undefined
  }
  const start = async () => {
    let output = ''
    const own = spawn(PROGRAM, ['-c', path], { stdio: ['ignore', 'ignore', 'pipe'] })
    own.stderr.on('data', (bytes) => {
      output = `${output}${bytes}`.slice(-4000)
    })
    child = own
    let isOver = false
    exited = once(own, 'exit').then(() => {
      isOver = true
    })
    for (;;) {
      if (isOver) throw new Error(`nats-server ended: ${output}`)
      try {
        const connection = await connect({ servers: options.urlOf?.(port) ?? url, timeout: 1000, reconnect: false })
        await connection.close()
        return
      } catch (error) {
        // It listens when it refuses the credentials, or is without them, or has a certificate.
        if (/uthorization/.test(String(error)) || (options.isTls && /certificate/.test(String(error)))) return
        await sleep(20)
      }
    }
  }
  end = kill
  await start()
  return {
    name,
    url,
    store,
    kill,
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
    restart: start,
  }
}

/** Ports on which nothing listens, all different. */
async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer()
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      return server
    }),
  )
  return Promise.all(
    servers.map(async (server) => {
      const { port } = server.address() as { port: number }
      server.close()
      await once(server, 'close')
      return port
    }),
  )
}
