import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fork } from '../../../src/chain/eth/forks/rules.js'
import { silentLogger } from '../../../src/lib/logger.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import { openContext } from '../../../src/rpc/core/openContext.js'
import { createForkGenesis } from '../../support/chains/forkGenesis.js'
import { writeGenesisChain } from '../../support/chains/genesisChain.js'
import { callMethod } from '../../support/compare/traces.js'

/* Traces of calls that fail, and of calls of precompiles, as geth 1.17.10 answered the same. */

const addressOf = (byte: string) => `0x${'00'.repeat(19)}${byte}`
const [FROM, CALLER, TARGET, OTHER] = ['aa', 'c1', 'c0', 'dd'].map(addressOf)

interface Step {
  op: string
  gasCost: number
  error?: string
  storage?: Record<string, string>
}
interface Call {
  to?: string
  output?: string
  error?: string
  calls?: Call[]
}
interface FlatTrace {
  action: { to: string; callType: string; value: string }
  error?: string
  result: { output: string } | null
  subtraces: number
  traceAddress: number[]
}
interface Op {
  op: string
  cost: number
  sub: { ops: Op[] } | null
}

/** Methods on block 0 of that fork, where the codes are those of the contracts TARGET and CALLER. */
async function openAt(
  t: { after(callback: () => void | Promise<void>): void },
  fork: Fork,
  { target = '', caller = '' }: { target?: string; caller?: string },
) {
  const alloc = {
    [FROM]: { balance: '0xde0b6b3a7640000' },
    [TARGET]: { balance: '0x64', code: `0x${target}` },
    [CALLER]: { balance: '0x64', code: `0x${caller}` },
  }
  const datadir = await writeGenesisChain(t, createForkGenesis(fork, alloc))
  const { context, close } = openContext({ datadir, limits: DEFAULT_LIMITS, log: silentLogger })
  t.after(close)
  const call = (to: string | undefined, data?: string) => ({ from: FROM, to, data, gas: '0x186a0' })
  return {
    trace: <T>(to: string | undefined, config: object, data?: string) =>
      callMethod<T>(context, 'debug_traceCall', [call(to, data), 'latest', config]),
    replay: (to: string | undefined, data?: string) =>
      callMethod<{ trace: FlatTrace[]; vmTrace: { ops: Op[] } | null }>(context, 'trace_call', [
        call(to, data),
        ['trace', 'vmTrace'],
        'latest',
      ]),
  }
}

/** CALL, STATICCALL or DELEGATECALL of an account with the word in memory as its input. */
const calls = (byte: string, op: 'f1' | 'fa' | 'f4' = 'f1', value = '00') =>
  `6000600060206000${op === 'f1' ? `60${value}` : ''}60${byte}5a${op}50`
const STORE = `7f${'ab'.repeat(32)}600052`

test('creations of any size have a price that is a number', async (t) => {
  const sizes = [32n, 53n, 64n, 256n]
    .flatMap((bits) => [2n ** bits - 1n, 2n ** bits])
    .filter((size) => size < 2n ** 256n)
  const { trace, replay } = await openAt(t, 'london', {})
  for (const size of sizes) {
    for (const op of ['6000f0', '60006000f5']) {
      const hex = size.toString(16).padStart(64, '0')
      const data = op === '6000f0' ? `0x7f${hex}60006000f0` : `0x60007f${hex}60006000f5`
      const { structLogs } = await trace<{ structLogs: Step[] }>(undefined, {}, data)
      const { gasCost, error } = structLogs.at(-1)!
      if (size <= 2n ** 32n) {
        const words = (size + 31n) / 32n
        const price = 32_000n + 3n * words + (words * words) / 512n + (op === '6000f0' ? 0n : 6n * words)
        assert.deepEqual([gasCost, error], [Number(price), 'out of gas'])
      } else {
        assert.deepEqual(
          [gasCost, error],
          [32_000, size < 2n ** 64n - 1n ? 'out of gas: gas uint64 overflow' : 'gas uint64 overflow'],
        )
      }
      const { vmTrace } = await replay(undefined, data)
      assert.equal(vmTrace!.ops.at(-1)!.cost, gasCost)
    }
  }
})

test('what a precompile returned stays what it was when memory changes', async (t) => {
  const { trace, replay } = await openAt(t, 'osaka', { caller: `${STORE}${calls('04', 'fa')}600060005200` })
  const whole = `0x${'ab'.repeat(32)}`
  const { calls: inner } = await trace<Call>(CALLER, { tracer: 'callTracer' })
  assert.equal(inner![0].output, whole)
  const tracer = { tracer: 'flatCallTracer', tracerConfig: { includePrecompiles: true } }
  const flat = await trace<FlatTrace[]>(CALLER, tracer)
  assert.equal(flat[1].result!.output, whole)
  const mux = { tracer: 'muxTracer', tracerConfig: { callTracer: {} } }
  assert.equal((await trace<{ callTracer: Call }>(CALLER, mux)).callTracer.calls![0].output, whole)
  assert.equal((await replay(CALLER)).trace.length, 1)
})

