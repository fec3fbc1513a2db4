import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RpcOutcome } from '../../../src/rpc/core/envelope.js'
import type { UnknownState } from '../../../src/rpc/core/errors.js'
import { fetchAndRepeat, stateUnknownError, type UnknownStateFetcher } from '../../../src/rpc/core/stateFetch.js'
import { METHODS } from '../../../src/rpc/methods.js'

/* Calls that need state which is not known are repeated after it was fetched, within bounds. */

const RESULT: RpcOutcome = { result: Buffer.from('"0x1"') }
const CALL = { method: 'eth_call', params: [{ to: '0x01' }, 'latest'], idText: '1' }

function unknown(id: number): UnknownState {
  return { keys: [{ address: new Uint8Array(20).fill(id), slots: [] }], isProof: false }
}

function outcomeOf(missing: UnknownState): RpcOutcome {
  return { error: { ...stateUnknownError(missing, 'never needed'), missing } }
}

/** A call that needs `needs` one after the other, over a fetcher that makes them known. */
function createCall(needs: readonly UnknownState[], refuse?: string) {
  const known = new Set<UnknownState>()
  const hints: unknown[] = []
  const run = (): RpcOutcome => {
    const next = needs.find((each) => !known.has(each))
    return next === undefined ? RESULT : outcomeOf(next)
  }
  const fetcher: UnknownStateFetcher = {
    fetch: async (wanted, { call }) => {
      if (refuse !== undefined) throw new Error(refuse)
      known.add(wanted)
      hints.push(call)
      return 1
    },
  }
  return { run, fetcher, hints, known }
}

test('a call is repeated until it lacks nothing, and its call object is a hint of the first fetch', async () => {
  const { run, fetcher, hints } = createCall([unknown(1), unknown(2), unknown(3)])
  const outcome = await fetchAndRepeat(run(), CALL, run, { fetcher, methods: METHODS })
  assert.deepEqual(outcome, RESULT)
  assert.deepEqual(hints, [{ to: '0x01' }, undefined, undefined])
})

test('a method without a call object gives no hint', async () => {
  const { run, fetcher, hints } = createCall([unknown(1)])
  await fetchAndRepeat(run(), { ...CALL, method: 'eth_getBalance', params: ['0x01', 'latest'] }, run, {
    fetcher,
    methods: METHODS,
  })
  assert.deepEqual(hints, [undefined])
})

test('the reason why state cannot be fetched is in the error, which names the account', async () => {
  const { run, fetcher } = createCall([unknown(0xab)], 'following is stopped')
  const outcome = await fetchAndRepeat(run(), CALL, run, { fetcher, methods: METHODS })
  const message = `state of 0x${'ab'.repeat(20)} is not known: following is stopped`
  assert.deepEqual(outcome, { error: { code: -32000, message } })
})

test('a call that needs more accounts and slots than it may fetch is refused', async () => {
  const { run, fetcher, known } = createCall(Array.from({ length: 10 }, (_, i) => unknown(i)))
  const outcome = await fetchAndRepeat(run(), CALL, run, { fetcher, methods: METHODS, limits: { keys: 4, ms: 60_000 } })
  assert.match(JSON.stringify(outcome), /the call needs more than 4 accounts and slots that are not known/)
  assert.equal(known.size, 4)
})

test('a value that stays unknown although it was fetched ends the call', async () => {
  let fetches = 0
  const fetcher: UnknownStateFetcher = { fetch: async () => ++fetches && 1 }
  const run = () => outcomeOf(unknown(1))
  const outcome = await fetchAndRepeat(run(), CALL, run, { fetcher, methods: METHODS })
  assert.match(JSON.stringify(outcome), /it was fetched and is not known all the same/)
  assert.equal(fetches, 5)
})

test('a call that fetches many values at once has no more of them left, and names its client', async () => {
  const bounds: { maxKeys: number; client?: unknown }[] = []
  const { run, known } = createCall([unknown(1), unknown(2), unknown(3)])
  const fetcher: UnknownStateFetcher = {
    fetch: async (wanted, { maxKeys, client }) => {
      known.add(wanted)
      bounds.push({ maxKeys, client })
      return 40
    },
  }
  const options = { fetcher, methods: METHODS, client: 7, limits: { keys: 100, ms: 60_000 } }
  assert.deepEqual(await fetchAndRepeat(run(), CALL, run, options), RESULT)
  assert.deepEqual(bounds, [
    { maxKeys: 100, client: 7 },
    { maxKeys: 60, client: 7 },
    { maxKeys: 20, client: 7 },
  ])
})
