import { closeSync, constants, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { type BackgroundStatus, findProblem, type Problem } from '../server/admin/problem.js'

/* A follower reports its state to other processes, such as `cairn status`, in a file. The database is not writable just
 * when there is a problem to report. The file keeps its size and is written in place, so that a full disk does not
 * matter. */

/** Name of the file in a data directory. It exists while a process follows, and after one that was killed. */
export const FOLLOW_REPORT_FILE = 'cairn.following'

/** Content of the file. */
export interface FollowReport {
  /** Unix time in seconds of the report. */
  readonly at: number
  readonly pid: number
  /** State of layer 1, else of layer 2, else of replication. */
  readonly state: string
  readonly block: number | null
  readonly upstreamBlock: number | null
  readonly problem: Problem | null
}

const FILE_BYTES = 4096
const LOOK_MS = 1000
const WRITE_MS = 10_000
/** An older report is from a process that died or hangs. */
const MAX_AGE_SECONDS = 60

/** Writes the report of `status` to `datadir` until closed. Never throws: following is more important. */
export function keepFollowReport(datadir: string, status: () => BackgroundStatus): { close(): void } {
  const path = join(datadir, FOLLOW_REPORT_FILE)
  const file = attempt(() => openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600))
  if (file === undefined) return { close() {} }
  let written = ''
  let writtenMs = Number.NEGATIVE_INFINITY
  const look = () => {
    const { at, ...facts } = describe(status())
    const { problem, state } = facts
    const key = JSON.stringify({ problem: problem && { ...problem, reason: '' }, state })
    if (key === written && performance.now() - writtenMs < WRITE_MS) return
    written = key
    writtenMs = performance.now()
    attempt(() => writeSync(file, encode({ at, ...facts }), 0, FILE_BYTES, 0))
  }
  look()
  const timer = setInterval(look, LOOK_MS)
  timer.unref()
  return {
    close: () => {
      clearInterval(timer)
      attempt(() => closeSync(file))
      attempt(() => rmSync(path, { force: true }))
    },
  }
}

/** Returns the report in `datadir`; undefined if no process follows into it or the file cannot be read. */
export function readFollowReport(datadir: string): FollowReport | undefined {
  return attempt(() => JSON.parse(readFileSync(join(datadir, FOLLOW_REPORT_FILE), 'utf8')) as FollowReport)
}

/** Returns why the chain in a data directory does not grow although a process should follow into it; undefined if it
 *  grows. */
export function problemOf({ problem, state, block, at, pid }: FollowReport): Problem | undefined {
  if (problem) return problem
  const age = Math.floor(Date.now() / 1000) - at
  if (age <= MAX_AGE_SECONDS) return undefined
  const reason = `process ${pid} was ${state} and has reported nothing for ${age} s: it ended without a word, or hangs`
  return { source: 'layer 1', state: 'gone', block: block === null ? null : block + 1, check: 'process', reason }
}

function describe({ l1, l2, replication }: BackgroundStatus): FollowReport {
  const following = l1 ?? l2
  return {
    at: Math.floor(Date.now() / 1000),
    pid: process.pid,
    state: following?.state ?? replication?.state ?? 'following',
    block: following?.block ?? null,
    upstreamBlock: following?.upstreamBlock ?? null,
    problem: findProblem({ l1, l2, replication }),
  }
}

/** Encodes JSON of exactly FILE_BYTES bytes, truncating a long reason. */
function encode(report: FollowReport): Uint8Array {
  const { problem } = report
  const cut = problem && { ...problem, reason: problem.reason.slice(0, 1000) }
  const text = JSON.stringify({ ...report, problem: cut })
  return Buffer.concat([Buffer.from(text), Buffer.alloc(FILE_BYTES, ' ')]).subarray(0, FILE_BYTES)
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
