import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { WebSocket } from 'ws'
import { createFailureLog } from '../../src/lib/failureLog.js'
import { silentLogger } from '../../src/lib/logger.js'
import { createMetrics } from '../../src/lib/metrics.js'
import type { Dispatcher } from '../../src/rpc/core/dispatch.js'
import { createTimeBudget } from '../../src/rpc/core/timeBudget.js'
import { DEFAULT_SUBSCRIPTION_LIMITS } from '../../src/rpc/subscriptions/limits.js'
import { createSubscriptions } from '../../src/rpc/subscriptions/subscriptions.js'
import { createAccess } from '../../src/server/access/access.js'
import { KeyWatch } from '../../src/server/access/keyWatch.js'
import { createRateLimiter } from '../../src/server/access/rateLimit.js'
import { createAdmission } from '../../src/server/admission/admission.js'
import { DEFAULT_SERVER_LIMITS } from '../../src/server/admission/limits.js'
import { createRefusalCounter } from '../../src/server/admission/refusals.js'
import { createHeadTracker } from '../../src/server/head/headTracker.js'
import { createHttpServer } from '../../src/server/http/httpServer.js'
import { attachWebSocket } from '../../src/server/websocket/websocketServer.js'
import { createCommitWatch } from '../../src/store/commitWatch.js'
import { createApiKeyReader } from '../../src/store/keys/apiKeys.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { post } from '../support/serving.js'
import { temporaryDirectory } from '../support/temporary.js'

const LIMITS = DEFAULT_SERVER_LIMITS

/** A server of HTTP and WebSocket whose calls are answered by the dispatcher. */
async function serve(t: TestContext, dispatcher: Dispatcher) {
  const db = openForWriting(temporaryDirectory(t))
  const keys = createApiKeyReader(db)
  const log = silentLogger
  const metrics = createMetrics()
  const failures = createFailureLog(log, 'keys')
  const timeBudget = dispatcher.timeBudget!
  const subscriptions = createSubscriptions({
    db,
    timeBudget,
    limits: DEFAULT_SUBSCRIPTION_LIMITS,
    failures,
    metrics,
    log,
  })
  t.after(() => subscriptions.close())
  const options = {
    dispatcher,
    subscriptions,
    access: createAccess({
      keys,
      methods: new Map(),
      open: true,
      rateLimitRps: 0,
      limiter: createRateLimiter(),
      failures,
    }),
    admission: createAdmission(LIMITS, new Map(), metrics),
    head: createHeadTracker({ chain: { head: () => undefined }, watch: createCommitWatch(db) }, 0),
    metrics,
    plainHttp: true,
    metricsPage: undefined,
    page: undefined,
    refusals: createRefusalCounter(metrics),
    limits: LIMITS,
    cors: '*' as const,
    hosts: '*' as const,
    compression: { mode: 'off' as const, aboveBytes: 65_536 },
    health: { report: () => assert.fail('health is not asked for'), problem: () => undefined, lag: () => undefined },
    failures,
    accounting: undefined,
    log,
    keyWatch: new KeyWatch(keys, failures),
  }
  const http = createHttpServer(options)
  const sockets = attachWebSocket(http, options)
  await new Promise<void>((resolve) => http.server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    options.keyWatch.close()
    sockets.close()
    sockets.terminate()
    http.closeAll()
    http.server.close()
    db.close()
  })
  const url = `http://127.0.0.1:${(http.server.address() as AddressInfo).port}`
  const socket = new WebSocket(url.replace('http', 'ws'))
  await once(socket, 'open')
  return { url, socket }
}

const callText = (id: number, size = 0) => JSON.stringify({ jsonrpc: '2.0', id, method: 'm' }).padEnd(size)
const batchText = (count: number) => `[${Array.from({ length: count }, (_, id) => callText(id)).join(',')}]`

test('a long message is parsed in the time that batches share, a short one is not', async (t) => {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  let joined = 0
  const timeShare = { wait: () => opened, leave() {} }
  const timeBudget = {
    join() {
      joined++
      return timeShare
    },
  }
  const { socket } = await serve(t, { timeBudget, dispatch: () => ({ result: Buffer.from('1') }) })
  const ids: number[] = []
  socket.on('message', (data) => ids.push(JSON.parse(String(data)).id))
  socket.send(callText(1, 20_000))
  socket.send(callText(2))
  while (ids.length === 0) await once(socket, 'message')
  assert.deepEqual([ids, joined], [[2], 1])
  open()
  while (ids.length < 2) await once(socket, 'message')
  assert.deepEqual(ids, [2, 1])
})

test('a batch over HTTP and one over WebSocket share one share of a turn', async (t) => {
  let nowMs = 0
  let done = 0
  const { url, socket } = await serve(t, {
    timeBudget: createTimeBudget(() => nowMs),
    dispatch() {
      nowMs += 0.25
      done++
      return { result: Buffer.from('1') }
    },
  })
  socket.send(batchText(1000))
  const [answer, message] = [post(url, JSON.parse(batchText(1000))), once(socket, 'message')]
  let most = 0
  for (let before = 0; done < 2000; before = done) {
    await new Promise(setImmediate)
    most = Math.max(most, done - before)
  }
  assert.equal((await answer).json.length, 1000)
  assert.equal(JSON.parse(String((await message)[0])).length, 1000)
  assert.equal(most, 4)
})
