import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type CairnServer, runCairn, startCairn } from '../support/cairn.js'
import {
  compareSeed,
  type ServedChain,
  SOME,
  SPARSE_LIMITS,
  serveRandomChain,
} from '../support/compare/sparseAnswers.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'
import { until, untilBlockNumber, untilValue } from '../support/until.js'
import { type ChangingProxy, startChangingProxy } from '../support/upstream/changingProxy.js'
import { STATE_LIES, type StateLie } from '../support/upstream/stateLies.js'

/* An upstream that lies about one kind of member of state: each lie is named with its check, the upstream is
 * quarantined, and nothing of it is stored. */

const SEED = 2
const REQUESTS = THOROUGH ? 600 : 40
const MAX_SHOWN = 3
const SLOW_MS = 200

test('an upstream that lies about state', async (t) => {
  const chain = await serveRandomChain(t, SEED)
  const triedAlone = new Set<string>()
  for (const lie of STATE_LIES) {
    // By default the first lie of each check: to a block, or to a request and without another upstream.
    if (!THOROUGH && triedAlone.has(String(lie.check))) continue
    const isTurn = (i: number) => THOROUGH || !lie.isOfBlocks || !lie.isOfRequests || triedAlone.size % 2 === i
    if (lie.isOfBlocks && (THOROUGH || lie.check) && isTurn(0)) {
      await t.test(`${lie.name}: blocks are executed with another upstream`, async (each) => {
        const { wrong, server, verify } = await startBehind(each, chain, { lie, isAlone: false, liesFromStart: true })
        await untilBlockNumber(server, chain.head)
        await requireNamed(server, wrong, lie)
        await requireEqual(server, chain)
        await verify()
      })
    }
    if (lie.isOfRequests && isTurn(1)) {
      await t.test(`${lie.name}: requests are answered from another upstream`, async (each) => {
        const { wrong, server, verify } = await startBehind(each, chain, { lie, isAlone: false, liesFromStart: false })
        await untilBlockNumber(server, chain.head)
        wrong.fault = lie
        await requireEqual(server, chain)
        await requireNamed(server, wrong, lie)
        await verify()
      })
    }
    const isTriedAlone = lie.isOfBlocks && (THOROUGH || !lie.check || (lie.isOfRequests && isTurn(1)))
    triedAlone.add(String(lie.check))
    if (!isTriedAlone) continue
    await t.test(`${lie.name}, without another upstream: nothing of it is stored`, async (each) => {
      const { wrong, server, verify } = await startBehind(each, chain, { lie, isAlone: true, liesFromStart: true })
      if (lie.check) {
        const problem = await untilValue(() => readProblem(server), Boolean)
        assert.match(String(problem?.check), lie.check)
      } else {
        await untilBlockNumber(server, chain.head)
        await requireNamed(server, wrong, lie)
        await requireEqual(server, chain)
      }
      await verify()
    })
  }
})

/** A server with sparse state that follows a proxy of the complete one, and the complete one itself unless alone. */
async function startBehind(
  t: TestContext,
  { complete, genesis, first }: ServedChain,
  { lie, isAlone, liesFromStart }: { lie: StateLie; isAlone: boolean; liesFromStart: boolean },
) {
  const wrong = await startChangingProxy(t, complete.url)
  if (liesFromStart) wrong.fault = lie
  const datadir = temporaryDirectory(t)
  // Slower until the other one has sent it, so that the faster one is asked.
  const honest = await startChangingProxy(t, complete.url)
  honest.fault = { delayMs: () => (wrong.changed === 0 ? SLOW_MS : 0) }
  const upstreams = [wrong, ...(isAlone ? [] : [honest])].flatMap(({ url }) => ['--upstream', url])
  const server = await startCairn(t, [
    ...['--datadir', datadir, '--open', '--genesis', genesis, '--state', 'sparse', '--from', String(first)],
    ...['--state-fetch', lie.mode, ...upstreams, '--log-level', 'warn', ...SPARSE_LIMITS],
  ])
  const verify = async () => {
    await server.stop()
    const { code, stderr } = await runCairn(['verify', '--datadir', datadir])
    assert.equal(code, 0, stderr)
  }
  return { wrong, server, verify }
}

interface Health {
  problem: { check: string; reason: string } | null
  following: { upstreams: { upstream: string; state: string; invalidResponses: number }[] }
}

async function readHealth({ url }: CairnServer): Promise<Health> {
  return (await (await fetch(`${url}/health`)).json()) as Health
}

async function readProblem(server: CairnServer) {
  return (await readHealth(server)).problem
}

/** Requires that the log and `/health` name the upstream; of a lie on which nothing depends, that they do not. */
async function requireNamed(server: CairnServer, wrong: ChangingProxy, { check }: StateLie): Promise<void> {
  const named = async () => {
    const { upstreams } = (await readHealth(server)).following
    return upstreams.find(({ upstream }) => upstream === wrong.url)!
  }
  assert.ok(wrong.changed > 0, 'the upstream was asked for the member')
  if (!check) return assert.equal((await named()).invalidResponses, 0)
  await until(async () => (await named()).state === 'quarantined')
  const [, line] = await server.running.waitFor('stderr', /(\{.*invalid response; the upstream is quarantined.*)/)
  const { check: found, upstream } = JSON.parse(line) as { check: string; upstream: string }
  assert.match(found, check)
  await until(async () => (await readProblem(server)) === null)
  assert.equal(upstream, wrong.url)
}

async function requireEqual(server: CairnServer, chain: ServedChain): Promise<void> {
  const { compared, differences } = await compareSeed(server, chain, SEED, REQUESTS, SOME)
  assert.deepEqual(differences.slice(0, MAX_SHOWN), [], `${differences.length} differences`)
  assert.ok(compared > REQUESTS / 4)
}
