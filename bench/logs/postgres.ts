import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Running, spawnProgram } from '../../test/support/cairn.js'
import type { BenchBlock } from '../../test/support/chains/logBlocks.js'
import { TOO_MANY } from '../lib/client.js'
import { loadPeerModule } from '../lib/peers.js'
import type { Question } from './shapes.js'
import type { LogStore } from './store.js'

/* What is used of pg and pg-copy-streams, which are no packages of this repository. */
interface Pg {
  Client: new (options: { [name: string]: unknown }) => PgClient
}
interface PgClient {
  connect(): Promise<void>
  query(query: string | object, values?: unknown[]): Promise<{ rows: unknown[][] }> & Writable
  end(): Promise<void>
}
interface CopyStreams {
  from(sql: string): object
}

const DATABASE = 'postgres'
const USER = 'cairn'
const READY_MS = 30_000
// What a careful operator sets on such a machine. Like ours, a commit does not wait for the disk.
const SETTINGS = {
  listen_addresses: '',
  shared_buffers: '2GB',
  effective_cache_size: '8GB',
  work_mem: '64MB',
  max_wal_size: '8GB',
  synchronous_commit: 'off',
  random_page_cost: '1.1',
  jit: 'off',
}

/** The logs in PostgreSQL: bytea columns with an index on each that filters name, in a cluster of its own in
 *  `directory`, made when it is not there, whose server runs until the store is closed.
 *  @throws Error when PostgreSQL's server is not installed on the machine. */
export async function openPostgres(directory: string): Promise<LogStore & { version: string }> {
  const pg = loadPeerModule<Pg>('pg')
  const copy = loadPeerModule<CopyStreams>('pg-copy-streams')
  const socketFolder = mkdtempSync(join(tmpdir(), 'cairn-pg-'))
  const running = startServer(directory, socketFolder)
  const client = await connect(running, () => new pg.Client({ host: socketFolder, user: USER, database: DATABASE }))
  await client.query(`CREATE TABLE IF NOT EXISTS logs (
    block_number bigint NOT NULL, log_index integer NOT NULL, block_hash bytea NOT NULL,
    transaction_hash bytea NOT NULL, transaction_index integer NOT NULL, address bytea NOT NULL,
    topic0 bytea, topic1 bytea, topic2 bytea, topic3 bytea, data bytea NOT NULL,
    PRIMARY KEY (block_number, log_index))`)
  for (const column of ['address', 'topic0', 'topic1', 'topic2', 'topic3']) {
    await client.query(`CREATE INDEX IF NOT EXISTS logs_${column} ON logs (${column})`)
  }
  const one = async (sql: string) => (await client.query({ text: sql, rowMode: 'array' })).rows[0][0]
  return {
    name: 'postgres',
    version: String(await one('SHOW server_version')),
    stage: (blocks) => {
      const parts = blocks.map((made) => Buffer.from(copyLines(made).join('')))
      return () => pipeline(parts, client.query(copy.from('COPY logs FROM STDIN')))
    },
    finish: async () => {
      await client.query('VACUUM ANALYZE logs')
      await client.query('CHECKPOINT')
    },
    find: async (question) => (await client.query({ ...toQuery(question), rowMode: 'array' })).rows.length,
    bytesPerLog: async () =>
      Number(await one("SELECT pg_total_relation_size('logs')")) / Number(await one('SELECT count(*) FROM logs')),
    close: async () => {
      await client.end()
      running.child.kill('SIGINT')
      await running.ended
      rmSync(socketFolder, { recursive: true, force: true })
    },
  }
}

/** Starts a server on a socket in `socketFolder`; as the user `postgres` where we are root, which it refuses to be. */
function startServer(directory: string, socketFolder: string): Running {
  const bin = findPrograms()
  const user = process.getuid?.() === 0 ? findUser() : undefined
  const data = join(directory, 'data')
  if (!existsSync(data)) mkdirSync(data, { recursive: true })
  if (user !== undefined) {
    for (const folder of [directory, data, socketFolder]) chownSync(folder, user, user)
    // It must pass through the folders above, which only we may read.
    chmodSync(dirname(directory), 0o711)
  }
  const identity = user === undefined ? {} : { uid: user, gid: user, cwd: '/' }
  if (!existsSync(join(data, 'PG_VERSION'))) {
    const args = ['-D', data, '-U', USER, '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync']
    execFileSync(join(bin, 'initdb'), args, { ...identity, stdio: ['ignore', 'ignore', 'inherit'] })
  }
  const settings = Object.entries({ ...SETTINGS, unix_socket_directories: socketFolder })
  const args = ['-D', data, ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])]
  return spawnProgram(join(bin, 'postgres'), args, identity)
}

/** The folder of PostgreSQL's programs: Debian's newest, or the one in the path. */
function findPrograms(): string {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : []
  const path = (process.env.PATH ?? '').split(':')
  const folders = [...versions.map((version) => join(debian, version, 'bin')), ...path]
  const found = folders.find((folder) => existsSync(join(folder, 'postgres')) && existsSync(join(folder, 'initdb')))
  if (found === undefined) throw new Error('--peers postgres: the server is not installed (Debian: postgresql)')
  return found
}

function findUser(): number {
  return Number(execFileSync('id', ['-u', 'postgres'], { encoding: 'utf8' }))
}

async function connect(running: Running, makeClient: () => PgClient): Promise<PgClient> {
  let ended = false
  void running.ended.then(() => {
    ended = true
  })
  const started = performance.now()
  for (;;) {
    const client = makeClient()
    try {
      await client.connect()
      return client
    } catch (error) {
      if (ended) throw new Error(`postgres ended: ${(await running.ended).stderr}`, { cause: error })
      if (performance.now() - started > READY_MS) throw error
      await sleep(100)
    }
  }
}

/** The logs of a block in the text format of COPY. */
function copyLines({ block, receipts }: BenchBlock): string[] {
  const hex = (bytes: Uint8Array) => `\\\\x${Buffer.from(bytes).toString('hex')}`
  const blockHash = hex(block.hash)
  const lines: string[] = []
  for (const [index, { logs }] of receipts.entries()) {
    const transactionHash = hex(block.transactions[index].hash)
    for (const { address, topics, data } of logs) {
      const place = [block.header.number, lines.length, blockHash, transactionHash, index]
      const columns = [0, 1, 2, 3].map((i) => (topics[i] === undefined ? '\\N' : hex(topics[i])))
      lines.push(`${[...place, hex(address), ...columns, hex(data)].join('\t')}\n`)
    }
  }
  return lines
}

function toQuery({ fromBlock, toBlock, address, topics }: Question): { text: string; values: unknown[] } {
  const conditions = ['block_number BETWEEN $1 AND $2']
  const values: unknown[] = [fromBlock, toBlock]
  const add = (column: string, wanted: readonly string[]) => {
    const bytes = wanted.map((hex) => Buffer.from(hex.slice(2), 'hex'))
    values.push(bytes.length === 1 ? bytes[0] : bytes)
    conditions.push(
      bytes.length === 1 ? `${column} = $${values.length}` : `${column} = ANY ($${values.length}::bytea[])`,
    )
  }
  if (address !== undefined) add('address', address)
  for (const [position, wanted] of (topics ?? []).entries()) {
    if (wanted === null) conditions.push(`topic${position} IS NOT NULL`)
    else add(`topic${position}`, wanted)
  }
  const text = `SELECT * FROM logs WHERE ${conditions.join(' AND ')} ORDER BY block_number, log_index LIMIT ${TOO_MANY}`
  return { text, values }
}
