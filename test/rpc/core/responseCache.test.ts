import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RpcOutcome } from '../../../src/rpc/core/envelope.js'
import type { CacheableCall } from '../../../src/rpc/core/responseCache.js'
import { createMeasuredCache } from '../../support/measuredCache.js'

const MIB = 1_048_576
const TIMEOUT: RpcOutcome = { error: { code: -32005, message: 'query timeout exceeded' } }

const resultOf = (text: string): RpcOutcome => ({ result: new Uint8Array(Buffer.from(text)) })

/** Returns a call, and its runs in the order in which they began. Each run waits until `finish` sets its outcome. */
function heldCall(key: string, isCurrent: () => boolean = () => true) {
  const runs: { sinceMs: number | undefined; finish(outcome: RpcOutcome): void }[] = []
  const call: CacheableCall = {
    key,
    isCurrent,
    lasts: (outcome) => outcome !== TIMEOUT,
    run: (sinceMs) => new Promise((finish) => runs.push({ sinceMs, finish })),
  }
  return { call, runs }
}

test('what was answered once is answered again at once, with the same bytes', async () => {
  const cache = createMeasuredCache({ maxBytes: MIB })
  const { call, runs } = heldCall('a')
  const first = cache.answer(call)
  const outcome = resultOf('[1]')
  runs[0].finish(outcome)
  assert.equal(await first, outcome)
  assert.equal(cache.answer(call), outcome)
  assert.equal(cache.answer({ ...call, run: () => assert.fail('is not to run') }), outcome)
  assert.equal(runs.length, 1)
  const { hits, misses, entries, bytes, maxBytes } = cache.report()
  assert.deepEqual([hits, misses, entries, maxBytes], [2, 1, 1, MIB])
  assert.ok(bytes > 3)
})

test('large outcomes are dropped on request, small ones stay', async () => {
  const cache = createMeasuredCache({ maxBytes: MIB })
  for (const [key, bytes] of [
    ['small', 4_096],
    ['large', 4_097],
  ] as const) {
    const { call, runs } = heldCall(key)
    const answer = cache.answer(call)
    runs[0].finish({ result: new Uint8Array(bytes) })
    await answer
  }
  const before = cache.report()
  cache.dropLarge()
  const { bytes, entries } = cache.report()
  assert.deepEqual([before.entries, entries], [2, 1])
  assert.ok(bytes < before.bytes - 4_096)
  const [small, large] = [heldCall('small'), heldCall('large')]
  void cache.answer(small.call)
  void cache.answer(large.call)
  assert.deepEqual([small.runs.length, large.runs.length], [0, 1])
})

test('equal calls at the same time are one run', async () => {
  const cache = createMeasuredCache({ maxBytes: MIB })
  const { call, runs } = heldCall('a')
  const other = heldCall('b')
  const answers = [cache.answer(call), cache.answer(call), cache.answer(other.call), cache.answer(call)]
  assert.deepEqual([runs.length, other.runs.length], [1, 1])
  const outcome = resultOf('[1]')
  runs[0].finish(outcome)
  other.runs[0].finish(resultOf('[2]'))
  const [first, second, different, third] = await Promise.all(answers)
  assert.ok(first === outcome && second === outcome && third === outcome && different !== outcome)
  assert.deepEqual([cache.report().hits, cache.report().misses], [2, 2])
})

test('a timeout is neither kept nor shared: who waited runs in what is left of the own time', async () => {
  const cache = createMeasuredCache({ maxBytes: MIB })
  const { call, runs } = heldCall('a')
  const before = performance.now()
  const answers = [cache.answer(call), cache.answer(call)]
  const after = performance.now()
  runs[0].finish(TIMEOUT)
  assert.equal(await answers[0], TIMEOUT)
  assert.equal(runs.length, 2)
  assert.equal(runs[0].sinceMs, undefined)
  assert.ok(runs[1].sinceMs! >= before && runs[1].sinceMs! <= after)
  const outcome = resultOf('[1]')
  runs[1].finish(outcome)
  assert.equal(await answers[1], outcome)
  assert.equal(cache.answer(call), outcome)
})

test('an answer is neither kept nor shared when the chain changed meanwhile', async () => {
  const cache = createMeasuredCache({ maxBytes: MIB })
  let head = 'a'
  const { call, runs } = heldCall('a', () => head === 'a')
  const answers = [cache.answer(call), cache.answer(call)]
  head = 'b'
  runs[0].finish(resultOf('["of b"]'))
  await answers[0]
  head = 'a'
  runs[1].finish(resultOf('["of a"]'))
  assert.deepEqual(await answers[1], resultOf('["of a"]'))
  assert.deepEqual(cache.answer(call), resultOf('["of a"]'))
})

test('a run that throws is not in the way of the next one', async () => {
  const cache = createMeasuredCache({ maxBytes: MIB })
  const { call } = heldCall('a')
  const broken: CacheableCall = { ...call, run: () => Promise.reject(new Error('broken')) }
  await assert.rejects(async () => cache.answer(broken), /broken/)
  assert.deepEqual(await cache.answer({ ...call, run: async () => resultOf('[]') }), resultOf('[]'))
})

test('stays within its bytes, keys and entries counted, and keeps no outcome above an eighth of them', async () => {
  const maxBytes = 100_000
  const cache = createMeasuredCache({ maxBytes })
  const ask = async (key: string, outcome: RpcOutcome) =>
    cache.answer({ ...heldCall(key).call, run: async () => outcome })
  for (let i = 0; i < 500; i++) {
    await ask(`key ${i}`, i % 2 === 0 ? resultOf('[]') : { error: { code: -32005, message: 'too many' } })
    assert.ok(cache.report().bytes <= maxBytes)
  }
  // Small as the outcomes are, what holds them is not.
  assert.ok(cache.report().entries > 50 && cache.report().entries < 100, String(cache.report().entries))
  const { entries } = cache.report()
  await ask('large', { result: new Uint8Array(maxBytes / 8 + 1) })
  assert.equal(cache.report().entries, entries)
  await ask('less', { result: new Uint8Array(maxBytes / 8) })
  assert.ok(cache.report().entries < entries)
  const { misses } = cache.report()
  await ask('large', resultOf('run again'))
  assert.equal(cache.report().misses, misses + 1)
})
