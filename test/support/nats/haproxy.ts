import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { packagePath } from '../../../src/store/open.js'
import { spawnProgram } from '../cairn.js'
import { freePort } from '../freePort.js'
import { temporaryDirectory } from '../temporary.js'

/** The configuration that operators copy. */
export const HAPROXY_CONFIG = packagePath('deploy/scaling/haproxy.cfg')

const [PROGRAM] = ['haproxy', '/usr/sbin/haproxy'].filter((path) => spawnSync(path, ['-v']).status === 0)

/** Why tests with HAProxy are skipped; false where it is installed. */
export const SKIP_HAPROXY: false | string = PROGRAM === undefined && 'haproxy is not installed'

/** Servers behind HAProxy, as `HOST:PORT`. Missing ones are at a port that no process listens on. */
export interface Backends {
  /** At most three. */
  readonly replicas: readonly string[]
  readonly writer?: string
  readonly standby?: string
  /** File with one API key in a line. */
  readonly keysFile?: string
}

/** What HAProxy counts of a server in a backend. */
export interface ServerCounts {
  readonly backend: string
  readonly name: string
  /** `UP`, or `DOWN`, with what comes after it: `UP 1/2`. */
  readonly status: string
  readonly sessions: number
  /** Requests that were tried again: this server refused the connection, ended it, or answered 503. */
  readonly retried: number
  /** Answers with status 5xx that went to clients. */
  readonly failed: number
}

/** HAProxy with the shipped configuration. */
export interface LoadBalancer {
  /** `http://127.0.0.1:PORT` */
  readonly url: string
  readonly pid: number
  counts(): Promise<ServerCounts[]>
  /** Answer of the stats socket. */
  command(text: string): Promise<string>
  /** Resolves when exactly these replicas are in the rotation: `r1`, `r2`, `r3`. */
  untilRotation(names: readonly string[]): Promise<void>
}

/** What `haproxy -c` says of the shipped configuration. */
export function checkConfig(env: { [name: string]: string } = {}): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(PROGRAM, ['-c', '-f', HAPROXY_CONFIG], {
    env: { ...process.env, ...env },
    encoding: 'utf8',
  })
  return { status, output: stdout + stderr }
}

/** Starts HAProxy with the shipped configuration. It ends with the test. */
export async function startHaproxy(
  t: { after(callback: () => void | Promise<void>): void },
  { replicas, writer, standby, keysFile }: Backends,
): Promise<LoadBalancer> {
  const closed = `127.0.0.1:${await freePort()}`
  const socket = join(temporaryDirectory(t), 'haproxy.sock')
  const address = `127.0.0.1:${await freePort()}`
  const { child, ended } = spawnProgram(PROGRAM, ['-db', '-f', HAPROXY_CONFIG], {
    env: {
      CAIRN_LB_UNPRIVILEGED: '1',
      CAIRN_LB_BIND: address,
      CAIRN_LB_SOCKET: socket,
      ...Object.fromEntries([0, 1, 2].map((i) => [`CAIRN_REPLICA_${i + 1}`, replicas[i] ?? closed])),
      CAIRN_WRITER: writer ?? closed,
      CAIRN_STANDBY: standby ?? closed,
      ...(keysFile === undefined ? {} : { CAIRN_LB_KEYS: keysFile }),
    },
  })
  t.after(async () => {
    child.kill('SIGTERM')
    const { code, signal, stderr } = await ended
    assert.ok(signal === 'SIGTERM' || code === 143, `haproxy ended with ${signal ?? code}: ${stderr}`)
  })
  let exited = false
  void ended.then(() => {
    exited = true
  })
  const answers = () => askSocket(socket, 'show info').then(Boolean, () => false)
  while (!exited && !(await answers())) await sleep(10)
  const command = (text: string) => askSocket(socket, text)
  const counts = async () => parseStat(await command('show stat'))
  return {
    url: `http://${address}`,
    pid: child.pid!,
    command,
    counts,
    untilRotation: async (names) => {
      const isAsWanted = ({ name, status }: ServerCounts) => status === (names.includes(name) ? 'UP' : 'DOWN')
      const ofReplicas = async () => (await counts()).filter(({ backend }) => backend === 'replicas')
      while (!(await ofReplicas()).every(isAsWanted)) await sleep(20)
    },
  }
}

async function askSocket(path: string, text: string): Promise<string> {
  const socket = connect(path)
  let answer = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    answer += chunk
  })
  socket.end(`${text}\n`)
  await once(socket, 'close')
  return answer
}

/** The servers in HAProxy's CSV. */
function parseStat(csv: string): ServerCounts[] {
  const [head, ...rows] = csv.replace(/^# /, '').trim().split('\n')
  const names = head.split(',')
  return rows.flatMap((row) => {
    const values = row.split(',')
    const of = (name: string) => values[names.indexOf(name)]
    if (['FRONTEND', 'BACKEND'].includes(of('svname'))) return []
    const [sessions, retries, redispatches, failed] = ['stot', 'wretr', 'wredis', 'hrsp_5xx'].map((name) =>
      Number(of(name)),
    )
    const [backend, name, status] = ['pxname', 'svname', 'status'].map(of)
    return { backend, name, status, sessions, retried: retries + redispatches, failed }
  })
}
