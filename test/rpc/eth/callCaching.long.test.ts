import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { encodeFunctionData, parseAbi } from 'viem'
import { formatData } from '../../../src/lib/hex.js'
import { silentLogger } from '../../../src/lib/logger.js'
import { createDispatcher, type RemoteRunner } from '../../../src/rpc/core/dispatch.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import { openContext } from '../../../src/rpc/core/openContext.js'
import { runCallMessage, runMethod } from '../../../src/rpc/core/runCall.js'
import { call } from '../../../src/rpc/eth/call.js'
import { CALL_CACHING } from '../../../src/rpc/eth/callCacheKey.js'
import { estimateGas } from '../../../src/rpc/eth/estimateGas.js'
import { packagePath } from '../../../src/store/open.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { createChainWriter } from '../../../src/store/rows/chainWriter.js'
import { runCairnOk } from '../../support/cairn.js'
import { ABI, ALICE, HEAD, REVERTER, TOKEN } from '../../support/chains/fixtureChain.js'
import { createMeasuredCache } from '../../support/measuredCache.js'
import { temporaryDirectory } from '../../support/temporary.js'

const abi = parseAbi(ABI)
const FOLDER = packagePath('fixtures/chain')
const METHODS = new Map([call, estimateGas].map((method) => [method.name, method]))

/** The bundled chain, a dispatcher with a cache over it, and the same without one. */
async function openBoth(t: TestContext) {
  const datadir = temporaryDirectory(t)
  const importChain = () =>
    runCairnOk(['import', '--datadir', datadir, '--genesis', `${FOLDER}/genesis.json`, `${FOLDER}/chain.rlp`])
  await importChain()
  const [main, thread] = [0, 1].map(() => {
    const opened = openContext({ datadir, limits: DEFAULT_LIMITS, log: silentLogger })
    t.after(() => opened.close())
    return opened.context
  })
  const cache = createMeasuredCache({ maxBytes: 1_000_000 })
  const run = async (method: string, params: unknown) => runMethod(METHODS.get(method)!, params, thread)
  const remote: RemoteRunner = {
    run: async (bound) => runCallMessage(METHODS, structuredClone(bound.toMessage()), thread),
  }
  const dispatcher = createDispatcher({ methods: METHODS, context: main, remote, log: silentLogger, cache })
  /** Asks both and compares. @returns the answer and whether it came from the cache. */
  const ask = async (method: string, ...params: unknown[]) => {
    const { hits } = cache.report()
    const outcome = await dispatcher.dispatch({ method, params, idText: '1' })
    assert.deepEqual(textOf(outcome), textOf(await run(method, params)), JSON.stringify(params))
    return { text: textOf(outcome), hit: cache.report().hits > hits }
  }
  const rewindTo = (number: number) => {
    const db = openForWriting(datadir)
    const writer = createChainWriter(db)
    writer.begin()
    writer.rewindTo(number)
    writer.commit()
    db.close()
  }
  return { ask, rewindTo, importChain, main }
}

function textOf(outcome: Awaited<ReturnType<typeof runMethod>>): string {
  return 'error' in outcome ? JSON.stringify(outcome.error) : Buffer.from(outcome.result).toString()
}

const encode = (functionName: 'totalSupply' | 'failString' | 'failCustom' | 'failInvalid' | 'spin') =>
  encodeFunctionData({ abi, functionName })
const balance = { to: TOKEN, data: encodeFunctionData({ abi, functionName: 'balanceOf', args: [ALICE] }) }
/** Code of a contract to be made, which returns the number of its block. */
const NUMBER = { data: '0x4360005260206000f3' }

