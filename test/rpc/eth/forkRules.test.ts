import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { formatQuantity } from '../../../src/lib/hex.js'
import { silentLogger } from '../../../src/lib/logger.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import { type OpenContext, openContext } from '../../../src/rpc/core/openContext.js'
import { runMethod } from '../../../src/rpc/core/runCall.js'
import { METHODS } from '../../../src/rpc/methods.js'
import { HEAD } from '../../support/chains/fixtureChain.js'
import { importFixture } from '../../support/chains/fixtureDatabase.js'
import { CALL_METHODS, FIRST_BLOCK, PROBES, TYPED_CALLS, WRONG_CALLS } from '../../support/chains/forkCalls.js'
import { temporaryDirectory } from '../../support/temporary.js'

/* The members of calls by the fork of the block that they run on, on the bundled chain. */

let opened: OpenContext
before(async () => {
  const datadir = temporaryDirectory({ after })
  await importFixture(datadir)
  opened = openContext({ datadir, limits: DEFAULT_LIMITS, log: silentLogger })
})
after(() => opened.close())

async function ask(
  method: string,
  params: unknown[],
): Promise<{ error?: { code: number; message: string }; result?: unknown }> {
  const outcome = await runMethod(METHODS.get(method)!, params, opened.context)
  return 'error' in outcome ? outcome : { result: JSON.parse(Buffer.from(outcome.result).toString()) }
}

const METHODS_OF_CALLS = {
  ...CALL_METHODS,
  trace_call: (call: object, block: string) => [call, ['trace'], block],
  trace_callMany: (call: object, block: string) => [[[call, ['trace']]], block],
}
const WORDS = {
  berlin: 'transaction type not supported: access list tx (sender 0x0000000000000000000000000000000000000000)',
  london: 'maxFeePerGas and maxPriorityFeePerGas are not valid before London is active',
  shanghai: '',
  cancun: 'transaction type not supported: blob tx (sender 0x0000000000000000000000000000000000000000)',
  prague: 'transaction type not supported: setcode tx (sender 0x0000000000000000000000000000000000000000)',
}
/** Why eth_createAccessList refuses calls with a fee once it has filled in the others, as geth does. */
const FILLED_FEES: { readonly [name: string]: string } = {
  'fee cap': 'maxFeePerGas (0x0) < maxPriorityFeePerGas (0x3b9aca00)',
  tip: 'insufficient funds for gas * price + value',
  'blobs with a cap': 'maxFeePerBlobGas, if specified, must be non-zero',
}
test('members of transactions that a fork does not have are refused in geth’s words, by every method', async () => {
  for (const [method, paramsOf] of Object.entries(METHODS_OF_CALLS)) {
    for (const [name, { call, needs }] of Object.entries(TYPED_CALLS)) {
      for (const block of [FIRST_BLOCK[needs] - 1, FIRST_BLOCK[needs], HEAD]) {
        // What is simulated is the block after it.
        const at = method === 'eth_simulateV1' ? block - 1 : block
        const place = `${method}: ${name} at ${block}`
        const { error } = await ask(method, paramsOf(call, formatQuantity(at)))
        // eth_createAccessList makes a list whatever the call has.
        const first =
          method === 'eth_createAccessList' ? Math.max(FIRST_BLOCK[needs], FIRST_BLOCK.berlin) : FIRST_BLOCK[needs]
        const filled = method === 'eth_createAccessList' && FILLED_FEES[name]
        if (filled && (block >= first || name === 'blobs with a cap')) {
          assert.ok(error?.message.includes(filled), `${place}: ${error?.message}`)
        } else if (block >= first) {
          assert.equal(error, undefined, `${place}: ${error?.message}`)
        } else if (method !== 'eth_createAccessList' || block >= FIRST_BLOCK.berlin || needs === 'london') {
          assert.equal(error?.code, -32000, place)
          assert.ok(error?.message.includes(WORDS[needs]), `${place}: ${error?.message}`)
        } else {
          assert.ok(error?.message.includes(WORDS.berlin), `${place}: ${error?.message}`)
        }
      }
    }
  }
})

test('calls that no fork can execute are refused with their reason, never with an internal error', async () => {
  for (const [method, paramsOf] of Object.entries(METHODS_OF_CALLS)) {
    for (const [name, call] of Object.entries(WRONG_CALLS)) {
      for (const block of [1, FIRST_BLOCK.shanghai, HEAD]) {
        const { error } = await ask(method, paramsOf(call, formatQuantity(block)))
        const ignored = name === 'too little gas' && (method === 'eth_estimateGas' || block > 60)
        if (!ignored) assert.ok(error !== undefined, `${method}: ${name} at ${block}`)
        assert.notEqual(error?.code, -32603, `${method}: ${name} at ${block}: ${error?.message}`)
      }
    }
  }
})

