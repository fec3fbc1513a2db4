import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { silentLogger } from '../../src/lib/logger.js'
import { createMetrics } from '../../src/lib/metrics.js'
import { bindCall } from '../../src/rpc/core/boundCall.js'
import type { RpcOutcome } from '../../src/rpc/core/envelope.js'
import { DEFAULT_LIMITS } from '../../src/rpc/core/limits.js'
import { call } from '../../src/rpc/eth/call.js'
import { packagePath } from '../../src/store/open.js'
import { ReaderPool } from '../../src/workers/pool/readerPool.js'
import { runCairnOk } from '../support/cairn.js'
import { REVERTER, TOKEN } from '../support/chains/fixtureChain.js'
import { TEST_METHODS } from '../support/serving.js'
import { temporaryDirectory } from '../support/temporary.js'

/* What becomes of a reader thread whose call does not end: nothing. */

const CALL_TIMEOUT_MS = 100
const GAS = '0x2540be400' // 10^10, which takes tens of seconds
const SPIN = { to: REVERTER, data: '0xf0acd7d5', gas: GAS }

async function startPool() {
  const datadir = temporaryDirectory({ after })
  const folder = packagePath('fixtures/chain')
  await runCairnOk(['import', '--datadir', datadir, '--genesis', `${folder}/genesis.json`, `${folder}/chain.rlp`])
  const pool = new ReaderPool({
    metrics: createMetrics(),
    datadir,
    limits: { ...DEFAULT_LIMITS, callTimeoutMs: CALL_TIMEOUT_MS, gasCapPercent: 100_000, maxCallGas: 1e12 },
    logging: { level: 'silent' },
    methodsModule: TEST_METHODS,
    scanThreads: 1,
    evmThreads: 1,
    evm: 'cairn',
    log: silentLogger,
  })
  after(() => pool.close())
  await pool.ready()
  return pool
}

const read = (outcome: RpcOutcome): unknown =>
  'error' in outcome ? outcome.error : JSON.parse(Buffer.from(outcome.result).toString())

test('endless calls are stopped at their time, and no thread is lost', async () => {
  const pool = await startPool()
  const aborted = { code: -32000, message: 'execution aborted (timeout = 0.1s)' }
  for (let i = 0; i < 10; i++) {
    assert.deepEqual(read(await pool.run(bindCall(call, [SPIN, 'latest']))), aborted)
  }
  assert.deepEqual([pool.lostThreads(), pool.threadCount()], [0, 4])
  const supply = read(await pool.run(bindCall(call, [{ to: TOKEN, data: '0x18160ddd' }, 'latest'])))
  assert.equal(BigInt(supply as string), 1000n * 10n ** 18n)
})
