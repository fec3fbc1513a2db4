import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { EvmKind } from '../../../src/evm/kinds.js'
import { silentLogger } from '../../../src/lib/logger.js'
import { createMetrics } from '../../../src/lib/metrics.js'
import { bindCall } from '../../../src/rpc/core/boundCall.js'
import type { CallOrigin } from '../../../src/rpc/core/dispatch.js'
import type { RpcOutcome } from '../../../src/rpc/core/envelope.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import { encodeResponse } from '../../../src/rpc/core/responseBytes.js'
import { collectResult } from '../../../src/rpc/core/resultStream.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { ReaderPool } from '../../../src/workers/pool/readerPool.js'
import { seededRandom } from '../../support/random.js'
import { TEST_METHODS } from '../../support/serving.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { METHODS } from '../../support/testMethods.js'

/** Starts a pool of one thread per class by default, and a spare, over an empty database, all ready. Each thread takes
 *  most of a second to start. */
async function startPool(
  t: { after(callback: () => void | Promise<void>): void },
  limits: Partial<typeof DEFAULT_LIMITS> = {},
  evm: EvmKind = 'cairn',
  evmThreads = 1,
  log = silentLogger,
): Promise<ReaderPool> {
  const datadir = temporaryDirectory(t)
  openForWriting(datadir).close()
  const pool = new ReaderPool({
    metrics: createMetrics(),
    datadir,
    limits: { ...DEFAULT_LIMITS, ...limits },
    logging: { level: 'silent' },
    methodsModule: TEST_METHODS,
    scanThreads: 1,
    evmThreads,
    evm,
    log,
  })
  t.after(() => pool.close())
  await pool.ready()
  return pool
}

/** For tests that need the defaults, and leave the pool as it was. A pool takes most of a second of processor time. */
const common = await startPool({ after })

/** For tests of time limits. Threads that do not stop are replaced in it. */
const errors: string[] = []
const errorLog = { ...silentLogger, error: (fields: object) => void errors.push((fields as { error: string }).error) }
const brief = await startPool({ after }, { callTimeoutMs: 300, logsTimeoutMs: 200 }, 'cairn', 1, errorLog)

/** Two threads for calls. */
const two = await startPool({ after }, { callTimeoutMs: 20_000, queueTimeoutMs: 60_000 }, 'cairn', 2)

/** Its calls never look at their deadline. */
const reference = await startPool({ after }, { callTimeoutMs: 300, queueTimeoutMs: 200 }, 'reference')

/** Runs a method of the test table. */
function run(pool: ReaderPool, method: string, params: unknown, origin?: CallOrigin): Promise<RpcOutcome> {
  return pool.run(bindCall(METHODS.get(method)!, params), origin)
}

function read(outcome: RpcOutcome): unknown {
  return 'error' in outcome ? outcome.error : JSON.parse(Buffer.from(outcome.result).toString())
}

test('answers from threads, in the order of the queue', async () => {
  assert.equal(common.threadCount(), 4)
  const words = Array.from({ length: 50 }, (_, i) => `word ${i}`)
  const done: string[] = []
  const outcomes = await Promise.all(
    words.map(async (word) => {
      const outcome = await run(common, 'test_scan', [word])
      done.push(word)
      return read(outcome)
    }),
  )
  assert.deepEqual(outcomes, words)
  assert.deepEqual(done, words)
  assert.deepEqual(read(await run(common, 'test_call', ['hello'])), 'hello')
})

test('large data of an error comes from its thread as finished JSON', async () => {
  const short = await run(common, 'test_revert', ['0x3'])
  assert.deepEqual(short, { error: { code: 3, message: 'execution reverted', data: '0xababab' } })
  const long = await run(common, 'test_revert', ['0x100000'])
  assert.ok('error' in long && long.error.data === undefined && long.error.dataJson !== undefined)
  const response = Buffer.concat(encodeResponse('1', long)).toString()
  assert.deepEqual(JSON.parse(response).error, {
    code: 3,
    message: 'execution reverted',
    data: `0x${'ab'.repeat(0x100000)}`,
  })
})

test('parameters are checked in the thread', async () => {
  assert.deepEqual(read(await run(common, 'test_scan', [5])), {
    code: -32602,
    message: 'invalid argument 0: word: expected a string, got 5',
  })
})

