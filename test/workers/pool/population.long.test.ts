import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { silentLogger } from '../../../src/lib/logger.js'
import { createMetrics } from '../../../src/lib/metrics.js'
import { bindCall } from '../../../src/rpc/core/boundCall.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { ReaderPool } from '../../../src/workers/pool/readerPool.js'
import { freeMostOfMany, ownMemoryMb, WITHOUT_GLIBC } from '../../support/freedMemory.js'
import { TEST_METHODS } from '../../support/serving.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { METHODS } from '../../support/testMethods.js'
import { until } from '../../support/until.js'

/** A pool over an empty database, with its first thread ready. All threads: two for log queries, two for calls, the
 *  quick queue's and the spare. */
async function startPool(
  t: TestContext,
  options: { idleMs?: number; limits?: typeof DEFAULT_LIMITS } = {},
): Promise<ReaderPool> {
  const datadir = temporaryDirectory(t)
  openForWriting(datadir).close()
  const pool = new ReaderPool({
    ...{ datadir, scanThreads: 2, evmThreads: 2, evm: 'cairn', limits: DEFAULT_LIMITS, methodsModule: TEST_METHODS },
    ...{ logging: { level: 'silent' }, log: silentLogger, metrics: createMetrics() },
    ...options,
  })
  t.after(() => pool.close())
  await pool.warm()
  return pool
}
const ALL = 6

/** Threads may take long to start on a busy machine. */
const PATIENT = { ...DEFAULT_LIMITS, callTimeoutMs: 600_000, logsTimeoutMs: 600_000, queueTimeoutMs: 600_000 }

async function run(pool: ReaderPool, method: string, ...params: unknown[]): Promise<unknown> {
  const outcome = await pool.run(bindCall(METHODS.get(method)!, params))
  assert.ok('result' in outcome, JSON.stringify(outcome))
  return JSON.parse(Buffer.from(outcome.result).toString())
}

test('one thread answers requests of every class that come one after another', async (t) => {
  const pool = await startPool(t)
  const threads = new Set()
  for (let i = 0; i < 20; i++) {
    threads.add(await run(pool, 'test_thread'))
    assert.equal(await run(pool, 'test_scan', `word ${i}`), `word ${i}`)
  }
  assert.deepEqual([threads.size, pool.threadCount(), pool.lostThreads()], [1, 1, 0])
})

test('requests that wait for the one thread get the others, and a long one does not hold up those behind it', async (t) => {
  const pool = await startPool(t, { limits: PATIENT })
  const client = {}
  const long = pool.run(bindCall(METHODS.get('test_politeCall')!, []), { client }) // endless
  for (const method of ['test_scan', 'test_call']) assert.equal(await run(pool, method, 'other'), 'other')
  await until(() => pool.threadCount() === ALL)
  const error = { code: -32002, message: 'invalid API key' }
  pool.abort(client, error)
  assert.deepEqual(await long, { error })
})

test('without requests all threads but one are ended, and are started again when requests wait', async (t) => {
  const pool = await startPool(t, { idleMs: 200 })
  for (let round = 0; round < 2; round++) {
    await pool.ready()
    assert.equal(pool.threadCount(), ALL)
    await until(() => pool.threadCount() === 1)
    assert.equal(await run(pool, 'test_call', 'at rest'), 'at rest')
    assert.equal(await run(pool, 'test_scan', 'at rest'), 'at rest')
    assert.equal(pool.lostThreads(), 0)
  }
})

test('at rest, memory that any thread has freed goes back to the system', { skip: WITHOUT_GLIBC }, async (t) => {
  await startPool(t, { idleMs: 3_000 })
  const kept = await freeMostOfMany()
  const before = ownMemoryMb()
  await until(() => ownMemoryMb() < before - 150)
  assert.ok(kept.every((each) => each.every((byte) => byte === 1)))
})

test('an idle thread that dies is replaced, and answers continue', async (t) => {
  const pool = await startPool(t)
  const outcome = await pool.run(bindCall(METHODS.get('test_crash')!, []))
  assert.deepEqual(outcome, { error: { code: -32603, message: 'internal error' } })
  assert.equal(await run(pool, 'test_scan', 'again'), 'again')
  assert.equal(pool.lostThreads(), 1)
})
