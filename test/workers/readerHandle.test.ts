import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { bindCall } from '../../src/rpc/core/boundCall.js'
import type { RpcOutcome } from '../../src/rpc/core/envelope.js'
import { DEFAULT_LIMITS } from '../../src/rpc/core/limits.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { type Job, type ReaderHandle, startReaderThread } from '../../src/workers/readerHandle.js'
import { TEST_METHODS } from '../support/serving.js'
import { temporaryDirectory } from '../support/temporary.js'
import { METHODS } from '../support/testMethods.js'

/** A thread over an empty database, ready. */
async function startThread(t: TestContext): Promise<ReaderHandle<Job>> {
  const datadir = temporaryDirectory(t)
  openForWriting(datadir).close()
  const data = {
    datadir,
    limits: DEFAULT_LIMITS,
    logging: { level: 'silent' },
    methodsModule: TEST_METHODS,
    evm: 'cairn',
    loadEvm: true,
    warmLogs: false,
    niceness: 10,
  } as const
  return new Promise((resolve, reject) => {
    const thread = startReaderThread<Job>(data, 16, {
      onReady: () => resolve(thread),
      onOutcome: (_job, _outcome: RpcOutcome) => {},
      onPart: () => {},
      onUnfinished: () => {},
      onError: reject,
      onExit: () => {},
    })
  })
}

function job(method: string, params: unknown[] = []): Job {
  return { call: bindCall(METHODS.get(method)!, params), queuedMs: performance.now(), runMs: 60_000, limitMs: 60_000 }
}

test('a thread that has nothing to do ends by itself', async (t) => {
  assert.equal(await (await startThread(t)).end(), 'ended')
})

test('a thread that waits for something ends by itself, and one that looks at its deadline does', async (t) => {
  const waiting = await startThread(t)
  waiting.assign(job('test_wait', ['0xea60']))
  assert.equal(await waiting.end(), 'ended')
  const working = await startThread(t)
  working.assign(job('test_polite'))
  assert.equal(await working.end(), 'ended')
})

test('a thread that never looks up is terminated', async (t) => {
  const thread = await startThread(t)
  thread.assign(job('test_stuckCall'))
  assert.equal(await thread.end(), 'terminated')
})
