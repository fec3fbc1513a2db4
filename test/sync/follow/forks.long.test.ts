import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Block } from '../../../src/chain/eth/types.js'
import { systemClock } from '../../../src/sources/upstreams/clock.js'
import { growBranch, openBranches, WORK_GENESIS } from '../../support/chains/branches.js'
import { createStandingClock } from '../../support/chains/rightChain.js'
import { compareRows } from '../../support/compare/compareChains.js'
import { type SeededRandom, seededRandom } from '../../support/random.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { followHere } from '../../support/upstream/followHere.js'
import { type ForkingUpstream, startForkingUpstream } from '../../support/upstream/forkingUpstream.js'

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

test('of two upstreams on two forks one is followed until it fails for ten seconds, or is behind', async (t) => {
  const random = seededRandom(155)
  const trunk = await grow(t, random, [], { count: 5 })
  const a = [...trunk, ...(await grow(t, random, trunk, { count: 6 }))]
  const b = [...trunk, ...(await grow(t, random, trunk, { count: 4 }))]
  const first = await startForkingUpstream(t, a.slice(0, 7))
  const second = await startForkingUpstream(t, b.slice(0, 7))
  const { datadir, chain } = await openHere(t)
  const clock = createStandingClock()
  const followed = followHere(t, chain, [first.url, second.url], { clock })
  const { figures } = followed.follower
  await followed.reaches(a[6].hash)

  cutOff(first)
  const looked = forkPointAsked(second, 7)
  await second.become(b.slice(0, 8))
  await Promise.race([looked, followed.reaches(b[7].hash)])
  assert.equal(figures.status().reorgs, 0, 'the other fork was followed at the first failure')
  first.spoil()
  await first.become(a.slice(0, 8))
  clock.pass(1000)
  await followed.reaches(a[7].hash)
  assert.equal(figures.status().reorgs, 0, 'it went from fork to fork')
  compareRows(datadir, first.datadir, 'on the first fork')

  cutOff(first)
  const lookedAgain = forkPointAsked(second, 8)
  await second.become(b)
  await Promise.race([lookedAgain, followed.reaches(b[8].hash)])
  assert.equal(figures.status().reorgs, 0, 'the other fork was followed at the first failure')
  clock.pass(10_000)
  await followed.reaches(b[8].hash)
  compareRows(datadir, second.datadir, 'on the second fork')

  first.spoil()
  await first.become(a)
  clock.pass(60_000)
  await followed.reaches(a[10].hash)
  assert.equal(figures.status().reorgs, 2)
  compareRows(datadir, first.datadir, 'on the longer fork')
})

for (const transport of ['url', 'wsUrl'] as const) {
  const over = transport === 'url' ? 'HTTP' : 'WebSocket'
  test(`an upstream that answers but stands still is left for one that advances (${over})`, async (t) => {
    const random = seededRandom(156)
    const trunk = await grow(t, random, [], { count: 8 })
    const still = await startForkingUpstream(t, trunk.slice(0, 5))
    const other = await startForkingUpstream(t, trunk.slice(0, 5))
    still.tags = { safe: 2, finalized: 2 }
    const { datadir, chain } = await openHere(t)
    const clock = createStandingClock()
    const followed = followHere(t, chain, [still[transport], other[transport]], { clock })
    await followed.reaches(trunk[4].hash)
    await followed.finalizes(2) // from here on the upstream is asked for its head only
    await other.become(trunk)
    clock.pass(60_000)
    await followed.reaches(trunk[7].hash)
    const line = await followed.logs(/the upstream is behind/)
    assert.deepEqual([line.fields.upstream, line.fields.ahead], [still[transport], other[transport]])
    compareRows(datadir, other.datadir, 'at the end')
  })
}

/** Cuts off every request from now on. */
function cutOff(upstream: ForkingUpstream): void {
  upstream.spoil({ respond: (response) => response.destroy() })
}

/** Resolves when the upstream was asked for the header of that block three times: the follower, with that block as its
 *  head, looked for the fork point and tried again. */
function forkPointAsked(upstream: ForkingUpstream, blockNumber: number): Promise<void> {
  const wanted = `0x${blockNumber.toString(16)}`
  return new Promise((resolve) => {
    let left = 3
    upstream.spoil({
      result: ({ method, params }, right) => {
        if (method === 'eth_getBlockByNumber' && params[0] === wanted && --left === 0) resolve()
        return right
      },
    })
  })
}
