import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { formatData } from '../../../src/lib/hex.js'
import { silentLogger } from '../../../src/lib/logger.js'
import type { RpcContext } from '../../../src/rpc/core/context.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import { type OpenContext, openContext } from '../../../src/rpc/core/openContext.js'
import { importFixture } from '../../support/chains/fixtureDatabase.js'
import { type CallTrace, callMethod, checkTraces } from '../../support/compare/traces.js'
import { temporaryDirectory } from '../../support/temporary.js'

/* Traces of the bundled chain. */

let opened: OpenContext
let context: RpcContext

before(async () => {
  const datadir = temporaryDirectory({ after })
  await importFixture(datadir)
  opened = openContext({ datadir, limits: DEFAULT_LIMITS, log: silentLogger })
  context = opened.context
})
after(() => opened.close())

test('traces of every transaction agree with its receipt, and their differences with the states', async () => {
  const { head } = context.chain.coverage()!
  let transactions = 0
  for (let number = 1; number <= head; number++) transactions += await checkTraces(context, number)
  assert.ok(transactions > head)
})

test('a transaction has the trace that it has in its block', async () => {
  const block = context.chain.blockByNumber(busiest())!
  const [last] = context.chain.transactionHashes(block).slice(-1).map(formatData)
  for (const config of [{}, { tracer: 'callTracer' }, { tracer: 'prestateTracer' }, { tracer: 'flatCallTracer' }]) {
    const inBlock = await callMethod<{ txHash: string; result: unknown }[]>(context, 'debug_traceBlockByHash', [
      formatData(block.hash),
      config,
    ])
    assert.deepEqual(await callMethod(context, 'debug_traceTransaction', [last, config]), inBlock.at(-1)!.result)
  }
})

test('options of the struct logger choose its members', async () => {
  const hash = await transactionWithStorage()
  const keys = async (config: object) => {
    const { structLogs } = await callMethod<{ structLogs: object[] }>(context, 'debug_traceTransaction', [hash, config])
    return new Set(structLogs.flatMap((entry) => Object.keys(entry)))
  }
  const all = await keys({ enableMemory: true })
  assert.ok(all.has('stack') && all.has('storage') && all.has('memory'))
  const none = await keys({ disableStack: true, disableStorage: true })
  assert.ok(!none.has('stack') && !none.has('storage') && !none.has('memory') && !none.has('returnData'))
})

test('the limit of the struct logger ends its entries', async () => {
  const hash = await transactionWithStorage()
  const count = async (limit: number) => {
    const { structLogs } = await callMethod<{ structLogs: object[] }>(context, 'debug_traceTransaction', [
      hash,
      { limit },
    ])
    return structLogs.length
  }
  assert.equal(await count(1), 1)
  assert.ok((await count(0)) > 1)
})

test('muxTracer answers what its tracers answer alone', async () => {
  const hash = await transactionWithStorage()
  const trace = (tracer: string, tracerConfig: object) =>
    callMethod(context, 'debug_traceTransaction', [hash, { tracer, tracerConfig }])
  const inner = { callTracer: { withLog: true }, prestateTracer: { diffMode: true }, '4byteTracer': {}, noopTracer: {} }
  const alone = await Promise.all(
    Object.entries(inner).map(async ([name, config]) => [name, await trace(name, config)]),
  )
  assert.deepEqual(await trace('muxTracer', inner), Object.fromEntries(alone))
})

test('onlyTopCall leaves out the calls below', async () => {
  const hash = await transactionWithStorage()
  const top = await callMethod<CallTrace>(context, 'debug_traceTransaction', [
    hash,
    { tracer: 'callTracer', tracerConfig: { onlyTopCall: true } },
  ])
  assert.equal(top.calls, undefined)
})

test('a tracer that is not known is refused by name', async () => {
  const hash = await transactionWithStorage()
  for (const tracer of ['stateTracer', '{ step: function() {} }']) {
    await assert.rejects(
      callMethod(context, 'debug_traceTransaction', [hash, { tracer }]),
      /-32602 invalid argument 1: config\.tracer: expected one of callTracer, .*JavaScript tracers are not run/,
    )
  }
})

test('a trace ends at its timeout', async () => {
  const hash = await transactionWithStorage()
  await assert.rejects(
    callMethod(context, 'debug_traceTransaction', [hash, { tracer: 'callTracer', timeout: '0.001ms' }]),
    /-32000 execution aborted \(timeout = 0.000001s|1e-6s\)/,
  )
})

test('a trace that takes more memory than a call may is refused', async () => {
  const small = { ...context, limits: { ...context.limits, callMemoryBytes: 1000 } }
  await assert.rejects(
    callMethod(small, 'debug_traceTransaction', [await transactionWithStorage(), { tracer: 'callTracer' }]),
    /-32000 out of memory budget/,
  )
})

/** The number of the block with most transactions. */
function busiest(): number {
  const { chain } = context
  const numbers = Array.from({ length: chain.head()! }, (_, i) => i + 1)
  return numbers.sort((a, b) => chain.blockByNumber(b)!.txCount - chain.blockByNumber(a)!.txCount)[0]
}

/** Hash of a transaction that writes storage and memory: of the first one that logs. */
async function transactionWithStorage(): Promise<string> {
  const { chain } = context
  for (let number = 1; ; number++) {
    const block = chain.blockByNumber(number)!
    for (let i = 0; i < block.txCount; i++) {
      const { structLogs } = await callMethod<{ structLogs: { op: string }[] }>(context, 'debug_traceTransaction', [
        formatData(chain.transactionHashes(block)[i]),
      ])
      const ops = new Set(structLogs.map(({ op }) => op))
      if (ops.has('SSTORE') && ops.has('MSTORE')) return formatData(chain.transactionHashes(block)[i])
    }
  }
}
