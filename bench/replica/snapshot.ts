import { mkdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createDirectoryStore } from '../../src/lib/objects/directoryStore.js'
import type { ObjectStore } from '../../src/lib/objects/objectStore.js'
import { createS3Store } from '../../src/lib/objects/s3Store.js'
import { createSnapshot, type SnapshotStep } from '../../src/snapshots/createSnapshot.js'
import { restoreSnapshot } from '../../src/snapshots/restoreSnapshot.js'
import { DATABASE_FILE } from '../../src/store/open.js'
import { importFixture } from '../../test/support/chains/fixtureDatabase.js'
import { radosgwOfFile, SKIP_RADOSGW } from '../../test/support/radosgw.js'
import { growDatabase } from './growDatabase.js'
import type { ReplicaRun } from './options.js'

const { signal } = new AbortController()

/** Makes snapshots of a database and restores them, in a directory and in a radosgw of its own, which keeps objects in
 *  memory. MB are 10^6 bytes of the database. The median of the rounds counts. */
export async function measureSnapshots({ values, directory, after }: ReplicaRun) {
  const datadir = join(directory, 'data')
  mkdirSync(datadir)
  await importFixture(datadir)
  growDatabase(datadir, values.megabytes * 1e6)
  const bytes = statSync(join(datadir, DATABASE_FILE)).size
  const places: { [name: string]: (round: number) => Promise<ObjectStore> } = {
    directory: async (i) => createDirectoryStore(join(directory, `snapshots-${i}`)),
  }
  if (SKIP_RADOSGW) console.error(`without radosgw: ${SKIP_RADOSGW}`)
  else {
    const radosgw = radosgwOfFile({ after })
    places.radosgw = async () => {
      const { makeBucket, settings } = await radosgw()
      return createS3Store(await makeBucket(), 'bench', settings)
    }
  }
  const measured: { [place: string]: Figures } = {}
  for (const [name, open] of Object.entries(places)) {
    const all: Figures[] = []
    for (let i = 0; i < values.rounds; i++) {
      const store = await open(i)
      all.push(await measure(store, { datadir, bytes, into: join(directory, 'restored') }))
      for await (const { key } of store.list('')) await store.delete(key)
    }
    measured[name] = all.sort((a, b) => a.restoreMbPerSecond - b.restoreMbPerSecond)[all.length >> 1]
  }
  return { megabytes: bytes / 1e6, ...measured }
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