test('a call that never ends is answered at its time, and the next one by the spare at once', async () => {
  const pool = reference
  const start = performance.now()
  const stuck = run(pool, 'test_stuckCall', [])
  const scanned = read(await run(pool, 'test_scan', ['meanwhile']))
  assert.equal(scanned, 'meanwhile')
  assert.ok(performance.now() - start < 200, 'another class waits for nothing')
  assert.deepEqual(read(await stuck), { code: -32000, message: 'execution aborted (timeout = 0.3s)' })
  assert.ok(performance.now() - start >= 300)
  // Of another client: one whose call is still being stopped has its share of the threads.
  assert.equal(read(await run(pool, 'test_call', ['next'], { client: 2 })), 'next')
  await pool.ready()
  assert.equal(pool.threadCount(), 4)
})

test('our interpreter gets half a second more to stop by itself, and no client waits for it', async () => {
  const pool = brief
  const lost = pool.lostThreads()
  const start = performance.now()
  const aborted = { code: -32000, message: 'execution aborted (timeout = 0.3s)' }
  const waiting = run(pool, 'test_stuckCall', [])
  const behind = run(pool, 'test_call', ['behind'], { sinceMs: start + 100 })
  assert.deepEqual(read(await waiting), aborted)
  assert.ok(performance.now() - start >= 300)
  assert.equal(read(await behind), 'behind')
  assert.equal(read(await run(pool, 'test_call', ['next'])), 'next')
  // It never does stop: it is ended then, and there is a new spare.
  while (pool.lostThreads() === lost) {
    assert.equal(read(await run(pool, 'test_call', ['meanwhile'])), 'meanwhile')
    await run(pool, 'test_wait', ['0x5'])
  }
  const replaced = performance.now() - start
  assert.ok(replaced >= 790, `replaced after ${replaced} ms`)
  await pool.ready()
  assert.equal(pool.threadCount(), 4)
})

test('a thread that stops late by itself is not lost: it is the next spare', async () => {
  const pool = brief
  const lost = pool.lostThreads()
  const threads = new Set([read(await run(pool, 'test_thread', []))])
  for (let i = 0; i < 2; i++) {
    // 450 ms of its 300, and 20 more
    assert.ok('error' in (await run(pool, 'test_deafCall', ['0x1c2'])))
    threads.add(read(await run(pool, 'test_thread', [])))
    await run(pool, 'test_wait', ['0xc8'])
  }
  assert.equal(threads.size, 2, 'the same two by turns')
  assert.deepEqual([pool.lostThreads(), pool.threadCount()], [lost, 4])
})

test('what waits behind a long call is taken over by a thread that has nothing to do', async () => {
  const pool = two
  const start = performance.now()
  const long = run(pool, 'test_deafCall', ['0x258']) // 600 ms
  const words = Array.from({ length: 30 }, (_, i) => `word ${i}`)
  const outcomes = await Promise.all(words.map((word) => run(pool, 'test_call', [word])))
  assert.deepEqual(outcomes.map(read), words)
  assert.ok(performance.now() - start < 400, `took ${performance.now() - start} ms`)
  assert.equal(read(await long), 'worked 600')
})

// Others may abort the process when their thread is terminated: Node-API calls fail then, and C++ wrappers throw.
test('the only native addon of a reader thread is better-sqlite3, whichever interpreter runs', async () => {
  for (const pool of [common, reference]) {
    assert.deepEqual(read(await run(pool, 'test_addons', [])), ['better-sqlite3'])
  }
})

test('many more calls than threads are all answered, each with its own answer', async () => {
  const pool = two
  const random = seededRandom(71)
  const words = Array.from({ length: 900 }, (_, i) => 'x'.repeat(i % 100 === 0 ? 10_000 : random.below(50)) + i)
  const outcomes = await Promise.all(
    words.map((word, i) => run(pool, i % 50 === 49 ? 'test_deafCall' : 'test_call', [i % 50 === 49 ? '0x3' : word])),
  )
  assert.deepEqual(
    outcomes.map(read),
    words.map((word, i) => (i % 50 === 49 ? 'worked 3' : word)),
  )
})

test('a log query that never looks up is ended half a second after its time, a polite one says it itself', async () => {
  const pool = brief
  const expected = { code: -32005, message: 'query timeout exceeded' }
  let start = performance.now()
  assert.deepEqual(read(await run(pool, 'test_polite', [])), expected)
  assert.ok(performance.now() - start < 600)
  start = performance.now()
  assert.deepEqual(read(await run(pool, 'test_stuckScan', [])), expected)
  const took = performance.now() - start
  assert.ok(took >= 690 && took < 900, `took ${took} ms`)
  assert.equal(read(await run(pool, 'test_scan', ['next'])), 'next')
})

