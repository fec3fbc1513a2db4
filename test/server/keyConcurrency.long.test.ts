import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseBody, type RpcOutcome } from '../../src/rpc/core/envelope.js'
import { executeBody } from '../../src/rpc/core/execute.js'
import { createApiKeyTable, openForKeys } from '../../src/store/keys/apiKeys.js'
import { post, request, startTestServer } from '../support/serving.js'

test('calls of a key at once are limited over all connections, batches to what is left', async (t) => {
  const { url, datadir, pool } = await startTestServer(t, { open: false })
  await pool.ready()
  const db = openForKeys(datadir)
  const table = createApiKeyTable(db)
  const [limited, free] = [table.create('limited', { maxConcurrent: 1 }), table.create('free')]
  t.after(() => void db.close())
  const scan = ({ key }: { key: string }) => post(`${url}/v3/${key}`, request('test_scan', 'w'))
  const waiting = post(`${url}/v3/${limited.key}`, [request('test_wait', '0x3e8'), request('test_scan', 'v')])
  let refused = await scan(limited)
  while (refused.status === 200) refused = await scan(limited)
  assert.equal(refused.status, 429)
  assert.deepEqual(refused.json.error, { code: -32005, message: 'too many requests under way' })
  assert.equal((await scan(free)).json.result, 'w')
  assert.equal((await post(`${url}/v3/${limited.key}`, request('test_echo', 'w'))).json.result, 'w')
  assert.deepEqual(
    (await waiting).json.map(({ result }) => result),
    ['waited 1000', 'v'],
  )
  assert.equal((await scan(limited)).json.result, 'w')
  table.limit(limited.id, { maxConcurrent: null })
  assert.deepEqual(
    (await Promise.all([scan(limited), scan(limited)])).map(({ status }) => status),
    [200, 200],
  )
})

test('a batch runs no more calls at once than its key may', async () => {
  const body = parseBody(JSON.stringify(Array.from({ length: 20 }, () => request('test'))))
  let running = 0
  let most = 0
  const dispatch = async (): Promise<RpcOutcome> => {
    most = Math.max(most, ++running)
    await new Promise(setImmediate)
    running--
    return { result: Buffer.from('1') }
  }
  const reservation = { wait: () => undefined, add: () => true }
  for (const [maxConcurrent, expected] of [
    [3, 3],
    [100, 16],
    [undefined, 16],
  ] as const) {
    most = 0
    await executeBody(
      body,
      { dispatch },
      { cancelSignal: { aborted: false }, reservation: { ...reservation, maxConcurrent } },
    )
    assert.equal(most, expected)
  }
})
