import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, test } from 'node:test'
import type { Worker } from 'node:worker_threads'
import { startIngestWorker } from '../../../src/sync/thread/ingestWorker.js'
import { fixtureGenesis } from '../../support/chains/fixture.js'
import { openFixtureAnswers } from '../../support/chains/fixtureAnswers.js'
import { keepLog } from '../../support/chains/rightChain.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { until } from '../../support/until.js'
import { startScriptedUpstream } from '../../support/upstream/scriptedUpstream.js'

const { answers } = await openFixtureAnswers({ after })

test('a thread that dies is replaced by another one, which continues', { timeout: 60_000 }, async (t) => {
  const upstream = await startScriptedUpstream(answers)
  upstream.head = 20
  const { log, lines } = keepLog()
  const chain = { genesis: fixtureGenesis() }
  const settings = { datadir: temporaryDirectory(t), upstreams: [{ url: upstream.url }], chain }
  const created = once(process, 'worker') as Promise<[Worker]>
  const ingest = await startIngestWorker(settings, { log, logging: { level: 'error' }, pending: false })
  t.after(async () => {
    await ingest.close()
    await upstream.close()
  })
  const reaches = (block: number) => until(() => ingest.status().l1?.block === block)
  await reaches(20)
  const [thread] = await created
  await thread.terminate()
  upstream.head = 30
  await reaches(30)
  assert.deepEqual(
    lines.map(({ level, message }) => [level, message]),
    [['error', 'the thread that follows the upstreams ended']],
  )
})