test('a thread that is replaced gets no further request when it answers late', async () => {
  const pool = brief
  await pool.ready()
  const late = run(pool, 'test_deafScan', ['0x3e8']) // replaced after 700 ms, answers after 1000
  const others = Array.from({ length: 12 }, () => run(pool, 'test_deafScan', ['0x32']))
  assert.deepEqual((await Promise.all(others)).map(read), Array(12).fill('worked 50'))
  assert.deepEqual(read(await late), { code: -32005, message: 'query timeout exceeded' })
})

test('the time of a call begins when a thread begins it', async () => {
  const outcomes = await Promise.all(Array.from({ length: 5 }, () => run(brief, 'test_deafCall', ['0x64'])))
  assert.deepEqual(outcomes.map(read), Array(5).fill('worked 100'))
})

test('a request that no thread takes in time is refused', async () => {
  const pool = reference
  const running = run(pool, 'test_wait', ['0x3e8'])
  assert.deepEqual(read(await run(pool, 'test_scan', ['late'])), {
    code: -32005,
    message: 'server busy: no thread took the request within 0.2s',
  })
  assert.equal(read(await running), 'waited 1000')
})

test('a call that sends parts is not tried beside endless ones, and is whole', async () => {
  const pool = brief
  const endless = Array.from({ length: 6 }, (_, i) => run(pool, 'test_politeCall', [], { client: i % 3 }))
  const outcome = await run(pool, 'test_workCall', ['0x0', 'parts'], { client: 7 })
  assert.ok('result' in outcome && outcome.rest !== undefined)
  const whole = await collectResult(outcome.result, outcome.rest, 1_000)
  assert.equal(Buffer.from(whole!).toString(), '["parts"]')
  await Promise.all(endless)
})

test('a stuck call holds the quick queue, and no other call waits for it; closing answers all', async (t) => {
  const pool = await startPool(t)
  const stuck = Array.from({ length: 6 }, (_, i) => run(pool, 'test_stuckCall', [], { client: i }))
  const scans = Array.from({ length: 5 }, () => run(pool, 'test_work', ['0x0', 'short'], { client: 9 }))
  for (const scan of scans) assert.equal('error' in (await scan), false)
  const waiting = run(pool, 'test_call', ['w'])
  await pool.close()
  for (const outcome of await Promise.all([...stuck, waiting, run(pool, 'test_scan', ['late'])])) {
    assert.deepEqual(read(outcome), { code: -32603, message: 'internal error' })
  }
  assert.equal(pool.threadCount(), 0)
})

test('clients take turns, however many calls one of them has waiting', async () => {
  const pool = two
  const done: number[] = []
  const ask = async (client: number) => {
    await run(pool, 'test_deafCall', ['0x14'], { client })
    done.push(client)
  }
  const greedy = Array.from({ length: 60 }, () => ask(1))
  await Promise.all([...Array.from({ length: 10 }, () => ask(2)), ...Array.from({ length: 10 }, () => ask(3))])
  const before = done.filter((client) => client === 1).length
  assert.ok(before < 30, `${before} of 60 calls were answered before 10 of each other client`)
  await Promise.all(greedy)
})

test('calls of some milliseconds do not wait behind the endless calls of ten clients', async () => {
  let ended = 0
  const clients = Array.from({ length: 10 }, () => ({}))
  const endless = Array.from({ length: 160 }, (_, i) =>
    run(two, 'test_politeCall', [], { client: clients[i % 10] }).then(() => ended++),
  )
  // A call that loses its core while it is tried waits for its turn.
  const others = Array.from({ length: 10 }, () => ({}))
  const answered = others.map((client) => run(two, 'test_workCall', ['0x14', 'mine'], { client }).then(read))
  const untilHalf = new Promise<void>((resolve) => {
    let left = 5
    for (const answer of answered) void answer.then((word) => word === 'mine' && --left === 0 && resolve())
  })
  await Promise.race([untilHalf, Promise.race(endless)])
  assert.equal(ended, 0)
  for (const client of [...clients, ...others]) two.abort(client, { code: -32000, message: 'aborted' })
  await Promise.all([...endless, ...answered])
})

