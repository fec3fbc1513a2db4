import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Checkpoints } from '../../../src/store/checkpoints.js'
import { openFollower } from '../../../src/sync/follow/runFollower.js'
import { BRANCHES_GENESIS, growBranch, openBranches } from '../../support/chains/branches.js'
import { FAST_CLOCK, keepLog } from '../../support/chains/rightChain.js'
import { compareRows } from '../../support/compare/compareChains.js'
import { seededRandom } from '../../support/random.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { until } from '../../support/until.js'
import { startForkingUpstream } from '../../support/upstream/forkingUpstream.js'

type After = { after(callback: () => void | Promise<void>): void }

/** A follower whose checkpoints fail once, as on a full disk. */
async function openFailing(t: After, recovers?: (error: unknown) => boolean) {
  const random = seededRandom(159)
  const trunk = await growBranch(temporaryDirectory(t), { trunk: [], count: 6, random })
  const upstream = await startForkingUpstream(t, trunk)
  const datadir = temporaryDirectory(t)
  const { db } = await openBranches(datadir)
  db.close()
  let failures = 0
  const checkpoints: Checkpoints = {
    afterCommit: () => (failures++ === 0 ? Promise.reject(new Error('the disk is full')) : undefined),
  }
  const { log, lines } = keepLog()
  const stop = new AbortController()
  const settings = { datadir, upstreams: [{ url: upstream.url }], chain: { genesis: BRANCHES_GENESIS } }
  const parts = { log, signal: stop.signal, checkpoints, recovers, clock: FAST_CLOCK }
  const follower = await openFollower(settings, parts)
  return { follower, upstream, datadir, lines, stop: () => stop.abort(new Error('the test ends')) }
}

test('a failure of the database ends following where it is not to be retried', async (t) => {
  const { follower } = await openFailing(t, () => false)
  await assert.rejects(follower.run(), /the disk is full/)
  const { state, problem } = follower.status()
  assert.deepEqual({ state, problem }, { state: 'failed', problem: 'the disk is full' })
  follower.close()
})

test('a server opens its database again after a failure, and continues', async (t) => {
  const { follower, upstream, datadir, lines, stop } = await openFailing(t)
  const ended = follower.run()
  await until(() => lines.some(({ message }) => message === 'following begins again'))
  await until(() => follower.status().block === 6 && follower.status().state === 'following')
  assert.equal(follower.status().problem, null)
  const reported = lines.filter(({ level, message }) => level === 'error' || message === 'following begins again')
  assert.deepEqual(
    reported.map(({ level, fields }) => [level, fields.problem]),
    [
      ['error', 'the disk is full'],
      ['info', undefined],
    ],
  )
  stop()
  await ended
  follower.close()
  compareRows(datadir, upstream.datadir, 'at the end')
})