test('an overridden number or time chooses the rules', async () => {
  const { chain } = opened.context
  const timeOf = (number: number) => formatQuantity(chain.blockByNumber(number)!.header.timestamp)
  const first = { istanbul: 19, ...FIRST_BLOCK, amsterdam: 61 }
  for (const head of [1, 23, 26, 31, 38, HEAD]) {
    const isStake = chain.rulesOf(chain.blockByNumber(head)!).isProofOfStake
    for (const moved of [1, 24, 34, HEAD]) {
      for (const overrides of [{ number: formatQuantity(moved) }, { time: timeOf(moved) }]) {
        for (const [fork, data] of Object.entries(PROBES)) {
          const number = 'number' in overrides ? moved : head
          const time = 'time' in overrides ? moved : head
          const byNumber = fork === 'istanbul' || fork === 'london'
          const has = byNumber
            ? number >= first[fork]
            : number >= first.london && isStake && time >= first[fork as 'shanghai']
          const call = [{ data }, formatQuantity(head), null, overrides]
          const place = `${fork} at ${head} with ${JSON.stringify(overrides)}`
          const { error } = await ask('eth_call', call)
          assert.equal(error === undefined, has, `${place}: ${error?.message}`)
          if (error !== undefined) assert.match(error.message, /invalid opcode/, place)
          const traced = await ask('debug_traceCall', [{ data }, formatQuantity(head), { blockOverrides: overrides }])
          assert.equal((traced.result as { failed: boolean }).failed, !has, place)
          const estimate = await ask('eth_estimateGas', call)
          assert.notEqual(estimate.error?.code, -32603, place)
        }
      }
    }
  }
})

test('a moved block refuses what its fork does not have', async () => {
  const { call } = TYPED_CALLS['empty access list']
  const { error } = await ask('eth_call', [call, 'latest', null, { number: '0x1' }])
  assert.match(error!.message, /transaction type not supported: access list tx/)
  const fee = await ask('eth_call', [{ maxFeePerGas: '0x1' }, 'latest', null, { number: '0x1' }])
  assert.equal(fee.error?.message, WORDS.london)
})

test('a base fee that is overridden before London refuses no call', async () => {
  const calls = [{}, { gasPrice: '0x0' }].map((prices) => ({ to: `0x${'00'.repeat(18)}dead`, ...prices }))
  for (const validation of [false, true]) {
    const payload = { blockStateCalls: [{ blockOverrides: { baseFeePerGas: '0x7' }, calls }], validation }
    const { result, error } = await ask('eth_simulateV1', [payload, '0x2'])
    assert.equal(error, undefined)
    const [block] = result as { baseFeePerGas: string; calls: { status: string }[] }[]
    assert.deepEqual([block.baseFeePerGas, block.calls.map(({ status }) => status)], ['0x7', ['0x1', '0x1']])
  }
})

test('fees that do not go together are refused before the chain id', async () => {
  const call = { to: `0x${'00'.repeat(18)}dead`, gasPrice: '0x1', maxFeePerGas: '0x1', chainId: '0x1' }
  const { error } = await ask('eth_call', [call, 'latest'])
  assert.equal(error?.message, 'both gasPrice and (maxFeePerGas or maxPriorityFeePerGas) specified')
})

test('a difficulty is overridden before the merge alone', async () => {
  const calls = [{ blockOverrides: { difficulty: '0x5' } }]
  const { error } = await ask('eth_simulateV1', [{ blockStateCalls: calls }, 'latest'])
  const message = `block ${HEAD + 1}: difficulty override is not allowed after the merge`
  assert.deepEqual(error, { code: -32602, message })
  const { result } = await ask('eth_simulateV1', [{ blockStateCalls: calls }, '0x2'])
  assert.equal((result as { difficulty: string }[])[0].difficulty, '0x5')
})

test('the gas cap is that of the stored block, whatever gas limit overrides say', async () => {
  const gas = { data: '0x5a60005260206000f3' } // GAS
  const capped = async (overrides?: object) => (await ask('eth_call', [gas, 'latest', null, overrides])).result
  assert.equal(await capped({ gasLimit: '0x5208' }), await capped())
  const traced = (blockOverrides?: object) => ask('debug_traceCall', [gas, 'latest', { blockOverrides }])
  assert.deepEqual(await traced({ gasLimit: '0x5208' }), await traced())
})

test('an estimate ignores a gas below that of a transfer', async () => {
  const transfer = { to: '0x00000000000000000000000000000000deadbeef', data: '0x0102' }
  for (const block of ['latest', '0x1e']) {
    const { result } = await ask('eth_estimateGas', [transfer, block])
    for (const gas of ['0x0', '0x3000', '0x5207']) {
      assert.deepEqual(await ask('eth_estimateGas', [{ ...transfer, gas }, block]), { result })
    }
  }
})
