import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DATABASE_FILE, openForReading } from '../../src/store/open.js'
import { createChainReader } from '../../src/store/rows/chainReader.js'
import { type Running, spawnCairn } from '../../test/support/cairn.js'
import { readMainThread } from '../lib/memory.js'
import type { ServedChain } from './fullChain.js'

/** A way to get the chain into an empty database. */
export interface SyncRate {
  name: string
  blocksPerSecond: number
  /** Of the import's. */
  share: number
  /** Milliseconds of the process's main thread on a core, for each block. */
  mainThreadMs: number
}

/** Imports the chain from its file, and syncs it from a server of it in another process. Time runs from the genesis in
 *  the database to the last block. `ways`: begins of the names of those that run, separated by semicolons. The first is
 *  what the others' share is of. @throws Error for a way that is none */
export async function measureRates(
  { chain, upstream }: ServedChain,
  { directory, ways }: { directory: string; ways: string | undefined },
): Promise<SyncRate[]> {
  const target = (name: string) => ['--datadir', join(directory, name), '--genesis', chain.genesis]
  const runs: [name: string, start: (datadir: string) => Running][] = [
    ['import from file', (name) => spawnCairn(['import', ...target(name), chain.path])],
    ['sync over HTTP', (name) => spawnCairn(['sync', ...target(name), '--upstream', upstream.url])],
    [
      'sync over HTTP without state',
      (name) => spawnCairn(['sync', ...target(name), '--state', 'none', '--upstream', upstream.url]),
    ],
    ['sync over WebSocket', (name) => spawnCairn(['sync', ...target(name), '--upstream', upstream.socketUrl])],
    [
      'serve --upstream over HTTP',
      (name) => spawnCairn(['serve', '--port', '0', '--open', ...target(name), '--upstream', upstream.url]),
    ],
    [
      'serve --upstream over WebSocket',
      (name) => spawnCairn(['serve', '--port', '0', '--open', ...target(name), '--upstream', upstream.socketUrl]),
    ],
  ]
  const begins = ways?.split(';').map((begin) => begin.trim()) ?? ['']
  const unknown = begins.filter((begin) => !runs.some(([name]) => name.startsWith(begin)))
  if (unknown.length > 0) {
    const names = runs.map(([name]) => name).join('; ')
    throw new Error(`--ways: expected some of ${names}, got '${unknown.join("', '")}'`)
  }
  const rates: SyncRate[] = []
  for (const [i, [name, start]] of runs.entries()) {
    if (!begins.some((begin) => name.startsWith(begin))) continue
    process.stderr.write(`${name}\n`)
    rates.push({
      name,
      ...(await measure(start(`run${i}`), { datadir: join(directory, `run${i}`), last: chain.fork }, rates[0])),
    })
  }
  return rates
}

async function measure(
  running: Running,
  { datadir, last }: { datadir: string; last: number },
  first: SyncRate | undefined,
): Promise<Omit<SyncRate, 'name'>> {
  const { child, ended } = running
  const pid = child.pid!
  const failed = ended.then(({ code, stderr }) => {
    if (code !== 0) throw new Error(stderr)
  })
  failed.catch(() => {})
  const startedMs = await reaches(datadir, 0)
  const ranBefore = readMainThread(pid)?.ranMs ?? 0
  const endedMs = await Promise.race([reaches(datadir, last), failed.then(() => reaches(datadir, last))])
  const ranMs = (readMainThread(pid)?.ranMs ?? 0) - ranBefore
  child.kill('SIGTERM')
  await ended
  const blocksPerSecond = (last * 1000) / (endedMs - startedMs)
  return {
    blocksPerSecond,
    share: blocksPerSecond / (first?.blocksPerSecond ?? blocksPerSecond),
    mainThreadMs: ranMs / last,
  }
}

/** When the database has the block. */
async function reaches(datadir: string, number: number): Promise<number> {
  while (!existsSync(join(datadir, DATABASE_FILE))) await sleep(2)
  for (;;) {
    try {
      const db = openForReading(datadir)
      try {
        const { head } = createChainReader(db)
        for (; (head() ?? -1) < number; ) await sleep(2)
        return performance.now()
      } finally {
        db.close()
      }
    } catch {
      await sleep(2) // its tables are not there yet
    }
  }
}
