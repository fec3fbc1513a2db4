import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { DEFAULT_LIMITS } from '../../src/rpc/core/limits.js'
import { createApiKeyTable, openForKeys } from '../../src/store/apiKeys.js'
import { post, request, startTestServer } from '../support/serving.js'

/** No call ends because of its time limit. */
const PATIENT = { ...DEFAULT_LIMITS, callTimeoutMs: 600_000, logsTimeoutMs: 600_000, queueTimeoutMs: 600_000 }

/** Twice what is promised, for a busy machine; without a bound of its own a stop would wait for the time limits. */
const STOP_MS = 10_000

/** Endless calls that look at the clock, more than threads and queues take at once, and log queries. */
const BATCH = Array.from({ length: 100 }, (_, i) => request(i % 4 === 0 ? 'test_polite' : 'test_politeCall'))

test('a batch under way ends when its key is revoked, and others are answered', async (t) => {
  const { url, datadir, pool } = await startTestServer(t, { open: false, limits: PATIENT })
  await pool.ready()
  const db = openForKeys(datadir)
  t.after(() => void db.close())
  const keys = createApiKeyTable(db)
  const [revoked, other] = [keys.create('revoked'), keys.create('other')]
  const batches = Array.from({ length: 3 }, () => post(`${url}/v3/${revoked.key}`, BATCH))
  while (pool.pendingCalls() === 0) await setImmediate()
  keys.revoke(revoked.id)
  for (const { json } of await Promise.all(batches)) {
    assert.equal(json.length, BATCH.length)
    for (const { error } of json) assert.deepEqual(error, { code: -32002, message: 'invalid API key' })
  }
  for (const method of ['test_call', 'test_scan']) {
    assert.equal((await post(`${url}/v3/${other.key}`, request(method, 'w'))).json.result, 'w')
  }
  assert.equal(pool.lostThreads(), 0)
})

test('a server stops within seconds, whatever is under way', async (t) => {
  const server = await startTestServer(t, { limits: PATIENT })
  await server.pool.ready()
  const batches = Array.from({ length: 10 }, () => post(server.url, BATCH).catch(() => 'cut off'))
  const stuck = post(server.url, request('test_stuckCall')).catch(() => 'cut off')
  while (server.pool.pendingCalls() < 100) await setImmediate()
  const start = performance.now()
  await server.close()
  const tookMs = performance.now() - start
  assert.ok(tookMs < STOP_MS, `stopped after ${tookMs} ms`)
  assert.deepEqual(new Set(await Promise.all([...batches, stuck])), new Set(['cut off']))
})
