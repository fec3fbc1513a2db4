import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { packagePath } from '../../src/store/open.js'
import { importFixture } from './chains/fixtureDatabase.js'
import { runInRunner } from './commandRunner.js'
import { temporaryDirectory } from './temporary.js'

/** How a program ended, and what it wrote. */
export interface Ended {
  /** Null when a signal ended it. */
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

/** A program that runs. */
export interface Running {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  /** Resolves with the first match in what was written to the stream so far or is written yet; rejects when the program
   *  ends without it. */
  waitFor(stream: 'stdout' | 'stderr', pattern: RegExp): Promise<RegExpExecArray>
}

type After = { after(callback: () => void | Promise<void>): void }
type Environment = { [name: string]: string | undefined }

/** Starts the built program, dist/cli/main.js, its `CAIRN_…` environment empty but for `env`; with few threads below a
 *  short run of a benchmark. */
export function spawnCairn(args: readonly string[], env: Environment = {}): Running {
  const threads = process.env.TEST_FEW_THREADS ? FEW_THREADS : {}
  return spawnNode([packagePath('dist/cli/main.js'), ...args], { ...threads, ...env })
}

/** Starts Node with the arguments. */
export function spawnNode(args: readonly string[], env: Environment = {}): Running {
  return spawnProgram(process.execPath, args, { env })
}

/** Starts a program, its `CAIRN_…` environment empty but for `env`; as another user where `uid` and `gid` name one. */
export function spawnProgram(
  path: string,
  args: readonly string[],
  { env = {}, ...identity }: { env?: Environment; uid?: number; gid?: number; cwd?: string } = {},
): Running {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('CAIRN_'))
  const child = spawn(path, args, {
    ...identity,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...Object.fromEntries(inherited), ...env },
  })
  const written = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]!.setEncoding('utf8').on('data', (text: string) => {
      written[name] += text
    })
  }
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => resolve({ code, signal, ...written }))
  })
  const waitFor: Running['waitFor'] = (stream, pattern) =>
    new Promise((resolve, reject) => {
      const look = () => {
        const match = pattern.exec(written[stream])
        if (match !== null) resolve(match)
      }
      child[stream]!.on('data', look)
      look()
      const fail = ({ code, signal, stderr }: Ended) =>
        reject(new Error(`ended with ${signal ?? code} before ${pattern} was written: ${stderr}`))
      ended.then(fail, reject)
    })
  return { child, ended, waitFor }
}

/** Runs a command to its end: in a process that has run others before, where that is the same to the command.
 *  `spawnCairn` starts one of its own. */
export function runCairn(args: readonly string[], env: Environment = {}): Promise<Ended> {
  const variables = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const isPlain = Object.keys(env).every((name) => name.startsWith('CAIRN_'))
  const order = { args, env: Object.fromEntries(variables) }
  return (isPlain ? runInRunner(order) : undefined) ?? spawnCairn(args, env).ended
}

/** As `runCairn`, of a command that must succeed: what it wrote to standard output. */
export async function runCairnOk(args: readonly string[], env: Environment = {}): Promise<string> {
  const { code, signal, stdout, stderr } = await runCairn(args, env)
  assert.equal(signal ?? code, 0, `cairn ${args.join(' ')}: ${stderr}`)
  return stdout
}

/** A server in a process of its own. */
export interface CairnServer {
  /** `http://127.0.0.1:PORT` */
  readonly url: string
  /** Where sockets open, without a key. */
  readonly socketUrl: string
  readonly running: Running
  /** Asks it to stop and requires that it ends well. */
  stop(): Promise<Ended>
}

/** Threads of a server under test: each one more takes a quarter of a second of CPU time to start. */
export const FEW_THREADS: Environment = { CAIRN_SCAN_THREADS: '1', CAIRN_EVM_THREADS: '1', CAIRN_ACCEPT_THREADS: '0' }

/** On a busy machine the last of many requests at once may wait long for one of the few threads. */
const PATIENT: Environment = { CAIRN_QUEUE_TIMEOUT: '60000' }

/** `startDefaultCairn` with few threads, for which requests wait long, unless `args` or `env` say otherwise. */
export function startCairn(t: After, args: readonly string[], env: Environment = {}): Promise<CairnServer> {
  return startDefaultCairn(t, args, { ...FEW_THREADS, ...PATIENT, ...env })
}

/** `cairn serve` with the arguments on a free port, once it has said that it is ready. It is stopped when the test
 *  ends, which fails unless it then exits with 0. */
export async function startDefaultCairn(
  t: After,
  args: readonly string[],
  env: Environment = {},
): Promise<CairnServer> {
  const running = spawnCairn(['serve', '--port', '0', '--log-level', 'error', ...args], env)
  let stopping: Promise<Ended> | undefined
  const stop = () => {
    stopping ??= endServer(running)
    return stopping
  }
  t.after(async () => void (await stop()))
  const [, url] = await running.waitFor('stdout', /^ready (\S+)\n/)
  return { url, socketUrl: url.replace('http', 'ws'), running, stop }
}

async function endServer({ child, ended }: Running): Promise<Ended> {
  child.kill('SIGTERM')
  const end = await ended
  assert.equal(end.signal ?? end.code, 0, `the server did not end well: ${end.stderr}`)
  return end
}

/** `cairn serve --open` of the bundled fixture, which is imported once for each build. */
export async function serveFixture(t: After, args: readonly string[] = []): Promise<CairnServer> {
  const datadir = temporaryDirectory(t)
  await importFixture(datadir)
  return startCairn(t, ['--datadir', datadir, '--open', ...args])
}
