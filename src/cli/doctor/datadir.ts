import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  openSync,
  rmSync,
  statfsSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { ChainSpec } from '../../chain/eth/forks/rules.js'
import { messageOf } from '../../lib/errors.js'
import { formatProblem } from '../../server/admin/problem.js'
import type { Database } from '../../store/database.js'
import { createGrowthForecast } from '../../store/growthForecast.js'
import { DATABASE_FILE, openAnySchema, requireCurrentSchema, requireKnownSchema } from '../../store/open.js'
import { createChainReader } from '../../store/rows/chainReader.js'
import { readChainSource, specOfSource } from '../../store/rows/chainSource.js'
import { problemOf, readFollowReport } from '../followReport.js'
import { type Check, type Finding, fail, ok, PROBE_MS, runCheck, warn } from './check.js'
import { findLockHolder } from './lockHolder.js'
import { quickCheck } from './quickCheck.js'

/** The chain of a database, which upstreams are compared with. */
export interface StoredChain {
  readonly chainId: bigint
  readonly spec: ChainSpec
  readonly genesisHash: Uint8Array // 32
  /** Number of the newest block; undefined for a database without blocks. */
  readonly head: number | undefined
}

const AREA = 'datadir'
// The write-ahead log grows to 256 MB before the writer waits.
const LEAST_FREE_BYTES = 512 * 2 ** 20
const WANTED_FREE_BYTES = 5 * 2 ** 30
const WANTED_DAYS = 14
const FSYNCS = 5
// Each flush of a checkpoint and each commit of a backup waits for it; a hard disk takes about 10 ms.
const SLOW_FSYNC_MS = 100

// File systems on which processes of one machine do not share memory, as statfs(2) names them.
const REMOTE_FILE_SYSTEMS: { readonly [type: number]: string } = {
  26985: 'NFS', // 0x6969
  4283649346: 'CIFS', // 0xff534d42
  4266872130: 'SMB', // 0xfe534d42
  16914836: '9p', // 0x01021997
}

/** Checks a data directory and its database, and returns the chain of that, if it can be read. */
export async function checkDatadir(datadir: string): Promise<{ checks: Check[]; chain: StoredChain | undefined }> {
  const checks: Check[] = []
  const add = async (check: string, run: () => Finding | Promise<Finding>) => {
    const row = await runCheck({ area: AREA, check, timeoutMs: 2 * PROBE_MS }, run)
    checks.push(row)
    return row.result
  }
  const exists = existsSync(datadir)
  if ((await add('directory', () => checkDirectory(datadir))) === 'fail') return { checks, chain: undefined }
  await add('file system', () => checkFileSystem(datadir))
  await add('writing', () => checkWriting(datadir))
  const hasDatabase = exists && existsSync(join(datadir, DATABASE_FILE))
  let stored: Stored | undefined
  if (hasDatabase) {
    await add('schema', () => checkSchema(datadir))
    if (checks.at(-1)!.result === 'ok') stored = await readStored(datadir)
    await add('integrity', () => quickCheck(datadir, PROBE_MS))
  } else if (exists) await add('database', () => ok("none yet: 'cairn import' or 'cairn sync' creates it"))
  await add('free space', () => checkFreeSpace(freeBytes(datadir), stored?.daysLeft))
  if (exists) await add('writer', () => checkWriter(datadir))
  return { checks, chain: stored?.chain }
}

function checkDirectory(datadir: string): Finding {
  const path = resolve(datadir)
  if (!existsSync(datadir)) return ok(`${path} does not exist yet: 'cairn import' or 'cairn sync' creates it`)
  if (statSync(datadir).isDirectory()) return ok(path)
  return fail(`${path} is a file`, 'name a directory with --datadir')
}

function checkFileSystem(datadir: string): Finding {
  const remote = REMOTE_FILE_SYSTEMS[statfsSync(existingParent(datadir)).type]
  if (remote === undefined) return ok('local')
  return warn(
    `${remote}: a write-ahead log needs memory that processes share, which works on one machine only`,
    'put the data directory on a local disk',
  )
}

/** Writes and flushes a temporary file. Where the directory is missing, only asks whether this user may write its
 *  parent. */
