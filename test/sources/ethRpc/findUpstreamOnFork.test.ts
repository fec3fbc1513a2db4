import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { silentLogger } from '../../../src/lib/logger.js'
import { fetchHead } from '../../../src/sources/ethRpc/fetchBlocks.js'
import { findUpstreamOnFork } from '../../../src/sources/ethRpc/findUpstreamOnFork.js'
import { Pool } from '../../../src/sources/upstreams/pool.js'
import { DEFAULT_UPSTREAM_LIMITS } from '../../../src/sources/upstreams/types.js'
import { Upstream } from '../../../src/sources/upstreams/upstream.js'
import { openFixtureAnswers } from '../../support/chains/fixtureAnswers.js'
import { createStandingClock } from '../../support/chains/rightChain.js'
import { type ScriptedUpstream, startScriptedUpstream } from '../../support/upstream/scriptedUpstream.js'

const { answers } = await openFixtureAnswers({ after })

/** Opens a pool of three upstreams; the last is followed, and the head of the first calls for another fork. */
async function open(t: TestContext) {
  const clock = createStandingClock()
  const log = silentLogger
  const scripted: ScriptedUpstream[] = []
  for (let i = 0; i < 3; i++) scripted.push(await startScriptedUpstream(answers))
  const upstreams = scripted.map(
    ({ url }) => new Upstream({ url }, { limits: DEFAULT_UPSTREAM_LIMITS, clock, random: () => 0.5, log, suffix: '' }),
  )
  const pool = new Pool(upstreams, { checkChain: async () => {}, log, clock })
  t.after(async () => {
    pool.close()
    for (const each of scripted) await each.close()
  })
  const target = await fetchHead(upstreams[0])
  const own = { hash: target.hash, number: target.header.number, upstream: upstreams[2].name }
  const ask = () => findUpstreamOnFork(pool, own, target, undefined)
  return { upstreams, scripted, ask }
}

test('the upstream that is followed is a keeper; others are when they are not behind', async (t) => {
  const { scripted, upstreams, ask } = await open(t)
  for (const each of [1, 2]) {
    const keeper = await ask()
    assert.equal(typeof keeper === 'object' && keeper.upstream, upstreams[each].name)
    scripted[each].head--
  }
  assert.equal(await ask(), undefined)
})

test('an upstream that fails briefly may be one, also when it is well before a slower one has answered', async (t) => {
  const { scripted, upstreams, ask } = await open(t)
  const { health } = upstreams[2]
  scripted[2].fault = { name: 'cut off', respond: (response) => response.destroy() }
  scripted[1].head--
  scripted[1].fault = {
    name: 'slow',
    result: async (_, right) => {
      while (health.failures === 0) await new Promise((done) => setTimeout(done, 5))
      setTimeout(() => health.succeeded(1), 5)
      while (health.state === 'failing') await new Promise((done) => setTimeout(done, 5))
      return right
    },
  }
  assert.equal(await ask(), 'unknown')
})
