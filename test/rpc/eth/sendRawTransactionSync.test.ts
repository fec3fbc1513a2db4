import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { formatData } from '../../../src/lib/hex.js'
import { silentLogger } from '../../../src/lib/logger.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import { openContext } from '../../../src/rpc/core/openContext.js'
import { runMethod } from '../../../src/rpc/core/runCall.js'
import { METHODS } from '../../../src/rpc/methods.js'
import { openInventedChain } from '../../support/chains/inventedChain.js'
import { seededRandom } from '../../support/random.js'
import { temporaryDirectory } from '../../support/temporary.js'

/** A chain, and calls of a server that forwards to an upstream which answers with `hash()`. */
async function openForwarding(t: TestContext, hash: () => Uint8Array) {
  const datadir = temporaryDirectory(t)
  const chain = await openInventedChain(datadir, { random: seededRandom(7966), logsPerBlock: 2 })
  t.after(() => chain.close())
  chain.change(0, 2)
  const forwardTransaction = async () => formatData(hash())
  const { context, close } = openContext({ datadir, limits: DEFAULT_LIMITS, log: silentLogger, forwardTransaction })
  t.after(() => close())
  const ask = async (name: string, ...params: unknown[]) => {
    const outcome = await runMethod(METHODS.get(name)!, params, context)
    return 'error' in outcome ? { error: outcome.error } : { result: JSON.parse(String(Buffer.from(outcome.result))) }
  }
  return { chain, ask, sendSync: (...params: unknown[]) => ask('eth_sendRawTransactionSync', ...params) }
}

test('returns the receipt of a transaction that a block has already', async (t) => {
  const { chain, ask, sendSync } = await openForwarding(t, () => chain.blocks[2].block.transactions[1].hash)
  const { hash } = chain.blocks[2].block.transactions[1]
  assert.deepEqual(await sendSync('0x02c0'), await ask('eth_getTransactionReceipt', formatData(hash)))
})

test('waits for the block that has the transaction, whatever blocks come before it', async (t) => {
  const wanted = new Uint8Array(32).fill(0x77)
  const { chain, ask, sendSync } = await openForwarding(t, () => wanted)
  const sent = sendSync('0x02c0', '0x7530')
  chain.change(1, 2)
  chain.nameNextTransaction(wanted)
  chain.change(0, 1)
  const { result } = await sent
  assert.equal(result.blockNumber, '0x4')
  assert.deepEqual({ result }, await ask('eth_getTransactionReceipt', formatData(wanted)))
})

test('after its time it returns error 4 with the hash', async (t) => {
  const wanted = new Uint8Array(32).fill(0x77)
  const { sendSync } = await openForwarding(t, () => wanted)
  const message = "The transaction was added to the transaction pool but wasn't processed in 0.02s"
  assert.deepEqual(await sendSync('0x02c0', 20), { error: { code: 4, message, data: formatData(wanted) } })
})

test('at most 256 calls wait at a time, and those that end make room', async (t) => {
  const wanted = new Uint8Array(32).fill(0x77)
  const { chain, sendSync } = await openForwarding(t, () => wanted)
  const waiting = Array.from({ length: 256 }, () => sendSync('0x02c0'))
  const message = 'too many transactions are waited for: the limit is 256'
  assert.deepEqual(await sendSync('0x02c0'), { error: { code: -32005, message } })
  chain.nameNextTransaction(wanted)
  chain.change(0, 1)
  for (const { result } of await Promise.all(waiting)) assert.equal(result.blockNumber, '0x3')
  assert.equal((await sendSync('0x02c0')).result.blockNumber, '0x3')
})
