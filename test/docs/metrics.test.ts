import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { createMetrics } from '../../src/lib/metrics.js'
import { registerEngineMetrics } from '../../src/server/admin/engineMetrics.js'
import { registerStateFetchMetrics } from '../../src/server/admin/followMetrics.js'
import { createEngineServer, type EngineServerOptions } from '../../src/server/engine/engineServer.js'
import { packagePath } from '../../src/store/open.js'
import { describeIdle } from '../../src/sync/thread/ingestWorker.js'
import { parseExposition } from '../support/exposition.js'
import { startTestServer } from '../support/serving.js'

test('docs/operators.md lists every metric, and no other', async (t) => {
  const metrics = { onRpcPort: true, ownPort: undefined }
  const { url, warm } = await startTestServer(t, { metrics, responseCacheBytes: 1_000_000, accessLog: '/dev/null' })
  await warm()
  const { types } = parseExposition(await (await fetch(`${url}/metrics`)).text())
  const withSparseState = createMetrics()
  registerStateFetchMetrics(withSparseState, () => describeIdle({ datadir: '', upstreams: [{ url: 'http://a' }] }).l1!)
  registerEngineMetrics(withSparseState, () => describeIdle({ datadir: '', upstreams: [], engine: true }).l1!.engine!)
  createEngineServer({ ...({} as EngineServerOptions), secret: new Uint8Array(32), metrics: withSparseState })
  const fetches = Array.from(withSparseState.families(), ({ name }) => name)
  const served = [...[...types.keys()].filter((name) => name.startsWith('cairn_')), ...fetches]
  const rows = readFileSync(packagePath('docs/operators.md'), 'utf8').match(/^\| `cairn_.*$/gm)!
  const listed = rows.flatMap((row) => row.split(' | ')[0].match(/cairn_\w+/g)!)
  assert.deepEqual(listed.sort(), served.sort())
})
