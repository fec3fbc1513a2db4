import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Block } from '../../../src/chain/eth/types.js'
import { systemClock } from '../../../src/ingest/sources/upstream/clock.js'
import { growBranch, openBranches, WORK_GENESIS } from '../../support/branches.js'
import { compareRows } from '../../support/compareChains.js'
import { followHere } from '../../support/followHere.js'
import { type ForkingUpstream, startForkingUpstream } from '../../support/forkingUpstream.js'
import { type SeededRandom, seededRandom } from '../../support/random.js'
import { createFastClock } from '../../support/rightChain.js'
import { temporaryDirectory } from '../../support/temporary.js'

type After = { after(callback: () => void | Promise<void>): void }

async function openHere(t: After, genesis?: object) {
  const datadir = temporaryDirectory(t)
  const { db, chain } = await openBranches(datadir, genesis)
  t.after(() => void db.close())
  return { datadir, chain }
}

type Growth = { count: number; genesis?: object; afterSeconds?: number }

function grow(t: After, random: SeededRandom, trunk: readonly Block[], growth: Growth): Promise<Block[]> {
  return growBranch(temporaryDirectory(t), { trunk, random, ...growth })
}

for (const branchBytes of [undefined, 1]) {
  const how = branchBytes === undefined ? 'held in memory' : 'fetched while it is stored'
  test(`proof of work: the branch with more total difficulty is followed, shorter or longer (${how})`, async (t) => {
    const random = seededRandom(151)
    const genesis = WORK_GENESIS
    const trunk = await grow(t, random, [], { count: 3, genesis })
    const slow = [...trunk, ...(await grow(t, random, trunk, { count: 10, genesis, afterSeconds: 900 }))]
    const fast = [...trunk, ...(await grow(t, random, trunk, { count: 8, genesis, afterSeconds: 1 }))]
    const upstream = await startForkingUpstream(t, slow, genesis)
    const { datadir, chain } = await openHere(t, genesis)
    const followed = followHere(t, chain, [upstream.wsUrl], { branchBytes, clock: systemClock })
    await followed.reaches(slow[12].hash)
    await upstream.become(fast)
    await followed.reaches(fast[10].hash)
    compareRows(datadir, upstream.datadir, 'the shorter branch')
    const before = upstream.datadir
    await upstream.become(slow)
    await followed.logs(/does not have more total difficulty/)
    compareRows(datadir, before, 'the lighter branch was not followed')
    const heavier = [...slow, ...(await grow(t, random, slow, { count: 2, genesis, afterSeconds: 1 }))]
    await upstream.become(heavier)
    await followed.reaches(heavier[14].hash)
    compareRows(datadir, upstream.datadir, 'the longer branch')
  })
}

test('a branch larger than the bound is fetched while it is stored, in one transaction', async (t) => {
  const random = seededRandom(152)
  const trunk = await grow(t, random, [], { count: 30 })
  const upstream = await startForkingUpstream(t, trunk)
  const { datadir, chain } = await openHere(t)
  const followed = followHere(t, chain, [upstream.wsUrl], { branchBytes: 2000, clock: systemClock })
  await followed.reaches(trunk[29].hash)
  const other = [...trunk.slice(0, 4), ...(await grow(t, random, trunk.slice(0, 4), { count: 40 }))]
  await upstream.become(other)
  await followed.reaches(other[43].hash)
  compareRows(datadir, upstream.datadir, 'at the end')
  const reorgs = followed.events.filter((event) => event.kind === 'reorg')
  assert.deepEqual(
    reorgs.map(({ ancestor, removed, added }) => [ancestor.number, removed.length, added.length]),
    [[4, 26, 40]],
  )
})

test('an upstream that changes its chain in the middle of a large branch leaves the old one until it is whole', async (t) => {
  const random = seededRandom(153)
  const trunk = await grow(t, random, [], { count: 20 })
  const upstream = await startForkingUpstream(t, trunk)
  const { datadir, chain } = await openHere(t)
  const followed = followHere(t, chain, [upstream.url], {
    branchBytes: 1,
    clock: systemClock,
    limits: { prefetchBlocks: 2, maxBatch: 1, maxConcurrency: 1 },
  })
  await followed.reaches(trunk[19].hash)
  const second = [...trunk.slice(0, 5), ...(await grow(t, random, trunk.slice(0, 5), { count: 20 }))]
  const third = [...trunk.slice(0, 3), ...(await grow(t, random, trunk.slice(0, 3), { count: 24 }))]
  let switched: Promise<void> | undefined
  upstream.spoil({
    result: async ({ method, params }, result) => {
      if (method === 'debug_getRawBlock' && params[0] === '0xf') switched ??= upstream.become(third)
      await switched
      return result
    },
  })
  await upstream.become(second)
  await followed.reaches(third[26].hash)
  compareRows(datadir, upstream.datadir, 'at the end')
  const reorgs = followed.events.filter((event) => event.kind === 'reorg')
  assert.deepEqual(
    reorgs.map(({ ancestor, removed }) => [ancestor.number, removed.length]),
    [[3, 17]],
    'the second chain was never seen',
  )
})

