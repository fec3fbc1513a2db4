import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { bindCall } from '../../../src/rpc/core/boundCall.js'
import type { RpcOutcome } from '../../../src/rpc/core/envelope.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { type Job, ReaderHandle } from '../../../src/workers/pool/readerHandle.js'
import { seededRandom } from '../../support/random.js'
import { TEST_METHODS } from '../../support/serving.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { METHODS } from '../../support/testMethods.js'

/** A thread over an empty database; `ready` resolves when it is. `ends` lists its errors and its exit. */
function startThread(t: TestContext): { thread: ReaderHandle<Job>; ready: Promise<void>; ends: string[] } {
  const datadir = temporaryDirectory(t)
  openForWriting(datadir).close()
  const data = {
    datadir,
    limits: DEFAULT_LIMITS,
    logging: { level: 'silent' },
    methodsModule: TEST_METHODS,
    databaseFile: undefined,
    evm: 'cairn',
    loadEvm: true,
    warmLogs: false,
    niceness: 10,
    freedAfterMs: 20_000,
  } as const
  let thread: ReaderHandle<Job> | undefined
  const ends: string[] = []
  const ready = new Promise<void>((resolve, reject) => {
    thread = new ReaderHandle<Job>(data, 16, {
      onReady: resolve,
      onOutcome: (_job, _outcome: RpcOutcome) => {},
      onHelpWanted: () => {},
      onPart: () => {},
      onUnfinished: () => {},
      onError: (error) => {
        ends.push(String(error))
        reject(error)
      },
      onExit: () => void ends.push('exit'),
    })
  })
  return { thread: thread!, ready, ends }
}

async function startReady(t: TestContext): Promise<ReaderHandle<Job>> {
  const { thread, ready } = startThread(t)
  await ready
  return thread
}

function job(method: string, params: unknown[] = []): Job {
  return { call: bindCall(METHODS.get(method)!, params), queuedMs: performance.now(), runMs: 60_000, limitMs: 60_000 }
}

test('a thread that has nothing to do ends by itself', async (t) => {
  assert.equal(await (await startReady(t)).end(), 'ended')
})

test('a thread that was asked to end takes no request', async (t) => {
  const thread = await startReady(t)
  const ended = thread.end()
  assert.equal(thread.assign(job('test_call', ['late'])), false)
  assert.equal(await ended, 'ended')
})

test('a thread that waits for something ends by itself, and one that looks at its deadline does', async (t) => {
  const waiting = await startReady(t)
  waiting.assign(job('test_wait', ['0xea60']))
  assert.equal(await waiting.end(), 'ended')
  const working = await startReady(t)
  working.assign(job('test_polite'))
  assert.equal(await working.end(), 'ended')
})

test('a thread that still starts is ended, whatever it is doing', async (t) => {
  const random = seededRandom(1)
  for (let i = 0; i < 20; i++) {
    const { thread, ends } = startThread(t)
    await setTimeout(random.below(300))
    await thread.end()
    assert.deepEqual(ends, ['exit'])
  }
})

test('a thread that never looks up is terminated', async (t) => {
  const thread = await startReady(t)
  thread.assign(job('test_stuckCall'))
  assert.equal(await thread.end(), 'terminated')
})