test('identical calls on a block are run once, however they are written', async (t) => {
  const { ask, main } = await openBoth(t)
  assert.equal((await ask('eth_call', balance, 'latest')).hit, false)
  const same: unknown[][] = [
    [balance, 'latest'],
    [balance],
    [balance, null],
    [balance, 'pending'],
    [balance, `0x${HEAD.toString(16)}`],
    [balance, { blockHash: formatData(main.chain.headHash()!) }],
    [{ data: balance.data, to: TOKEN.toUpperCase().replace('0X', '0x'), unknown: 1 }, 'latest'],
    [{ ...balance, gas: null, from: undefined }, 'latest'],
  ]
  for (const params of same) assert.equal((await ask('eth_call', ...params)).hit, true, JSON.stringify(params))
  const others: unknown[][] = [
    [balance, '0x20'],
    [{ ...balance, from: ALICE }, 'latest'],
    [{ ...balance, gas: '0xfffff' }, 'latest'],
    [{ ...balance, value: '0x0' }, 'latest'],
    [{ ...balance, accessList: [] }, 'latest'],
    [{ ...balance, accessList: [{ address: TOKEN, storageKeys: [] }] }, 'latest'],
    [{ to: TOKEN, data: encode('totalSupply') }, 'latest'],
    [NUMBER, 'latest'],
  ]
  for (const params of others) {
    assert.equal((await ask('eth_call', ...params)).hit, false, JSON.stringify(params))
    assert.equal((await ask('eth_call', ...params)).hit, true, JSON.stringify(params))
  }
  assert.equal((await ask('eth_estimateGas', balance, 'latest')).hit, false, 'another method')
  assert.equal((await ask('eth_estimateGas', balance, 'latest')).hit, true)
})

test('what is refused has no share in the answers of calls that look like it', async (t) => {
  const { ask } = await openBoth(t)
  await ask('eth_call', {}, 'latest')
  await ask('eth_call', balance, 'latest')
  await ask('eth_call', { ...balance, accessList: [{ address: TOKEN, storageKeys: [] }] }, 'latest')
  const refused: unknown[][] = [
    [[], 'latest'],
    ['', 'latest'],
    [7, 'latest'],
    [{ ...balance, accessList: [{ address: TOKEN, storagekeys: [] }] }, 'latest'],
    [{ to: TOKEN, data: `${balance.data} ` }, 'latest'],
    [{ ...balance, chainId: '0x1' }, 'latest'],
    [balance, 'newest'],
    [balance, `0x${(HEAD + 1).toString(16)}`],
    [{ ...balance, data: '0x0', input: '0x' }, 'latest'],
  ]
  for (const params of refused) {
    const { text, hit } = await ask('eth_call', ...params)
    assert.match(text, /"code":-32/, JSON.stringify(params))
    assert.equal(hit, false, JSON.stringify(params))
  }
})

test('reverts and other failures of the execution are kept, what is about the server is not', async (t) => {
  const { ask } = await openBoth(t)
  for (const name of ['failString', 'failCustom', 'failInvalid'] as const) {
    const params = [{ to: REVERTER, data: encode(name), gas: '0xfffff' }, 'latest']
    const { text } = await ask('eth_call', ...params)
    assert.match(text, /"code":/)
    assert.deepEqual(await ask('eth_call', ...params), { text, hit: true })
  }
  const endless = { to: REVERTER, data: encode('spin'), gas: '0xfffff' }
  assert.match((await ask('eth_call', endless, 'latest')).text, /out of gas/)
  assert.equal((await ask('eth_call', endless, 'latest')).hit, true)
  const context = { limits: DEFAULT_LIMITS } as Parameters<NonNullable<typeof CALL_CACHING.keepsError>>[1]
  const passing: [number, string][] = [
    [-32000, 'execution aborted (timeout = 5s)'],
    [-32000, 'header not found'],
    [-32000, 'historical state 7 is not available'],
    [-32005, 'server busy'],
    [-32603, 'internal error'],
    [-32602, 'invalid argument 0: call: expected an object, got []'],
  ]
  for (const [code, message] of passing)
    assert.equal(CALL_CACHING.keepsError!({ code, message }, context), false, message)
})

test('another head has other answers, and the old one its own when it is there again', async (t) => {
  const { ask, rewindTo, importChain } = await openBoth(t)
  const number = async () => {
    const { text, hit } = await ask('eth_call', NUMBER, 'latest')
    return { number: Number(JSON.parse(text)), hit }
  }
  assert.deepEqual(await number(), { number: HEAD, hit: false })
  assert.deepEqual(await number(), { number: HEAD, hit: true })
  rewindTo(HEAD - 5)
  assert.deepEqual(await number(), { number: HEAD - 5, hit: false })
  assert.deepEqual(await number(), { number: HEAD - 5, hit: true })
  assert.match((await ask('eth_call', NUMBER, `0x${HEAD.toString(16)}`)).text, /header not found/)
  await importChain()
  assert.deepEqual(await number(), { number: HEAD, hit: true })
  const { text, hit } = await ask('eth_call', NUMBER, `0x${(HEAD - 5).toString(16)}`)
  assert.deepEqual([Number(JSON.parse(text)), hit], [HEAD - 5, true])
})
