import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createS3Client } from '../../src/lib/objects/s3Client.js'
import type { S3Settings } from '../../src/lib/objects/s3Settings.js'
import { type Running, spawnProgram } from './cairn.js'
import { freePort } from './freePort.js'

const PROGRAMS = ['ceph-mon', 'ceph-osd', 'ceph', 'ceph-authtool', 'monmaptool', 'radosgw', 'radosgw-admin']

/** Why tests beside radosgw are skipped; false when its programs are there. */
export const SKIP_RADOSGW: false | string = (() => {
  const missing = PROGRAMS.find((program) => spawnSync('sh', ['-c', `command -v ${program}`]).status !== 0)
  return missing !== undefined && `no ${missing} on the PATH`
})()

/** An object store of its own that speaks S3. */
export interface Radosgw {
  readonly settings: S3Settings
  /** What `cairn` needs in its environment. */
  readonly env: { readonly [name: string]: string }
  /** Makes a bucket with a name of its own. */
  makeBucket(): Promise<string>
}

const CREDENTIALS = { accessKeyId: 'CAIRNTESTACCESSKEY', secretAccessKey: 'cairn-test-secret-key' }
const READY_MS = 60_000

/** A function that gives a radosgw for all tests of a file, started by the first that asks. */
export function radosgwOfFile({ after }: { after(callback: () => Promise<void>): void }): () => Promise<Radosgw> {
  const ends: (() => Promise<void>)[] = []
  after(async () => {
    for (const end of ends) await end()
  })
  let started: Promise<Radosgw> | undefined
  return () => {
    started ??= startRadosgw({ after: (end) => void ends.push(end) })
    return started
  }
}

/** Starts a monitor, an object store in memory and radosgw on free ports, in a folder of their own; all ends with
 *  `t`. Takes about 3 s. */
async function startRadosgw(t: { after(callback: () => Promise<void>): void }): Promise<Radosgw> {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-radosgw-'))
  const running: Running[] = []
  t.after(async () => {
    for (const { child } of running) child.kill('SIGKILL')
    await Promise.all(running.map(({ ended }) => ended))
    rmSync(folder, { recursive: true, force: true })
  })
  const [monitor, port] = [await freePort(), await freePort()]
  const configuration = join(folder, 'ceph.conf')
  const fsid = randomUUID()
  writeFileSync(configuration, configure({ folder, fsid, monitor, port }))
  for (const name of ['mon', 'osd', 'rgw', 'crash']) mkdirSync(join(folder, name))
  const all = ['-c', configuration]
  const run = (program: string, ...args: string[]) => runProgram(folder, program, args)
  const start = (program: string, ...args: string[]) => {
    const started = spawnProgram(program, [...all, ...args, '-f'], { cwd: folder })
    running.push(started)
    return started
  }
  const admin = ['--cap', 'mon', 'allow *', '--cap', 'osd', 'allow *', '--cap', 'mgr', 'allow *']
  run('ceph-authtool', '-C', 'keyring', '--gen-key', '-n', 'mon.', '--cap', 'mon', 'allow *')
  run('ceph-authtool', 'keyring', '--gen-key', '-n', 'client.admin', ...admin)
  run('monmaptool', '--create', '--fsid', fsid, '--addv', 'a', `[v2:127.0.0.1:${monitor}]`, 'monmap')
  run('ceph-mon', ...all, '-i', 'a', '--mkfs', '--monmap', 'monmap', '--keyring', 'keyring')
  start('ceph-mon', '-i', 'a')
  const osd = randomUUID()
  run('ceph', ...all, '--connect-timeout', '30', 'osd', 'new', osd)
  run(
    'ceph-authtool',
    'keyring',
    '--gen-key',
    '-n',
    'osd.0',
    '--cap',
    'mon',
    'allow profile osd',
    '--cap',
    'osd',
    'allow *',
  )
  run('ceph', ...all, '--connect-timeout', '30', 'auth', 'import', '-i', 'keyring')
  run('ceph-osd', ...all, '-i', '0', '--mkfs', '--osd-uuid', osd)
  start('ceph-osd', '-i', '0')
  const gateway = start('radosgw', '-n', 'client.admin')
  const { accessKeyId, secretAccessKey } = CREDENTIALS
  const endpoint = `http://127.0.0.1:${port}`
  await untilAnswering(endpoint, gateway)
  const user = ['user', 'create', '--uid', 'cairn', '--display-name', 'cairn']
  run('radosgw-admin', ...all, ...user, '--access-key', accessKeyId, '--secret', secretAccessKey)
  const settings = { endpoint, region: 'us-east-1', credentials: CREDENTIALS }
  let buckets = 0
  return {
    settings,
    env: { AWS_ENDPOINT_URL: endpoint, AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey },
    makeBucket: async () => {
      const bucket = `bucket-${++buckets}`
      await createS3Client(bucket, settings).send({ method: 'PUT', action: 'make', object: bucket, key: '' }, [200])
      return bucket
    },
  }
}

function configure({
  folder,
  fsid,
  monitor,
  port,
}: {
  folder: string
  fsid: string
  monitor: number
  port: number
}): string {
  return `[global]
fsid = ${fsid}
mon host = [v2:127.0.0.1:${monitor}]
public addr = 127.0.0.1
cluster addr = 127.0.0.1
auth cluster required = cephx
auth service required = cephx
auth client required = cephx
keyring = ${folder}/keyring
mon data = ${folder}/mon
osd data = ${folder}/osd
rgw data = ${folder}/rgw
run dir = ${folder}
crash dir = ${folder}/crash
admin socket =
pid file =
log file = ${folder}/$name.log
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pgp num = 1
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
osd objectstore = memstore
memstore device bytes = 4294967296
mon allow pool size one = true
mon data avail crit = 1
mon max pg per osd = 1000
paxos propose interval = 0.02
paxos min wait = 0.01
rgw rados pool pg num min = 1
rgw enable apis = s3
rgw thread pool size = 32
rgw run sync thread = false
rgw enable lc threads = false
rgw enable quota threads = false
rgw dynamic resharding = false
rgw frontends = beast endpoint=127.0.0.1:${port}
`
}

function runProgram(folder: string, program: string, args: readonly string[]): void {
  const { status, stderr, error } = spawnSync(program, args, { cwd: folder, encoding: 'utf8', timeout: READY_MS })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${error?.message ?? stderr}`)
}

async function untilAnswering(url: string, { child }: Running): Promise<void> {
  for (const until = performance.now() + READY_MS; ; ) {
    if (child.exitCode !== null) throw new Error(`radosgw ended with ${child.exitCode}`)
    try {
      if ((await fetch(url, { signal: AbortSignal.timeout(5000) })).ok) return
    } catch (error) {
      if (performance.now() > until) throw new Error(`radosgw does not answer at ${url}`, { cause: error })
    }
    await sleep(50)
  }
}
