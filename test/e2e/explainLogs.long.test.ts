import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ExplanationJson } from '../../src/rpc/cairn/formatFacts.js'
import { serveFixture } from '../support/cairn.js'
import { EMITTER, NUMBERED_TOPIC } from '../support/chains/fixtureChain.js'
import { ask, resultOf } from '../support/rpcClient.js'

/* `cairn_explainLogs` over HTTP, and the log line of a slow query. */

// 8,400 logs: to read and write them takes tens of milliseconds on any machine.
const FILTER = { address: EMITTER, topics: [NUMBERED_TOPIC], fromBlock: '0x36', toBlock: '0x39' }

test('a query that takes as long as the threshold is logged, and explained when asked', async (t) => {
  const { url, running } = await serveFixture(t, ['--slow-logs', '1', '--log-level', 'warn'])
  const logs = await resultOf<unknown[]>(url, 'eth_getLogs', [FILTER])
  const [text] = await running.waitFor('stderr', /^.*"eth_getLogs".*slow log query.*$/m)
  const line = JSON.parse(text) as ExplanationJson & { level: number; method: string; waitedMs: number; msg: string }
  assert.deepEqual([line.method, line.outcome, line.results], ['eth_getLogs', 'answered', 8400])
  assert.equal(line.rows.met, logs.length)
  assert.ok(line.ms.total >= 1 && line.waitedMs >= 0)
  const explained = await resultOf<ExplanationJson>(url, 'cairn_explainLogs', [FILTER])
  assert.deepEqual([explained.results, explained.tail?.candidates], [8400, 8400])
  assert.equal(explained.answerBytes, JSON.stringify(logs).length)

  await resultOf(url, 'eth_getLogsWithCursor', [FILTER])
  await running.waitFor('stderr', /^.*"eth_getLogsWithCursor".*slow log query.*$/m)
  const refused = await ask(url, 'eth_getLogs', [{ fromBlock: '0x0', topics: [null, null, null] }])
  assert.equal(refused.error?.code, -32005)
  await running.waitFor('stderr', /^.*"outcome":"tooMany".*slow log query.*$/m)
})

test('nothing is logged when it is off, nor below the threshold', async (t) => {
  for (const threshold of ['0', '3600000']) {
    const { url, stop } = await serveFixture(t, ['--slow-logs', threshold, '--log-level', 'warn'])
    assert.equal((await resultOf<unknown[]>(url, 'eth_getLogs', [FILTER])).length, 8400)
    assert.equal((await stop()).stderr.includes('slow log query'), false)
  }
})
