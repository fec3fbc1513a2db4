import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DeadlineExceeded } from '../../../src/lib/deadline.js'
import { Interruption } from '../../../src/lib/errors.js'
import type { Logger } from '../../../src/lib/logger.js'
import { silentLogger } from '../../../src/lib/logger.js'
import { dispatchFor } from '../../../src/rpc/core/clientDispatcher.js'
import type { RpcContext } from '../../../src/rpc/core/context.js'
import { createDispatcher, type RemoteRunner } from '../../../src/rpc/core/dispatch.js'
import type { RpcOutcome } from '../../../src/rpc/core/envelope.js'
import { defineMethod, JsonBytes, type Method } from '../../../src/rpc/core/method.js'
import { address, arrayOf, boolean, objectOf, optional, quantity, required } from '../../../src/rpc/core/params.js'
import { runCallMessage } from '../../../src/rpc/core/runCall.js'
import type { ChainReader } from '../../../src/store/rows/types.js'
import { createMeasuredCache } from '../../support/measuredCache.js'

type Parsed = { result?: unknown; error?: { code: number; message: string } }

/** Calls one method whose handler is given, without a database: the handlers here look at nothing of the context. */
async function call(
  method: Partial<Method> & Pick<Method, 'handler'>,
  params: unknown,
  options: { remote?: RemoteRunner; log?: Logger } = {},
): Promise<Parsed> {
  const { log = silentLogger, remote = { run: () => assert.fail('nothing is to run elsewhere') } } = options
  const whole = defineMethod({
    name: 'm',
    summary: '',
    cost: 'point',
    classes: ['node'],
    params: [],
    result: { name: 'r', schema: {} },
    errors: [],
    ...method,
  } as Method)
  const context = { log } as RpcContext
  const dispatcher = createDispatcher({ methods: new Map([['m', whole]]), context, remote, log })
  const outcome: RpcOutcome = await dispatcher.dispatch({ method: 'm', params, idText: '1' })
  return 'error' in outcome ? outcome : { result: JSON.parse(Buffer.from(outcome.result).toString()) }
}

const two = {
  params: [required('amount', quantity, ''), optional('flag', boolean, '', false)],
  handler: (_context: RpcContext, ...values: unknown[]) => values.map(String),
} as unknown as Method

/** A chain of block 0. */
const ONE_BLOCK = { head: () => 0, headHash: () => new Uint8Array(32) } as Partial<ChainReader> as ChainReader

test('parameters are taken in their order or by name', async () => {
  assert.deepEqual(await call(two, ['0x1', true]), { result: ['1', 'true'] })
  assert.deepEqual(await call(two, ['0x1']), { result: ['1', 'false'] })
  assert.deepEqual(await call(two, ['0x1', null]), { result: ['1', 'false'] })
  assert.deepEqual(await call(two, { flag: true, amount: '0x1' }), { result: ['1', 'true'] })
  assert.deepEqual(await call({ handler: () => 1 }, undefined), { result: 1 })
  assert.deepEqual(await call({ handler: () => 1 }, null), { result: 1 })
  assert.deepEqual(await call({ handler: () => 1 }, {}), { result: 1 })
})

test('too many, too few and wrong parameters are refused in the words of geth', async () => {
  const refusal = async (params: unknown) => (await call(two, params)).error
  assert.deepEqual(await refusal(['0x1', true, 3]), { code: -32602, message: 'too many arguments, want at most 2' })
  assert.deepEqual(await refusal([]), { code: -32602, message: 'missing value for required argument 0' })
  assert.deepEqual(await refusal(undefined), { code: -32602, message: 'missing value for required argument 0' })
  assert.deepEqual(await refusal([null]), { code: -32602, message: 'missing value for required argument 0' })
  assert.deepEqual(await refusal({ flag: true }), { code: -32602, message: 'missing value for required argument 0' })
  assert.deepEqual(await refusal(['0x1', 'no']), {
    code: -32602,
    message: 'invalid argument 1: flag: expected true or false, got "no"',
  })
  assert.deepEqual(await refusal({ amount: '0x1', sum: 3 }), {
    code: -32602,
    message: 'unknown parameter "sum", want amount, flag',
  })
  assert.deepEqual(await refusal('text'), { code: -32602, message: 'params: expected an array or an object' })
})

test('the place inside a parameter is named', async () => {
  const filter = objectOf({ address: arrayOf(address) })
  const method = { params: [required('filter', filter, '')], handler: () => 1 } as unknown as Method
  const { error } = await call(method, [{ address: ['0x12'] }])
  assert.equal(error?.message, 'invalid argument 0: filter.address[0]: expected 20-byte data, got "0x12"')
})

test('a member of the prototype is not a parameter by name', async () => {
  const method = { params: [optional('toString', boolean, '')], handler: (_c: RpcContext, v: unknown) => v ?? null }
  assert.deepEqual(await call(method as unknown as Method, {}), { result: null })
})

