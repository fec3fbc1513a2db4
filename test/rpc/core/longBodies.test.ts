import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startServing } from '../../../src/cli/serving.js'
import { formatData, formatQuantity } from '../../../src/lib/hex.js'
import { silentLogger } from '../../../src/lib/logger.js'
import { createDispatcher, MAX_MAIN_THREAD_BYTES, type RemoteRunner } from '../../../src/rpc/core/dispatch.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import { openContext } from '../../../src/rpc/core/openContext.js'
import { runCallMessage } from '../../../src/rpc/core/runCall.js'
import { METHODS } from '../../../src/rpc/methods.js'
import { createShortBodies } from '../../../src/store/rows/shortBodies.js'
import { HEAD } from '../../support/chains/fixtureChain.js'
import { importFixture } from '../../support/chains/fixtureDatabase.js'
import { post, request, servingOptions } from '../../support/serving.js'
import { temporaryDirectory } from '../../support/temporary.js'

/* How much of a block one call reads on the main thread, counted in bytes: a measurement of time would count the other
 * processes of a busy machine. */

const datadir = temporaryDirectory({ after })
await importFixture(datadir)
const { context, db, close } = openContext({ datadir, limits: DEFAULT_LIMITS, log: silentLogger })
after(close)
const { chain } = context

/** A header with its fields' names. */
const HEADER_BYTES = 4096

/** Methods of the main thread that may be run again. */
const POINT = [...METHODS.values()].filter(
  ({ cost, usesSession, runsOnce }) => cost === 'point' && !usesSession && !runsOnce,
)

/** Parameters that name block `number` or a part of it, in every form that a method may accept. */
function formsOf(number: number): unknown[][] {
  const block = chain.blockByNumber(number)!
  const [tag, hash] = [formatQuantity(number), formatData(block.hash)]
  const hashes = chain.transactionHashes(block).map((each) => [formatData(each)])
  const indexes = hashes.flatMap((_, i) => [tag, hash].map((id) => [id, formatQuantity(i)]))
  return [[tag], [hash], [tag, true], [hash, true], ...hashes, ...indexes]
}

/** Calls every method with every form. Returns the methods that were run elsewhere. */
async function callAll(numbers: readonly number[], maxBytes: number): Promise<Set<string>> {
  const handedOver = new Set<string>()
  const remote: RemoteRunner = {
    run: async (call) => {
      handedOver.add(call.method.name)
      return runCallMessage(METHODS, structuredClone(call.toMessage()), context)
    },
  }
  const shortBodies = createShortBodies(chain, db, maxBytes)
  const parts = { methods: METHODS, context, remote, log: silentLogger }
  const [dispatcher, unbounded] = [createDispatcher({ ...parts, shortBodies }), createDispatcher(parts)]
  for (const params of numbers.flatMap(formsOf)) {
    for (const { name } of POINT) {
      const call = { method: name, params, idText: '1' }
      const outcome = dispatcher.dispatch(call)
      const expected = unbounded.dispatch(call)
      assert.deepEqual(await outcome, expected, `${name} ${JSON.stringify(params)}`)
      if (outcome instanceof Promise || 'error' in outcome) continue
      const { length } = outcome.result
      assert.ok(length <= maxBytes + HEADER_BYTES, `${name} ${JSON.stringify(params)}: ${length} bytes here`)
    }
  }
  return handedOver
}

/** The block with most logs. */
const LONGEST = Array.from({ length: HEAD + 1 }, (_, number) => chain.blockByNumber(number)!).toSorted(
  (a, b) => b.logCount - a.logCount,
)[0].header.number

test('the main thread reads no long receipts; a thread does', async () => {
  assert.deepEqual(
    await callAll([LONGEST], MAX_MAIN_THREAD_BYTES),
    new Set(['debug_getRawReceipts', 'eth_getBlockReceipts', 'eth_getTransactionReceipt']),
  )
})

test('whatever a method reads of a block on the main thread, it is bounded', async () => {
  assert.deepEqual([...(await callAll([LONGEST, HEAD - 3, HEAD], 512))].toSorted(), [
    'debug_getRawBlock',
    'debug_getRawReceipts',
    'debug_getRawTransaction',
    'debug_printBlock',
    'eth_getBlockByHash',
    'eth_getBlockByNumber',
    'eth_getBlockReceipts',
    'eth_getRawTransactionByBlockHashAndIndex',
    'eth_getRawTransactionByBlockNumberAndIndex',
    'eth_getRawTransactionByHash',
    'eth_getTransactionByBlockHashAndIndex',
    'eth_getTransactionByBlockNumberAndIndex',
    'eth_getTransactionByHash',
    'eth_getTransactionReceipt',
  ])
})

test('a server answers long receipts from a thread as short ones', async (t) => {
  const { url, pool, close } = await startServing(servingOptions(datadir))
  t.after(close)
  await pool.warm()
  const params = [formatQuantity(LONGEST)]
  const { json } = await post(url, request('eth_getBlockReceipts', ...params))
  const expected = runCallMessage(METHODS, { method: 'eth_getBlockReceipts', values: params }, context) as {
    result: Uint8Array
  }
  assert.deepEqual(json.result, JSON.parse(Buffer.from(expected.result).toString()))
})
