import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { DEFAULT_LIMITS } from '../../src/rpc/core/limits.js'
import { createApiKeyTable, openForKeys } from '../../src/store/keys/apiKeys.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { spawnNode } from '../support/cairn.js'
import { post, request, startTestServer } from '../support/serving.js'
import { temporaryDirectory } from '../support/temporary.js'

/** No call ends because of its time limit. */
const PATIENT = { ...DEFAULT_LIMITS, callTimeoutMs: 600_000, logsTimeoutMs: 600_000, queueTimeoutMs: 600_000 }

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

/** The process of `test/support/stoppedServer.ts`, and its address. */
async function startProcess(t: TestContext) {
  const datadir = temporaryDirectory(t)
  openForWriting(datadir).close()
  const running = spawnNode([fileURLToPath(new URL('../support/stoppedServer.js', import.meta.url)), datadir])
  t.after(() => void running.child.kill('SIGKILL'))
  const [, url] = await running.waitFor('stdout', /^ready (\S+)\n/)
  return { ...running, url }
}

test('a server under endless work of every class ends within 8 s of SIGTERM', async (t) => {
  const { child, ended, waitFor, url } = await startProcess(t)
  // The end of the process may cut an answer off before its head or within its body.
  const send = (path: string, body: string, type = 'application/json') =>
    fetch(url + path, { method: 'POST', body, headers: { 'Content-Type': type } })
      .then((response) => response.text())
      .catch(() => 'cut off')
  const methods = ['test_politeCall', 'test_polite', 'test_politeTrace', 'test_stuckCall', 'test_stuckScan']
  const endless = [
    ...methods.map((method) => send('/v3', JSON.stringify(request(method)))),
    ...Array.from({ length: 10 }, () => send('/v3', JSON.stringify(BATCH))),
    send(
      '/sql',
      'WITH RECURSIVE n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n',
      'text/plain',
    ),
    send('/sql', 'WITH RECURSIVE n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n) SELECT i FROM n', 'text/plain'),
  ]
  const sockets = Array.from({ length: 3 }, () => new WebSocket(`${url.replace('http', 'ws')}/ws/v3`))
  for (const socket of sockets) socket.onopen = () => socket.send(JSON.stringify(BATCH))
  await waitFor('stdout', /^busy\n/m)
  child.kill('SIGTERM')
  const { code, signal, stdout, stderr } = await ended
  t.diagnostic(`ended with ${signal ?? code}`)
  // The timer of the process itself ends it after 8 s. A busy machine may be too slow for anything else.
  assert.ok(code === 0 || signal === 'SIGKILL', stderr)
  if (code === 0) assert.match(stdout, /^closed\n/m)
  for (const outcome of await Promise.all(endless))
    assert.ok(outcome === 'cut off' || outcome.includes('error'), outcome.slice(0, 200))
})

test('a thread that waits in native code does not keep the process', async (t) => {
  const { child, ended, waitFor, url } = await startProcess(t)
  const endless = fetch(`${url}/v3`, {
    method: 'POST',
    body: JSON.stringify(request('test_nativeCall')),
    headers: { 'Content-Type': 'application/json' },
  }).catch(() => undefined)
  await waitFor('stdout', /^calling\n/m)
  child.kill('SIGTERM')
  const { code, signal, stderr } = await ended
  assert.deepEqual(
    [code, signal, stderr],
    [null, 'SIGKILL', 'not stopped within 8 s: reader threads; the process is killed\n'],
  )
  await endless
})
