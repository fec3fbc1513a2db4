import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Dispatcher } from '../../../src/rpc/core/dispatch.js'
import { parseBody, type RpcOutcome } from '../../../src/rpc/core/envelope.js'
import { executeBody, refuseCalls } from '../../../src/rpc/core/execute.js'
import { MAX_BATCH_RESPONSE_BYTES } from '../../../src/rpc/core/executeCall.js'

interface Answered {
  id: number
  result?: string
  error?: { code: number; message: string }
}

/** A dispatcher whose method names say what to do: `long:N` gives N characters, `later:N` the same after N turns of the
 *  event loop. */
function dispatcher(begun: string[] = []): Dispatcher & { running: number; most: number } {
  const state = {
    running: 0,
    most: 0,
    dispatch({ method }: { method: string }): RpcOutcome | Promise<RpcOutcome> {
      begun.push(method)
      const [kind, n] = method.split(':')
      const result = { result: Buffer.from(JSON.stringify(kind === 'long' ? 'x'.repeat(Number(n)) : method)) }
      if (kind !== 'later') return result
      state.running++
      state.most = Math.max(state.most, state.running)
      return (async () => {
        for (let i = 0; i < Number(n); i++) await new Promise(setImmediate)
        state.running--
        return result
      })()
    },
  }
  return state
}

async function answer(methods: string[], target: Dispatcher = dispatcher()): Promise<Answered[]> {
  const calls = methods.map((method, id) => ({ jsonrpc: '2.0', id, method }))
  const parts = await executeBody(parseBody(JSON.stringify(calls)), target)
  return JSON.parse(Buffer.concat(parts ?? []).toString())
}

test('a batch is answered in its order, however long each item takes', async () => {
  const methods = Array.from({ length: 100 }, (_, i) => (i % 3 === 0 ? `later:${(i * 7) % 11}` : `now:${i}`))
  const answers = await answer(methods)
  assert.deepEqual(
    answers.map(({ id, result }) => [id, result]),
    methods.map((method, id) => [id, method]),
  )
})

test('at most 16 items of a batch run elsewhere at the same time', async () => {
  const target = dispatcher()
  await answer(Array(200).fill('later:3'), target)
  assert.ok(target.most > 1 && target.most <= 16, `${target.most} at once`)
})

test('a batch with notifications only is not answered, and they run', async () => {
  const begun: string[] = []
  const body = parseBody('[{"jsonrpc":"2.0","method":"now:1"},{"jsonrpc":"2.0","method":"now:2"}]')
  assert.equal(await executeBody(body, dispatcher(begun)), undefined)
  assert.deepEqual(begun, ['now:1', 'now:2'])
})

test('the answers of a batch beyond 25 MB are refused, and what was not begun is not run', async () => {
  const begun: string[] = []
  const methods = [
    ...Array(4).fill(`long:${MAX_BATCH_RESPONSE_BYTES / 4 - 1000}`),
    `long:${5000}`,
    ...Array(90).fill('now:1'),
  ]
  const answers = await answer(methods, dispatcher(begun))
  assert.equal(answers.length, 95)
  assert.ok(answers.slice(0, 4).every(({ result }) => result !== undefined))
  for (const { error } of answers.slice(4)) assert.deepEqual(error, { code: -32003, message: 'response too large' })
  assert.ok(begun.length < 60, `${begun.length} begun`)
})

test('no further item of a batch is begun once no client waits for it', async () => {
  const begun: string[] = []
  const calls = Array.from({ length: 300 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'later:1' }))
  let asked = 0
  const cancelSignal = {
    get aborted() {
      return ++asked > 20
    },
  }
  const reservation = { wait: () => undefined, add: () => true }
  await executeBody(parseBody(JSON.stringify(calls)), dispatcher(begun), { cancelSignal, reservation })
  assert.equal(begun.length, 20)
})

test('a refusal answers every item but the notifications', () => {
  const error = { code: -32005, message: 'request rate exceeded' }
  const body = parseBody('[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","method":"b"},5]')
  const answers = JSON.parse(Buffer.concat(refuseCalls(body, error) ?? []).toString())
  assert.deepEqual(
    answers,
    [1, null].map((id) => ({ jsonrpc: '2.0', id, error })),
  )
  assert.equal(refuseCalls(parseBody('{"jsonrpc":"2.0","method":"b"}'), error), undefined)
})