function checkWriting(datadir: string): Finding {
  try {
    if (existsSync(datadir)) return measureFlush(join(datadir, `.cairn-doctor-${process.pid}`))
    const parent = existingParent(datadir)
    accessSync(parent, constants.W_OK | constants.X_OK)
    return ok(`this user may create it in ${parent}`)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EROFS') return fail('the file system is read-only', 'mount it for writing, or copy the database')
    if (code === 'EACCES' || code === 'EPERM') {
      return fail(`permission denied for this user: ${messageOf(error)}`, 'run Cairn as its owner, or chown it')
    }
    return fail(messageOf(error), 'look at the disk: dmesg, smartctl')
  }
}

function measureFlush(path: string): Finding {
  const file = openSync(path, 'wx', 0o600)
  try {
    const times: number[] = []
    for (let i = 0; i < FSYNCS; i++) {
      writeSync(file, new Uint8Array(4096))
      const startedMs = performance.now()
      fsyncSync(file)
      times.push(performance.now() - startedMs)
    }
    const medianMs = times.toSorted((a, b) => a - b)[Math.floor(FSYNCS / 2)]
    const found = `fsync works, in ${medianMs.toFixed(1)} ms`
    return medianMs < SLOW_FSYNC_MS ? ok(found) : warn(found, 'checkpoints wait for the disk; use a faster one')
  } finally {
    closeSync(file)
    rmSync(path, { force: true })
  }
}

/** Judges free space. @param daysLeft days until the disk is full at the growth of the chain; null or undefined where
 *  that is not known */
export function checkFreeSpace(bytes: number, daysLeft?: number | null): Finding {
  const days = daysLeft == null ? '' : `, full in ${Math.floor(daysLeft).toLocaleString('en')} days`
  const found = `${(bytes / 2 ** 30).toFixed(1)} GiB${days}`
  if (bytes < LEAST_FREE_BYTES) return fail(found, 'free some: writing stops when the disk is full')
  const isLittle = bytes < WANTED_FREE_BYTES || (daysLeft != null && daysLeft < WANTED_DAYS)
  return isLittle
    ? warn(found, 'free some, or move the data directory; docs/sizing.md has what a chain needs')
    : ok(found)
}

function freeBytes(datadir: string): number {
  const { bavail, bsize } = statfsSync(existingParent(datadir))
  return bavail * bsize
}

/** Returns the directory, or the nearest one above it that exists. */
function existingParent(datadir: string): string {
  let path = resolve(datadir)
  while (!existsSync(path) && dirname(path) !== path) path = dirname(path)
  return path
}

function checkSchema(datadir: string): Finding {
  const db = openAnySchema(datadir)
  try {
    const { found, known } = requireKnownSchema(db)
    if (found === 0) return ok("no chain yet: run 'cairn import' or 'cairn sync'")
    if (found < known) {
      return warn(
        `version ${found}, this build has ${known}`,
        "run 'cairn migrate'; import, sync and reindex do so, too",
      )
    }
    return ok(`version ${found}`)
  } catch (error) {
    return fail(messageOf(error), 'use another --datadir, or the build that made this one')
  } finally {
    db.close()
  }
}

interface Stored {
  readonly chain: StoredChain | undefined
  readonly daysLeft: number | null | undefined
}

/** Reads the chain of a database; undefined before the first import. */
async function readStored(datadir: string): Promise<Stored | undefined> {
  const db = openAnySchema(datadir)
  try {
    requireCurrentSchema(db)
    return { chain: await readChain(db), daysLeft: createGrowthForecast(db, createChainReader(db))()?.daysLeft }
  } catch {
    return undefined // the checks of schema and integrity report it
  } finally {
    db.close()
  }
}

async function readChain(db: Database): Promise<StoredChain | undefined> {
  const source = readChainSource(db)
  if (source === undefined) return undefined
  const { hashGenesisBlock } = await import('../../sync/genesisBlock.js')
  const chain = createChainReader(db)
  const genesisHash = chain.blockHash(0) ?? hashGenesisBlock(source)
  const spec = specOfSource(source)
  return { chainId: spec.chainId, spec, genesisHash, head: chain.coverage()?.head }
}

function checkWriter(datadir: string): Finding {
  const holder = findLockHolder(join(datadir, 'cairn.lock'))
  const report = readFollowReport(datadir)
  const problem = report && problemOf(report)
  if (problem) return fail(formatProblem(problem), "see docs/troubleshooting.md; 'cairn status' has more")
  if (holder === undefined) return ok('no process writes the database')
  const name = holder === 0 ? 'a process outside of this container' : `process ${holder}`
  return ok(`${name} writes the database${report === undefined ? '' : `, ${report.state}`}`)
}