test('a head that goes back on the same chain changes nothing until another branch comes', async (t) => {
  const random = seededRandom(154)
  const trunk = await grow(t, random, [], { count: 9 })
  const upstream = await startForkingUpstream(t, trunk)
  const { datadir, chain } = await openHere(t)
  const followed = followHere(t, chain, [upstream.url])
  await followed.reaches(trunk[8].hash)
  const whole = upstream.datadir
  await upstream.become(trunk.slice(0, 4))
  await followed.sees(4)
  compareRows(datadir, whole, 'after the upstream went back')
  const other = [...trunk.slice(0, 4), ...(await grow(t, random, trunk.slice(0, 4), { count: 2 }))]
  await upstream.become(other)
  await followed.reaches(other[5].hash)
  compareRows(datadir, upstream.datadir, 'on the other branch')
  assert.equal(followed.follower.figures.status().reorgs, 1)
})

test('of two upstreams on two forks one is followed, also while it fails now and then, and the longer one in the end', async (t) => {
  const random = seededRandom(155)
  const trunk = await grow(t, random, [], { count: 5 })
  const a = [...trunk, ...(await grow(t, random, trunk, { count: 4 }))]
  const b = [...trunk, ...(await grow(t, random, trunk, { count: 9 }))]
  const [first, second] = [await startForkingUpstream(t, trunk), await startForkingUpstream(t, trunk)]
  const { datadir, chain } = await openHere(t)
  const followed = followHere(t, chain, [first.url, second.url], { clock: createFastClock(5) })
  await followed.reaches(trunk[4].hash)
  await first.become(a.slice(0, 7))
  await followed.reaches(a[6].hash)
  await second.become(b.slice(0, 7))
  for (let at = 8; at <= 9; at++) {
    const failing = failTimes(first, 1) // ten seconds of failures, two here, would allow the other fork
    await first.become(a.slice(0, at))
    await second.become(b.slice(0, at)) // it is asked meanwhile
    await followed.reaches(a[at - 1].hash)
    await failing
  }
  assert.equal(followed.follower.figures.status().reorgs, 0, 'it went from fork to fork')
  compareRows(datadir, first.datadir, 'on the first fork')
  await second.become(b.slice(0, 13))
  void failTimes(first, Number.POSITIVE_INFINITY)
  await followed.reaches(b[12].hash)
  compareRows(datadir, second.datadir, 'on the second fork')
  first.spoil()
  await failTimes(second, 3)
  await second.become(b)
  await followed.reaches(b[13].hash)
  assert.equal(followed.follower.figures.status().reorgs, 1)
})

test('an upstream that answers but stands still is left for one that goes on', async (t) => {
  const random = seededRandom(156)
  const trunk = await grow(t, random, [], { count: 8 })
  const still = await startForkingUpstream(t, trunk.slice(0, 5))
  const other = await startForkingUpstream(t, trunk.slice(0, 5))
  const { datadir, chain } = await openHere(t)
  const followed = followHere(t, chain, [still.url, other.url], { clock: createFastClock(20) })
  await followed.reaches(trunk[4].hash)
  await other.become(trunk)
  await followed.reaches(trunk[7].hash)
  const line = await followed.logs(/the upstream is behind/)
  assert.deepEqual([line.fields.upstream, line.fields.ahead], [still.url, other.url])
  compareRows(datadir, other.datadir, 'at the end')
})

/** Cuts the next `times` requests off. Resolves when that is done. */
function failTimes(upstream: ForkingUpstream, times: number): Promise<void> {
  return new Promise((resolve) => {
    let left = times
    upstream.spoil({
      respond: (response, text) => {
        if (left === 0) return response.writeHead(200, { 'content-type': 'application/json' }).end(text)
        response.destroy()
        if (--left === 0) resolve()
      },
    })
  })
}
