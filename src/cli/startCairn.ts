import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'

/* Library entry of the package. It imports no other module of Cairn: the server is a separate process. */

/** Options of `startCairn`. */
export interface StartOptions {
  /** A fixture directory, imported into a temporary database that is removed on stop. Default: the small chain bundled
   *  with the package. */
  fixture?: string
  /** The data directory of an imported database, instead of a fixture. */
  datadir?: string
  /** With `datadir`: false creates an API key and requires it in every call; `stop` revokes it. Default: true. */
  open?: boolean
  /** Default: 0, a free port. */
  port?: number
  /** Address to listen on. Default: `127.0.0.1`. */
  host?: string
  /** More options of `cairn serve`, such as `['--call-timeout', '30']`. */
  args?: readonly string[]
  /** Environment variables for the server, such as `CAIRN_EVM_THREADS`; undefined removes one. The server inherits the
   *  others of this process, except `CAIRN_…` and `NODE_OPTIONS`. */
  env?: { readonly [name: string]: string | undefined }
  /** Aborts the start. */
  signal?: AbortSignal
}

/** A running server. It also stops when this process ends, for whatever reason. */
export interface StartedCairn {
  /** HTTP URL, with the API key in the path if one is required. */
  readonly url: string
  /** WebSocket URL, with the API key in the path if one is required. */
  readonly wsUrl: string
  /** Set with `open: false`. */
  readonly apiKey?: string
  /** Process id of the server. */
  readonly pid: number
  /** Stops the server. Resolves when its process has ended and its temporary files are gone. */
  stop(): Promise<void>
  /** `stop`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>
}

/** Cairn did not start, or a command of it failed. */
export class CairnFailed extends Error {
  override readonly name = 'CairnFailed'
  /** Exit code of the process; null when a signal ended it. */
  readonly exitCode: number | null
  /** Standard error of the process; only the end if it was long. */
  readonly stderr: string
  constructor(exitCode: number | null, stderr: string) {
    const reason = stderr.trim().replace(/^cairn: /gm, '')
    super(reason === '' ? `cairn ended with ${exitCode ?? 'a signal'} before it was ready` : reason)
    this.exitCode = exitCode
    this.stderr = stderr
  }
}

const MAIN = fileURLToPath(new URL('./main.js', import.meta.url))
const MAX_STDERR = 64 * 1024
// A server lets running requests finish for up to 3.5 s, and closes what remains after them.
const STOP_MS = 20_000

/** Starts a server and resolves when it answers. Any number may run concurrently. Servers do not keep this process
 *  alive.
 *  @throws CairnFailed with Cairn's own message; the reason of `signal`; TypeError for options that exclude each
 *    other */
export async function startCairn(options: StartOptions = {}): Promise<StartedCairn> {
  const { fixture, datadir, open = true, port = 0, host, args = [], signal } = options
  if (fixture !== undefined && datadir !== undefined) throw new TypeError('fixture and datadir exclude each other')
  if (!open && datadir === undefined) throw new TypeError('open: false needs a datadir: a fixture takes no API keys')
  signal?.throwIfAborted()
  const environment = environmentOf(options)
  const key = open ? undefined : await createKey(datadir!, environment)
  const source = datadir === undefined ? ['--fixture', fixture ?? 'bundled'] : ['--datadir', datadir]
  const mode = datadir !== undefined && open ? ['--open'] : []
  const at = ['--port', String(port), ...(host === undefined ? [] : ['--host', host])]
  const server = launch(['serve', ...source, ...mode, ...at, '--log-level', 'error', ...args], environment)
  const stop = memoizeStop(server, key && (() => revokeKey(key.name, datadir!, environment)))
  try {
    const url = await untilReady(server, signal)
    setReferenced(server.child, false)
    const socketUrl = url.replace(/^http/, 'ws')
    return {
      url: key ? `${url}/v3/${key.value}` : url,
      wsUrl: key ? `${socketUrl}/ws/v3/${key.value}` : socketUrl,
      ...(key && { apiKey: key.value }),
      pid: server.child.pid!,
      stop,
      [Symbol.asyncDispose]: stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

type Environment = NodeJS.ProcessEnv

function environmentOf({ env = {} }: StartOptions): Environment {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('CAIRN_') && name !== 'NODE_OPTIONS', // loaders of this process, or its debugger
  )
  return { ...Object.fromEntries(inherited), CAIRN_CONFIG: 'none', ...env }
}

interface Launched {
  readonly child: ChildProcess
  /** Exit code. Rejects when the process could not be started. */
  readonly ended: Promise<number | null>
  stderr(): string
}

/** Starts the child with an IPC channel. The child stops when the channel closes, so it always ends with this
 *  process. */
function launch(args: readonly string[], env: Environment): Launched {
  const child = spawn(process.execPath, [MAIN, ...args], { env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
  let stderr = ''
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-MAX_STDERR)
  })
  const exited = new Promise<number | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', resolve)
  })
  // Not the 'close' event of the process: it is not emitted after `disconnect`.
  const closed = [child.stdout!, child.stderr!].map(
    (stream) => new Promise<void>((resolve) => stream.on('close', resolve)),
  )
  const ended = exited.then((code) => Promise.all(closed).then(() => code))
  ended.catch(() => {}) // reported by those who await it
  return { child, ended, stderr: () => stderr }
}

/** Runs a command until it exits. @returns its standard output @throws CairnFailed */
async function run(args: readonly string[], env: Environment): Promise<string> {
  const { child, ended, stderr } = launch(args, env)
  let stdout = ''
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  const code = await ended
  if (code !== 0) throw new CairnFailed(code, stderr())
  return stdout
}

async function createKey(datadir: string, env: Environment): Promise<{ name: string; value: string }> {
  const name = `startCairn-${randomBytes(6).toString('hex')}`
  return { name, value: (await run(['keys', 'create', name, '--datadir', datadir], env)).trim() }
}

async function revokeKey(name: string, datadir: string, env: Environment): Promise<void> {
  await run(['keys', 'revoke', name, '--datadir', datadir], env)
}

/** Resolves with the URL that the server prints. */
function untilReady({ child, ended, stderr }: Launched, signal: AbortSignal | undefined): Promise<string> {
  return new Promise((resolve, reject) => {
    let stdout = ''
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
      const ready = /^ready (\S+)$/m.exec(stdout)
      if (ready) resolve(ready[1])
    })
    ended.then((code) => reject(new CairnFailed(code, stderr())), reject)
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

/** Sets whether the server keeps this process alive. */
function setReferenced(child: ChildProcess, keepsAlive: boolean): void {
  const { stdout, stderr, channel } = child
  for (const each of [child, channel, stdout, stderr] as (Referenced | null | undefined)[]) {
    if (keepsAlive) each?.ref()
    else each?.unref()
  }
}

/** Members missing in Node's types of pipes: they are sockets. */
interface Referenced {
  ref(): void
  unref(): void
}

function memoizeStop({ child, ended }: Launched, afterwards: (() => Promise<void>) | undefined): () => Promise<void> {
  const end = async () => {
    setReferenced(child, true)
    if (child.connected) child.disconnect()
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
    try {
      await ended
    } finally {
      clearTimeout(timer)
    }
    await afterwards?.()
  }
  let stopping: Promise<void> | undefined
  return () => {
    stopping ??= end()
    return stopping
  }
}
