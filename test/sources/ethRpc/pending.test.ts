import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Transaction } from '../../../src/chain/eth/types.js'
import { fixtureBlocks } from '../../support/chains/fixture.js'
import { openFixtureAnswers } from '../../support/chains/fixtureAnswers.js'
import { keepLog, openFixtureRpc } from '../../support/chains/rightChain.js'
import { RpcFailure, startScriptedUpstream } from '../../support/upstream/scriptedUpstream.js'

type Json = Record<string, unknown>

test('the pending block is read as nodes write it; one that is wrong is none, and its upstream stays', async (t) => {
  const { chain, answers } = await openFixtureAnswers(t)
  const upstream = await startScriptedUpstream(answers)
  const { log } = keepLog()
  const rpc = openFixtureRpc(chain[0].block.hash, [upstream.url], { log })
  t.after(async () => {
    rpc.close()
    await upstream.close()
  })
  const says = (value: unknown) => {
    upstream.fault = {
      name: 'pending',
      result: ({ params }, right) => {
        if (params[0] !== 'pending') return right
        if (value instanceof RpcFailure) throw value
        return value
      },
    }
    return rpc.pendingBlock()
  }
  const block = fixtureBlocks().findLast(({ transactions, withdrawals }) => transactions.length > 1 && withdrawals)!
  const { header, transactions } = block
  const whole = (await answers.result('eth_getBlockByNumber', [`0x${header.number.toString(16)}`, true])) as Json
  const [first, ...others] = whole.transactions as Json[]
  const asGeth = { ...whole, hash: null, nonce: null, miner: null, logsBloom: null }
  const found = await says(asGeth)
  const identify = ({ hash, from }: Transaction) => [hash, from]
  assert.deepEqual(found?.transactions.map(identify), transactions.map(identify))
  assert.deepEqual(found?.withdrawals, block.withdrawals)
  assert.deepEqual(found?.header.parentHash, header.parentHash)
  for (const [name, value] of Object.entries({
    'another value': { ...asGeth, transactions: [{ ...first, value: '0x123456' }, ...others] },
    'another sender': { ...asGeth, transactions: [{ ...first, from: `0x${'11'.repeat(20)}` }, ...others] },
    'a transaction is missing': { ...asGeth, transactions: others },
    'other order': { ...asGeth, transactions: [...others, first] },
    'only hashes': { ...asGeth, transactions: [first.hash] },
    'no withdrawals': { ...asGeth, withdrawals: undefined },
    'no parent': { ...asGeth, parentHash: undefined },
    'no pending block': null,
    'no object': 'nonsense',
    'an error': new RpcFailure(-32000, 'unknown block tag'),
  })) {
    assert.equal(await says(value), undefined, name)
  }
  const [{ state, failures, invalidResponses }] = rpc.status()
  assert.deepEqual({ state, failures, invalidResponses }, { state: 'ok', failures: 0, invalidResponses: 0 })
})
