import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { openForReading } from '../../src/store/open.js'
import { spawnCairn } from '../support/cairn.js'
import { BRANCHES_GENESIS, growBranch, openBranches } from '../support/chains/branches.js'
import { checkDatabase } from '../support/compare/checkDatabase.js'
import { compareRows } from '../support/compare/compareChains.js'
import { seededRandom } from '../support/random.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'
import { until } from '../support/until.js'
import { startForkingUpstream } from '../support/upstream/forkingUpstream.js'

const KILLS = THOROUGH ? 30 : 4

test('SIGKILL while following, reorgs included, leaves a sound database; following resumes', async (t) => {
  const random = seededRandom(145)
  let trunk = await growBranch(temporaryDirectory(t), { trunk: [], count: 30, random })
  const upstream = await startForkingUpstream(t, trunk)
  const genesis = join(temporaryDirectory(t), 'genesis.json')
  writeFileSync(genesis, JSON.stringify(BRANCHES_GENESIS))
  const datadir = temporaryDirectory(t)
  const { db } = await openBranches(datadir)
  db.close()
  const start = () => spawnCairn(['sync', '--datadir', datadir, '--genesis', genesis, '--upstream', upstream.wsUrl])
  const heads = new Set<number>()
  for (let kill = 0; kill < KILLS; kill++) {
    const sync = start()
    const kept = trunk.slice(0, trunk.length - random.below(20))
    const branch = await growBranch(temporaryDirectory(t), { trunk: kept, count: 1 + random.below(25), random })
    await sync.waitFor('stderr', /"msg":"(syncing|following)"/)
    trunk = [...kept, ...branch]
    await upstream.become(trunk)
    await delay(random.below(120))
    sync.child.kill('SIGKILL')
    await sync.ended
    heads.add(checkDatabase(datadir)!.number)
  }
  assert.ok(heads.size > KILLS / 4, `the kills met too few places: heads ${[...heads]}`)
  const sync = start()
  await sync.waitFor('stderr', /"msg":"following"/)
  const reader = openForReading(datadir)
  const newest = reader.prepare<[], Uint8Array>('SELECT hash FROM blocks ORDER BY number DESC LIMIT 1').pluck()
  await until(() => Buffer.compare(newest.get()!, trunk.at(-1)!.hash) === 0)
  reader.close()
  sync.child.kill('SIGTERM')
  assert.equal((await sync.ended).code, 0)
  checkDatabase(datadir)
  compareRows(datadir, upstream.datadir, 'after the kills')
})