test('bytes of JSON go out as they are, and nothing is null', async () => {
  assert.deepEqual(await call({ handler: () => new JsonBytes(Buffer.from('{"a":1}')) }, []), { result: { a: 1 } })
  assert.deepEqual(await call({ handler: async () => undefined }, []), { result: null })
})

test('an unexpected exception is an internal error with a request id in the log and nothing on the wire', async () => {
  const lines: object[] = []
  const log: Logger = { ...silentLogger, error: (fields) => void lines.push(fields) }
  const secret = new TypeError('the inside')
  for (const handler of [
    () => {
      throw secret
    },
    () => Promise.reject(secret),
    () => ({ a: 1n }), // cannot be written as JSON
  ]) {
    const { error } = await call({ handler }, [], { log })
    assert.deepEqual(error, { code: -32603, message: 'internal error' })
  }
  assert.equal(lines.length, 3)
  for (const line of lines) assert.match((line as { requestId: string }).requestId, /^[0-9a-f-]{36}$/)
})

test('a passed deadline is named by what was asked for', async () => {
  const handler = () => {
    throw new DeadlineExceeded(5000)
  }
  assert.deepEqual((await call({ handler }, [])).error, { code: -32005, message: 'query timeout exceeded' })
})

test('methods of other costs run elsewhere, after their parameters were counted', async () => {
  const asked: unknown[] = []
  const remote: RemoteRunner = {
    run: async (...request) => {
      asked.push(request[0].toMessage())
      return { result: Buffer.from('7') }
    },
  }
  assert.deepEqual(await call({ ...two, cost: 'evm' }, ['0x1'], { remote }), { result: 7 })
  assert.deepEqual(asked, [{ method: 'm', values: ['0x1'], blocks: undefined }])
  assert.equal((await call({ ...two, cost: 'scan' }, [], { remote })).error?.code, -32602)
  assert.equal(asked.length, 1)
})

test('a call runs for its client, and not at all once that is refused', async () => {
  const clients: unknown[] = []
  const remote: RemoteRunner = {
    run: async (_call, origin) => {
      clients.push(origin?.client)
      return { result: Buffer.from('7') }
    },
  }
  const method: Method = { ...two, cost: 'evm' } as Method
  const dispatcher = createDispatcher({
    methods: new Map([['m', method]]),
    context: { log: silentLogger } as RpcContext,
    remote,
    log: silentLogger,
  })
  const one = { method: 'm', params: ['0x1'], idText: '1' }
  const connection = {}
  const openSession = () => assert.fail('only methods that use it open a session')
  await dispatchFor(dispatcher, { client: 5, openSession }).dispatch(one)
  await dispatchFor(dispatcher, { client: connection, openSession, refusal: () => undefined }).dispatch(one)
  assert.deepEqual(clients, [5, connection])
  const refused = { code: -32002, message: 'invalid API key' }
  assert.deepEqual(await dispatchFor(dispatcher, { client: 5, openSession, refusal: () => refused }).dispatch(one), {
    error: refused,
  })
  assert.equal(clients.length, 2)
})

test('outcomes of a method that names them are given again, and its refusals keep their words', async () => {
  let runs = 0
  const cache = createMeasuredCache({ maxBytes: 100_000 })
  const remote: RemoteRunner = {
    run: async (bound) => {
      runs++
      return runCallMessage(methods, structuredClone(bound.toMessage()), context)
    },
  }
  const method = defineMethod({
    name: 'm',
    summary: '',
    cost: 'scan',
    classes: ['node'],
    params: [required('amount', quantity, '')],
    result: { name: 'r', schema: {} },
    errors: [],
    caching: {
      resolveBlocks: ({ chain }) => ({ fromBlock: 0, toBlock: 0, hash: chain.headHash()! }),
      key: (bound) => (bound.arg(0) === 13n ? assert.fail('a fault in the key') : String(bound.arg(0))),
    },
    handler: (_context, amount) => (amount > 99n ? assert.fail('a fault in the handler') : String(amount)),
  })
  const context = { log: silentLogger, chain: ONE_BLOCK } as RpcContext
  const other = { ...method, name: 'other' }
  const methods = new Map([method, other].map((each) => [each.name, each]))
  const dispatcher = createDispatcher({ methods, context, remote, log: silentLogger, cache })
  const ask = async (params: unknown, name = 'm') => {
    const before = runs
    const outcome = await dispatcher.dispatch({ method: name, params, idText: '1' })
    const text = 'error' in outcome ? outcome.error.message : Buffer.from(outcome.result).toString()
    return [text, runs - before]
  }
  assert.deepEqual(await ask(['0x7']), ['"7"', 1])
  assert.deepEqual(await ask({ amount: '0x7' }), ['"7"', 0])
  assert.deepEqual(await ask(['0x7'], 'other'), ['"7"', 1])
  for (let i = 0; i < 2; i++) {
    assert.deepEqual(await ask(['seven']), [
      'invalid argument 0: amount: expected a quantity with 0x prefix, got "seven"',
      0,
    ])
    assert.deepEqual(await ask(['0xd']), ['"13"', 1])
    assert.deepEqual(await ask(['0x64']), ['internal error', 1])
    assert.deepEqual(await ask([]), ['missing value for required argument 0', 0])
  }
})

