import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createDirectoryStore } from '../src/lib/objects/directoryStore.js'
import type { ObjectStore } from '../src/lib/objects/objectStore.js'
import { createS3Store } from '../src/lib/objects/s3Store.js'
import { createSnapshot, type SnapshotStep } from '../src/snapshots/createSnapshot.js'
import { restoreSnapshot } from '../src/snapshots/restoreSnapshot.js'
import { DATABASE_FILE } from '../src/store/open.js'
import { importFixture } from '../test/support/chains/fixtureDatabase.js'
import { radosgwOfFile, SKIP_RADOSGW } from '../test/support/radosgw.js'
import { describeEnvironment } from './environment.js'
import { growDatabase } from './snapshot/growDatabase.js'
import { round } from './table.js'

/* `npm run bench:snapshot -- --json FILE`: how fast snapshots are made and restored, to a directory and to a radosgw of its own, which
 * keeps objects in memory. MB are 10^6 bytes of the database. */

const USAGE = `usage: npm run bench:snapshot -- --json FILE
  --megabytes N      of the database: 1000
  --rounds N         of each: 3`

const { values } = parseArgs({
  options: {
    json: { type: 'string' },
    megabytes: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '3' },
  },
})
const [megabytes, rounds] = [values.megabytes, values.rounds].map(Number)
if (values.json === undefined || ![megabytes, rounds].every((n) => Number.isSafeInteger(n) && n > 0)) {
  console.error(USAGE)
  process.exit(2)
}

const { signal } = new AbortController()
const directory = mkdtempSync(join(tmpdir(), 'cairn-bench-snapshot-'))
const ends: (() => Promise<void>)[] = []
try {
  const datadir = join(directory, 'data')
  mkdirSync(datadir)
  await importFixture(datadir)
  growDatabase(datadir, megabytes * 1e6)
  const bytes = statSync(join(datadir, DATABASE_FILE)).size
  const measured: { [name: string]: unknown } = {}
  const places: [string, (round: number) => Promise<ObjectStore>][] = [
    ['directory', async (i) => createDirectoryStore(join(directory, `snapshots-${i}`))],
  ]
  if (SKIP_RADOSGW) console.error(`without radosgw: ${SKIP_RADOSGW}`)
  else {
    const radosgw = radosgwOfFile({ after: (end) => void ends.push(end) })
    places.push([
      'radosgw',
      async () => {
        const { makeBucket, settings } = await radosgw()
        return createS3Store(await makeBucket(), 'bench', settings)
      },
    ])
  }
  for (const [name, open] of places) {
    const all: Figures[] = []
    for (let i = 0; i < rounds; i++) {
      const store = await open(i)
      all.push(await measure(store, { datadir, bytes, into: join(directory, 'restored') }))
      for await (const { key } of store.list('')) await store.delete(key)
    }
    measured[name] = all.sort((a, b) => a.restoreMbPerSecond - b.restoreMbPerSecond)[all.length >> 1]
    console.log(JSON.stringify({ [name]: measured[name] }, (_key, each) => round(each), 2))
  }
  const report = { ...describeEnvironment(), megabytes: bytes / 1e6, rounds, ...measured }
  writeFileSync(values.json, `${JSON.stringify(report, (_key, each) => round(each), 2)}\n`)
} finally {
  for (const end of ends) await end()
  rmSync(directory, { recursive: true, force: true })
}

interface Figures {
  /** Whole runs. */
  readonly createMbPerSecond: number
  readonly restoreMbPerSecond: number
  /** Seconds of the steps of `create`. */
  readonly createSeconds: { readonly [step: string]: number }
}

/** One snapshot, and its restore. */
async function measure(
  store: ObjectStore,
  { datadir, bytes, into }: { datadir: string; bytes: number; into: string },
): Promise<Figures> {
  const ended = new Map<SnapshotStep, number>()
  const begun = performance.now()
  const onProgress = (step: SnapshotStep) => void ended.set(step, performance.now())
  await createSnapshot({ datadir, store, version: 'bench', signal, onProgress })
  const createSeconds = (performance.now() - begun) / 1000
  const steps: { [step: string]: number } = {}
  let before = begun
  for (const [step, ms] of ended) {
    steps[step] = (ms - before) / 1000
    before = ms
  }
  const restoring = performance.now()
  await restoreSnapshot({ datadir: into, store, signal, onProgress() {} })
  const restoreSeconds = (performance.now() - restoring) / 1000
  rmSync(into, { recursive: true, force: true })
  return {
    createMbPerSecond: bytes / 1e6 / createSeconds,
    restoreMbPerSecond: bytes / 1e6 / restoreSeconds,
    createSeconds: steps,
  }
}