test('trace_ methods show a nested call of a precompile if it carries value, and flatCallTracer by its kind', async (t) => {
  const caller = [calls('04', 'f1', '01'), calls('04'), calls('04', 'fa'), calls('04', 'f4'), calls('dd')].join('')
  const { trace, replay } = await openAt(t, 'osaka', { caller })
  const shown = (traces: FlatTrace[]) =>
    traces.map(({ action, traceAddress }) => [action.to, action.callType, traceAddress])
  const root = [CALLER, 'call', []]
  assert.deepEqual(shown((await replay(CALLER)).trace), [root, [addressOf('04'), 'call', [0]], [OTHER, 'call', [1]]])
  assert.deepEqual(shown(await trace(CALLER, { tracer: 'flatCallTracer' })), [
    root,
    [addressOf('04'), 'delegatecall', [0]],
    [OTHER, 'call', [1]],
  ])
  assert.deepEqual(shown((await replay(addressOf('04'))).trace), [[addressOf('04'), 'call', []]])
})

test('a DELEGATECALL of a precompile is shown with the value of its caller', async (t) => {
  const { replay } = await openAt(t, 'osaka', { caller: calls('c0', 'f1', '01'), target: calls('04', 'f4') })
  const { trace } = await replay(CALLER)
  assert.deepEqual(
    trace.map(({ action }) => [action.to, action.callType, action.value]),
    [
      [CALLER, 'call', '0x0'],
      [TARGET, 'call', '0x1'],
      [addressOf('04'), 'delegatecall', '0x1'],
    ],
  )
})

test('storage that could not be written is in no step, nor in the state before', async (t) => {
  const caller = '600060006000600060c0612710fa50600054'
  const { trace } = await openAt(t, 'osaka', { target: '6001600055', caller })
  const { structLogs } = await trace<{ structLogs: Step[] }>(CALLER, {})
  const [failed, read] = ['SSTORE', 'SLOAD'].map((name) => structLogs.find(({ op }) => op === name)!)
  assert.deepEqual([failed.gasCost, failed.error, failed.storage], [0, 'out of gas: write protection', undefined])
  assert.deepEqual(read.storage, { [`0x${'00'.repeat(32)}`]: `0x${'00'.repeat(32)}` })
  const before = await trace<Record<string, { storage?: object }>>(CALLER, { tracer: 'prestateTracer' })
  assert.equal(before[TARGET].storage, undefined)
  // With 2300 gas the write fails; a later read of the slot shows what is there.
  // Without input it writes, with input it reads.
  const target = '36600a576007600055005b600054'
  const poor = '6000600060006000600060c06108fcf1506000600060206000600060c0612710f150'
  const again = await openAt(t, 'osaka', { target, caller: poor })
  const steps = await again.trace<{ structLogs: Step[] }>(CALLER, {})
  const [sentry] = steps.structLogs.filter(({ op }) => op === 'SSTORE')
  assert.equal(sentry.error, 'out of gas: not enough gas for reentrancy sentry')
  assert.deepEqual(steps.structLogs.find(({ op }) => op === 'SLOAD')!.storage, read.storage)
})

test('a step that fails when it runs has its price and no error', async (t) => {
  const last = async (code: string, op = 'fa' as const) => {
    const { trace } = await openAt(t, 'osaka', { target: code, caller: calls('c0', op) })
    const { structLogs } = await trace<{ structLogs: Step[] }>(CALLER, {})
    const { gasCost, error } = structLogs.filter((_, i) => structLogs[i + 1]?.op === 'POP')[0]
    return [gasCost, error]
  }
  assert.deepEqual(await last('60206000a0'), [375 + 8 * 32 + 3, undefined]) // LOG0 in a static frame
  assert.deepEqual(await last('600160005d'), [100, undefined]) // TSTORE
  assert.deepEqual(await last('6040600060003e'), [3 + 2 * 3 + 2 * 3, undefined]) // RETURNDATACOPY beyond the data
  assert.deepEqual(await last('60006000f0'.replace('60006000', '600060006000')), [
    32_000,
    'out of gas: write protection',
  ])
  const { trace } = await openAt(t, 'osaka', { caller: '60406000620fffff f000'.replace(' ', '') })
  const { structLogs } = await trace<{ structLogs: Step[] }>(CALLER, {})
  const create = structLogs.find(({ op }) => op === 'CREATE')! // of more value than there is
  assert.deepEqual([create.gasCost, create.error], [32_000 + 2 * 2 + 2 * 3, undefined])
})

test('trace_ methods have errors in the words of OpenEthereum', async (t) => {
  const errorOf = async (target: string, caller = calls('c0', 'fa')) => {
    const { replay } = await openAt(t, 'osaka', { target, caller })
    return (await replay(CALLER)).trace[1].error
  }
  for (const code of [
    '6001600055',
    '600160005d',
    '60006000a0',
    '60c0ff',
    '600060006000f0',
    '6000600060006000600160dd5af1',
  ]) {
    assert.equal(await errorOf(code), 'Mutable Call In Static Context', code)
  }
  assert.equal(await errorOf('', `6001600052${calls('06', 'f1', '01')}`), 'Built-in failed')
  assert.equal(await errorOf('0c'), 'Bad instruction')
  assert.equal(await errorOf(`5b7f${'ff'.repeat(32)}51`), 'Out of gas')
  assert.equal(await errorOf('60016000600' + '03e'), 'Out of bounds')
  assert.equal(await errorOf('60006000fd'), 'Reverted')
})
