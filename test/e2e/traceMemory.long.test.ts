import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { startAllThreads } from '../support/allThreads.js'
import { serveFixture } from '../support/cairn.js'
import { longTrace } from '../support/chains/longTrace.js'
import { THOROUGH } from '../support/thorough.js'

// Far above the memory that it may take.
const GAS = THOROUGH ? 320_000 : 150_000
const LEAST_BYTES = THOROUGH ? 1_000_000_000 : 450_000_000
const MOST_MEMORY_MIB = 200

test(`struct logs of ${LEAST_BYTES / 1e6} MB take less than 200 MiB of memory, however slowly they are read`, async (t) => {
  const { url, running } = await serveFixture(t, ['--trace-timeout', '600000'])
  const memory = () => {
    const status = readFileSync(`/proc/${running.child.pid}/status`, 'utf8')
    return Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1024
  }
  await startAllThreads(url, 4)
  const idle = memory()
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'debug_traceCall', params: longTrace(GAS) }),
  })
  let [bytes, most, parts] = [0, 0, 0]
  for await (const part of response.body!) {
    bytes += part.length
    if (++parts % 100 === 0) most = Math.max(most, memory())
  }
  t.diagnostic(`${(bytes / 1e6).toFixed(0)} MB, ${(most - idle).toFixed(0)} MiB above ${idle.toFixed(0)} MiB`)
  assert.ok(bytes > LEAST_BYTES, `${bytes} bytes`)
  assert.ok(most - idle < MOST_MEMORY_MIB, `${most - idle} MiB`)
})
