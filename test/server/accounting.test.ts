import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { silentLogger } from '../../src/lib/logger.js'
import { createMetrics } from '../../src/lib/metrics.js'
import { createAccessLog } from '../../src/server/accounting/accessLog.js'
import { createKeyUsage } from '../../src/server/accounting/keyUsage.js'
import { openUsageForReading, USAGE_FILE } from '../../src/store/keys/usageTable.js'
import { temporaryDirectory } from '../support/temporary.js'

const CALL = { calls: 1, errors: 0, bytesIn: 10, bytesOut: 20, ms: 0.5 }
const DAY_MS = 86_400_000

test('usage is added up by day, key and method, and old days are removed', (t) => {
  const datadir = temporaryDirectory(t)
  const clock = { ms: 100 * DAY_MS }
  const methods = new Set(['eth_call', 'eth_getLogs'])
  const usage = createKeyUsage({ datadir, days: 2, methods, log: silentLogger, nowMs: () => clock.ms })
  usage.flush()
  assert.ok(!existsSync(join(datadir, USAGE_FILE)), 'nothing was used')
  usage.add(1, 'eth_call', CALL)
  usage.add(1, 'eth_call', { ...CALL, errors: 1 })
  for (let i = 0; i < 1000; i++) usage.add(2, `invented_${i}`, CALL)
  usage.flush()
  usage.add(1, 'eth_call', CALL)
  usage.flush()
  const read = () => {
    const table = openUsageForReading(datadir)!
    const rows = table.since(0).map(({ day, keyId, method, calls, errors, bytesIn, bytesOut, ms }) => {
      return [day, keyId, method, calls, errors, bytesIn, bytesOut, ms]
    })
    table.close()
    return rows
  }
  const [first, unknown] = [
    [100, 1, 'eth_call', 3, 1, 30, 60, 1.5],
    [100, 2, 'unknown', 1000, 0, 10_000, 20_000, 500],
  ]
  assert.deepEqual(read(), [first, unknown])
  clock.ms += DAY_MS
  usage.add(1, 'eth_getLogs', CALL)
  usage.flush()
  const second = [101, 1, 'eth_getLogs', 1, 0, 10, 20, 0.5]
  assert.deepEqual(read(), [first, unknown, second])
  clock.ms += DAY_MS
  usage.add(1, 'eth_call', CALL)
  usage.close()
  assert.deepEqual(read(), [second, [102, 1, 'eth_call', 1, 0, 10, 20, 0.5]])
})

test('usage that cannot be written is kept until it can', (t) => {
  const datadir = join(temporaryDirectory(t), 'gone')
  const methods = new Set(['eth_call'])
  const usage = createKeyUsage({ datadir, days: 2, methods, log: silentLogger })
  usage.add(1, 'eth_call', CALL)
  usage.flush()
  mkdirSync(datadir)
  usage.add(1, 'eth_call', CALL)
  usage.close()
  const table = openUsageForReading(datadir)!
  assert.deepEqual(
    table.since(0).map(({ calls }) => calls),
    [2],
  )
  table.close()
})

test('the access log drops lines when the disk does not keep up, and counts them', async (t) => {
  const path = join(temporaryDirectory(t), 'access.log')
  const metrics = createMetrics()
  const log = createAccessLog(path, metrics)
  // Within one turn of the event loop nothing is written.
  for (let i = 0; i < 50_000; i++) log.write({ i, text: 'x'.repeat(100) })
  await log.close()
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
  const [written, dropped] = ['cairn_access_log_lines_total', 'cairn_access_log_dropped_total'].map((name) => {
    return metrics.value(name)!
  })
  assert.ok(dropped > 10_000, `${dropped} lines dropped`)
  assert.deepEqual([lines.length, written + dropped], [written, 50_000])
  assert.equal(JSON.parse(lines[written - 1]).i, written - 1)
})

test('the access log continues in a new file once it is opened again', async (t) => {
  const path = join(temporaryDirectory(t), 'access.log')
  const log = createAccessLog(path, createMetrics())
  log.write({ line: 1 })
  await new Promise(setImmediate)
  renameSync(path, `${path}.1`)
  log.write({ line: 2 })
  log.reopen()
  await log.close()
  const read = (name: string) => readFileSync(name, 'utf8')
  assert.match(read(`${path}.1`), /"line":1/)
  assert.match(read(`${path}.1`) + read(path), /"line":2/)
  assert.ok(existsSync(path))
})
