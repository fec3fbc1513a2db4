import { closeOnStop } from '../../src/cli/closeOnStop.js'
import { startServing } from '../../src/cli/serving.js'
import { listenForStop } from '../../src/cli/stopSignal.js'
import { DEFAULT_LIMITS } from '../../src/rpc/core/limits.js'
import { DEFAULT_SQL_LIMITS } from '../../src/server/sql/sqlLimits.js'
import { servingOptions, TEST_METHODS } from './serving.js'

/* A server with the tests' methods and SQL over the database of its argument, whose requests have no time limits. It
 * stops as `cairn serve` does. Writes `calling` when a call is under way, `busy` when 100 are, and `closed` at its
 * end. */

const PATIENT_MS = 600_000
const BUSY_CALLS = 100

const stop = listenForStop()
const serving = await startServing({
  ...servingOptions(process.argv[2]),
  methodsModule: TEST_METHODS,
  limits: {
    ...DEFAULT_LIMITS,
    callTimeoutMs: PATIENT_MS,
    logsTimeoutMs: PATIENT_MS,
    traceTimeoutMs: PATIENT_MS,
    queueTimeoutMs: PATIENT_MS,
  },
  sql: { ...DEFAULT_SQL_LIMITS, timeoutMs: PATIENT_MS, maxRows: 1e12 },
})
await serving.pool.ready()
console.log(`ready ${serving.url}`)
const stopped = closeOnStop(serving, stop.signal)
const said = new Set<string>()
const report = setInterval(() => {
  for (const [word, calls] of Object.entries({ calling: 1, busy: BUSY_CALLS })) {
    if (said.has(word) || serving.pool.pendingCalls() < calls) continue
    said.add(word)
    console.log(word)
  }
}, 20)
await stopped
clearInterval(report)
stop.close()
console.log('closed')