test('a call is decoded and its blocks are resolved once, whichever thread runs it', async () => {
  let decoded = 0
  let resolved = 0
  const counted: typeof quantity = {
    ...quantity,
    decode(value, path) {
      decoded++
      return quantity.decode(value, path)
    },
  }
  const method = defineMethod({
    name: 'm',
    summary: '',
    cost: 'scan',
    classes: ['node'],
    params: [required('amount', counted, '')],
    result: { name: 'r', schema: {} },
    errors: [],
    caching: {
      resolveBlocks: ({ chain }) => ({ fromBlock: 0, toBlock: ++resolved && 0, hash: chain.headHash()! }),
      key: (bound) => String(bound.arg(0)),
    },
    handler: ({ blocks }, amount) => [String(amount), blocks?.toBlock ?? 'none'],
  })
  const context = { log: silentLogger, chain: ONE_BLOCK } as RpcContext
  const methods = new Map([['m', method]])
  let threadContext = context
  const remote: RemoteRunner = {
    run: async (bound) => runCallMessage(methods, structuredClone(bound.toMessage()), threadContext),
  }
  const cache = createMeasuredCache({ maxBytes: 100_000 })
  const dispatcher = createDispatcher({ methods, context, remote, log: silentLogger, cache })
  const ask = async (amount: string) => {
    const outcome = await dispatcher.dispatch({ method: 'm', params: [amount], idText: '1' })
    return 'result' in outcome ? JSON.parse(Buffer.from(outcome.result).toString()) : outcome
  }
  assert.deepEqual(await ask('0x7'), ['7', 0])
  assert.deepEqual([decoded, resolved], [1, 1])
  // On another chain the blocks count for nothing: the handler resolves them there.
  threadContext = { ...context, chain: { ...ONE_BLOCK, headHash: () => new Uint8Array(32).fill(1) } }
  assert.deepEqual(await ask('0x8'), ['8', 'none'])
})

test('parameters that would take long to decode are not looked up', async () => {
  let keys = 0
  let runs = 0
  const method = defineMethod({
    name: 'm',
    summary: '',
    cost: 'scan',
    classes: ['node'],
    params: [required('values', arrayOf(address), '')],
    result: { name: 'r', schema: {} },
    errors: [],
    caching: {
      resolveBlocks: () => ({ fromBlock: 0, toBlock: 0, hash: new Uint8Array(32) }),
      key: (bound) => `${++keys && bound.arg(0).length}`,
    },
    handler: (_context, values) => values.length,
  })
  const remote: RemoteRunner = { run: async () => ({ result: Buffer.from(String(++runs)) }) }
  const cache = createMeasuredCache({ maxBytes: 100_000 })
  const methods = new Map([['m', method]])
  const dispatcher = createDispatcher({
    methods,
    context: { chain: ONE_BLOCK } as RpcContext,
    remote,
    log: silentLogger,
    cache,
  })
  const ask = (count: number) =>
    dispatcher.dispatch({ method: 'm', params: [Array(count).fill(`0x${'ab'.repeat(20)}`)], idText: '1' })
  for (let i = 0; i < 2; i++) await ask(5_000)
  assert.equal(runs, 1)
  const looked = keys
  for (let i = 0; i < 2; i++) await ask(50_000)
  assert.deepEqual([runs, keys], [3, looked])
})

test('an unknown method is named', async () => {
  const dispatcher = createDispatcher({
    methods: new Map(),
    context: {} as RpcContext,
    remote: { run: () => assert.fail('nothing is to run elsewhere') },
    log: silentLogger,
  })
  assert.deepEqual(await dispatcher.dispatch({ method: 'eth_x', params: [], idText: '1' }), {
    error: { code: -32601, message: 'the method eth_x does not exist/is not available' },
  })
})

test('an interruption reaches the caller of a method, whether the handler is synchronous or not', async () => {
  class Withdrawn extends Interruption {}
  const interrupt = () => {
    throw new Withdrawn('withdrawn')
  }
  const log = { error: () => assert.fail('an interruption is no failure') } as unknown as Logger
  const handlers: Method['handler'][] = [interrupt, async () => interrupt(), () => Promise.resolve().then(interrupt)]
  for (const handler of handlers) {
    const method = defineMethod({
      ...{ name: 'm', summary: '', cost: 'evm', classes: ['node'], params: [] },
      ...{ result: { name: 'r', schema: {} }, errors: [] },
      handler,
    })
    const methods = new Map([['m', method]])
    const run = async () => runCallMessage(methods, { method: 'm' }, { log } as RpcContext)
    await assert.rejects(run(), Withdrawn)
  }
})