test('endless calls of one client keep no other client waiting', async () => {
  let ended = 0
  const endless = Array.from({ length: 50 }, () => run(two, 'test_stuckCall', [], { client: 1 }).then(() => ended++))
  for (let i = 0; i < 5; i++) {
    assert.equal(read(await run(two, 'test_call', ['mine'], { client: 2 })), 'mine')
  }
  assert.equal(ended, 0)
  two.abort(1, { code: -32000, message: 'aborted' })
  await Promise.all(endless)
})

test('a full queue refuses the newest request of the client that has the most waiting', async () => {
  const running = run(common, 'test_wait', ['0xc8'], { client: 1 })
  const waiting = Array.from({ length: 1024 }, () => run(common, 'test_scan', ['w'], { client: 1 }))
  const other = run(common, 'test_scan', ['other'], { client: 2 })
  assert.deepEqual(read(await waiting[1023]), { code: -32005, message: 'server busy' })
  assert.equal(read(await other), 'other')
  assert.equal(read(await running), 'waited 200')
  for (const outcome of await Promise.all(waiting.slice(0, 1023))) assert.equal(read(outcome), 'w')
})

test('the log says why a thread failed, also when it threw no Error', async () => {
  assert.deepEqual(errors, [])
  await run(brief, 'test_fail', [])
  await brief.ready()
  assert.match(String(errors[0]), /database disk image is malformed.*\n.* at /s)
})

test('calls without a client are those of no key, so no revoked key ends them', async () => {
  const running = run(common, 'test_wait', ['0x64'])
  const clients = [...common.clients()]
  assert.deepEqual([clients.length, clients.filter((client) => typeof client === 'number')], [1, []])
  assert.equal(read(await running), 'waited 100')
})

test('a thread that dies answers its request with an internal error and is replaced', async () => {
  const crashed = run(common, 'test_crash', [])
  const next = run(common, 'test_scan', ['next'])
  assert.deepEqual(read(await crashed), { code: -32603, message: 'internal error' })
  assert.equal(read(await next), 'next')
  await common.ready()
})

test('beyond the queue the server says that it is busy', async () => {
  const running = run(common, 'test_wait', ['0xc8'])
  const waiting = Array.from({ length: 1024 }, () => run(common, 'test_scan', ['w']))
  assert.deepEqual(read(await run(common, 'test_scan', ['w'])), { code: -32005, message: 'server busy' })
  assert.equal(read(await running), 'waited 200')
  for (const outcome of await Promise.all(waiting)) assert.equal(read(outcome), 'w')
})

test('parameters that cannot be copied to a thread are refused, and affect no other request', async () => {
  let deep: unknown[] = []
  for (let i = 0; i < 200_000; i++) deep = [deep]
  const [odd, plain] = await Promise.all([run(common, 'test_scan', [deep]), run(common, 'test_scan', ['w'])])
  assert.deepEqual(read(odd), { code: -32602, message: 'params: cannot be read, being nested too deep' })
  assert.equal(read(plain), 'w')
})

test('a short scan does not wait behind a long one', async () => {
  const pool = common
  const done: string[] = []
  const long = run(pool, 'test_deafScan', ['0x3e8']).then(() => done.push('long'))
  for (let i = 0; i < 20; i++) {
    const outcome = await run(pool, 'test_work', ['0x0', 'short'])
    assert.equal('error' in outcome, false)
  }
  done.push('short')
  await long
  assert.deepEqual(done, ['short', 'long'])
})

test('a scan that is not short is run again where others are, and those like it are not tried for a while', async () => {
  const threadOf = async (milliseconds: string, key: string) =>
    read(await run(common, 'test_work', [milliseconds, key]))
  const ordinary = await threadOf('0x40', 'long')
  assert.equal(typeof ordinary, 'number')
  assert.equal(await threadOf('0x40', 'long'), ordinary)
  for (let i = 0; i < 4; i++) assert.equal(await threadOf('0x0', 'long'), ordinary)
  const quick = await threadOf('0x0', 'long')
  assert.notEqual(quick, ordinary)
  assert.equal(await threadOf('0x0', 'short'), quick)
})

test('the quick queue does not end a request before its own limit', async () => {
  const pool = brief
  const lost = pool.lostThreads()
  assert.deepEqual(read(await run(pool, 'test_work', ['0x1000', 'long'])), {
    code: -32005,
    message: 'query timeout exceeded',
  })
  assert.equal(pool.lostThreads(), lost)
})
