import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Block } from '../../../src/chain/eth/types.js'
import { createBudget } from '../../../src/evm/calls/budget.js'
import { silentLogger } from '../../../src/lib/logger.js'
import { createMetrics } from '../../../src/lib/metrics.js'
import { noProgress } from '../../../src/lib/progress.js'
import { createDispatcher } from '../../../src/rpc/core/dispatch.js'
import type { RpcOutcome } from '../../../src/rpc/core/envelope.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import { openContext } from '../../../src/rpc/core/openContext.js'
import { METHODS } from '../../../src/rpc/methods.js'
import { createInlineCalls } from '../../../src/server/admission/inlineCalls.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { openWritableChain } from '../../../src/sync/chainState.js'
import { importBlocks } from '../../../src/sync/pipeline.js'
import { createChainBuilder } from '../../../tools/fixture/chainBuilder.js'
import { fixtureGenesis, sourceOf } from '../../support/chains/fixture.js'
import { createMeasuredCache } from '../../support/measuredCache.js'
import { temporaryDirectory } from '../../support/temporary.js'

/* Calls on the main thread's connection while another one writes. */

const MINER = `0x${'ee'.repeat(20)}`
/** The fixture's genesis with a contract that returns COINBASE: who made the block that is called. */
const genesis = (() => {
  const file = structuredClone(fixtureGenesis()) as { alloc: { [address: string]: object } }
  file.alloc[MINER] = { balance: '0x0', code: '0x4160005260206000f3' }
  return file
})()

/** Block 1 and those after it, each made by the miner of its place. */
async function makeBranch(t: TestContext, miners: readonly number[]): Promise<Block[]> {
  const db = openForWriting(temporaryDirectory(t))
  t.after(() => void db.close())
  const builder = await createChainBuilder(db, genesis)
  for (const miner of miners) await builder.add({ miner: new Uint8Array(20).fill(miner) })
  return builder.blocks
}

/** Imports blocks on top of block `keep`. */
async function write(datadir: string, blocks: readonly Block[], keep?: number): Promise<void> {
  if (keep !== undefined) {
    const db = openForWriting(datadir)
    const chain = await openWritableChain(db, { genesis }, 'execute')
    chain.head.rewind(keep, { byOperator: true })
    chain.head.commit()
    db.close()
  }
  const db = openForWriting(datadir)
  await importBlocks(await openWritableChain(db, { genesis }, 'execute'), sourceOf([...blocks]), {
    progress: noProgress,
  })
  db.close()
}

/** A dispatcher that runs calls on this thread with a millisecond each. `remote`: takes what is aborted. */
async function openInline(
  t: TestContext,
  datadir: string,
  { cached = false, now, remote }: { cached?: boolean; now?: () => number; remote: () => Promise<RpcOutcome> },
) {
  const opened = openContext({ datadir, limits: DEFAULT_LIMITS, log: silentLogger })
  t.after(() => opened.close())
  const { context } = opened
  const budget = createBudget(now)
  const metrics = createMetrics()
  const inline = createInlineCalls({
    context,
    evm: await opened.loadBudgetedEvm(budget),
    budget,
    policy: { grant: () => 1, note: () => {}, endTurn: () => {} },
    metrics,
  })
  const dispatcher = createDispatcher({
    methods: METHODS,
    context,
    remote: { run: remote },
    log: silentLogger,
    cache: cached ? createMeasuredCache({ maxBytes: 1_000_000 }) : undefined,
    inline,
    withSnapshot: opened.watch.withSnapshot,
  })
  const callMiner = (...params: unknown[]) =>
    dispatcher.dispatch({ method: 'eth_call', params: [{ to: MINER, data: '0x' }, ...params], idText: '1' })
  const aborted = () => metrics.value('cairn_inline_calls_total', { outcome: 'aborted' })
  return { callMiner, aborted }
}

/** The word that a call returned as a number, or the message of its error. */
function numberOf(outcome: RpcOutcome): number | string {
  if ('error' in outcome) return outcome.error.message
  return Number(JSON.parse(Buffer.from(outcome.result).toString()).slice(-1))
}

for (const cached of [false, true]) {
  test(`calls are made on the newest chain after each commit and each reorg, ${cached ? 'with' : 'without'} a cache`, async (t) => {
    const [ours, theirs] = [await makeBranch(t, [1, 2, 3]), await makeBranch(t, [1, 4, 5, 6])]
    const datadir = temporaryDirectory(t)
    await write(datadir, ours.slice(0, 2))
    const remote = () => Promise.reject(new Error('a thread was asked'))
    const { callMiner, aborted } = await openInline(t, datadir, { cached, now: () => 0, remote })
    const miners = () => ['latest', '0x1', '0x2', '0x3', '0x4'].map((block) => numberOf(callMiner(block) as RpcOutcome))
    const none = 'header not found'

    assert.deepEqual(miners(), [2, 1, 2, none, none])
    await write(datadir, ours)
    assert.deepEqual(miners(), [3, 1, 2, 3, none])
    await write(datadir, theirs, 1)
    assert.deepEqual(miners(), [6, 1, 4, 5, 6])
    await write(datadir, ours, 1)
    assert.deepEqual(miners(), [3, 1, 2, 3, none])
    assert.equal(aborted(), 0)
  })
}

test('a call with overrides that takes too long goes to a thread, and the next calls see nothing of it', async (t) => {
  const datadir = temporaryDirectory(t)
  await write(datadir, await makeBranch(t, [1, 2]))
  let handed = 0
  const remote = async (): Promise<RpcOutcome> => {
    handed++
    return { error: { code: -32000, message: 'by a thread' } }
  }
  const { callMiner, aborted } = await openInline(t, datadir, { now: () => 0, remote })
  const returning = (value: number) => ({
    [MINER]: { code: `0x60${value.toString(16).padStart(2, '0')}60005260206000f3` },
  })
  // Stores its balance, and runs on.
  const endless = { [MINER]: { code: '0x30316001555b600556', balance: '0x7' } }
  const stored = { [MINER]: { code: '0x60015460005260206000f3' } }
  for (let round = 1; round <= 5; round++) {
    assert.equal(numberOf(await callMiner('latest', endless)), 'by a thread')
    assert.equal(numberOf(await callMiner('latest')), 2)
    assert.equal(numberOf(await callMiner('latest', stored)), 0)
    assert.equal(numberOf(await callMiner('latest', returning(round))), round)
    assert.equal(numberOf(await callMiner('latest', null, { feeRecipient: `0x${'09'.repeat(20)}` })), 9)
    assert.deepEqual([handed, aborted()], [round, round])
  }
})
