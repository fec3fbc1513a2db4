import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConsensusDriver } from '../support/engine/consensusDriver.js'
import { callEngine, makeToken } from '../support/engine/engineClient.js'
import { startCairnEngine, startGethEngine } from '../support/engine/engineServers.js'
import { createPayloadChain } from '../support/engine/payloadChain.js'
import { DIFFERENCES, SideBySide } from '../support/engine/sideBySide.js'
import { seededRandom } from '../support/random.js'
import { ask, resultOf } from '../support/rpcClient.js'
import { SKIP_GETH } from '../support/upstream/geth.js'

const NEVER = Number.POSITIVE_INFINITY
const ALL_SHANGHAI = { shanghai: 0, cancun: NEVER, prague: NEVER, osaka: NEVER, amsterdam: NEVER }

test('payloads and fork choices are answered as geth does', { skip: SKIP_GETH }, async (t) => {
  const random = seededRandom(35)
  const forks = { shanghai: 4, cancun: 8, prague: 14, osaka: 20, amsterdam: 26 }
  const chain = await createPayloadChain(t, { random, forks })
  const nodes = new SideBySide(
    ...(await Promise.all([
      startGethEngine(t, chain.genesis),
      startCairnEngine(t, { genesis: chain.genesis, args: ['--block-access-lists=on'] }),
    ])),
  )
  const driver = new ConsensusDriver(nodes, chain, random)
  for (let i = 0; i < 6; i++) await driver.extend()
  await driver.invalid()
  await driver.reorg(2)
  await driver.miss()
  await driver.oldHead()
  await driver.repeat()
  await driver.invalidBranch()
  while (chain.head < 30) await driver.step(6)
  await driver.invalid()
  await driver.finalize(8)
  await driver.againstFinality()
  await driver.differing()
  await driver.compareChains()
  t.diagnostic(JSON.stringify({ ...driver.counts, requests: nodes.requests, differences: [...nodes.seen] }))
  assert.ok(driver.counts.payloads > 60)
  assert.deepEqual([...nodes.seen.keys()].sort(), Object.keys(DIFFERENCES).sort())
})

test('only a fresh token of the secret is accepted, and no web page', async (t) => {
  const chain = await createPayloadChain(t, { random: seededRandom(1), forks: ALL_SHANGHAI })
  const cairn = await startCairnEngine(t, { genesis: chain.genesis })
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'engine_exchangeCapabilities', params: [[]] })
  const post = (headers: { [name: string]: string }, method = 'POST') =>
    fetch(cairn.engineUrl, { method, headers, ...(method === 'POST' && { body }) })
  const now = Math.floor(Date.now() / 1000)
  const withToken = (options: Parameters<typeof makeToken>[0]) =>
    post({ authorization: `Bearer ${makeToken(options)}` })
  const good = await withToken({})
  assert.equal(good.status, 200)
  const { result } = (await good.json()) as { result: string[] }
  assert.ok(result.includes('engine_newPayloadV5') && !result.includes('engine_exchangeCapabilities'))
  assert.equal((await withToken({ claims: { iat: now - 50 } })).status, 200)
  const refused = [
    await post({}),
    await post({ authorization: 'Bearer x' }),
    await withToken({ claims: { iat: now - 100 } }),
    await withToken({ claims: { iat: now + 100 } }),
    await withToken({ claims: {} }),
    await withToken({ claims: { iat: now, exp: now - 1 } }),
    await withToken({ header: { alg: 'none' } }),
    await withToken({ header: { alg: 'HS512' } }),
    await withToken({ secret: Buffer.alloc(32, 1) }),
    await post({ authorization: `Bearer ${makeToken().split('.').slice(0, 2).join('.')}.` }),
  ]
  assert.deepEqual(
    refused.map(({ status }) => status),
    refused.map(() => 401),
  )
  const fromPage = { authorization: `Bearer ${makeToken()}`, origin: 'http://localhost' }
  const answer = await post(fromPage)
  assert.equal(answer.headers.get('access-control-allow-origin'), null)
  const preflight = await post({ origin: 'http://localhost', 'access-control-request-method': 'POST' }, 'OPTIONS')
  assert.equal(preflight.status, 405)
  assert.equal(preflight.headers.get('access-control-allow-origin'), null)
})

test('what is no call of the Engine API is answered with its error', async (t) => {
  const chain = await createPayloadChain(t, { random: seededRandom(2), forks: ALL_SHANGHAI })
  const cairn = await startCairnEngine(t, { genesis: chain.genesis })
  const { payload } = await chain.add()
  const [fields] = payload.params as [object]
  const codeOf = async (method: string, ...params: unknown[]) =>
    (await callEngine(cairn.engineUrl, method, params)).error?.code
  const state = { headBlockHash: payload.hash, safeBlockHash: chain.genesisHash, finalizedBlockHash: chain.genesisHash }
  assert.equal(await codeOf('engine_newPayloadV9', fields), -32601)
  assert.equal(await codeOf('engine_newPayloadV2'), -32602)
  assert.equal(await codeOf('engine_newPayloadV2', { ...fields, stateRoot: '0x12' }), -32602)
  assert.equal(await codeOf('engine_newPayloadV2', { ...fields, gasUsed: `0x1${'0'.repeat(16)}` }), -32602)
  assert.equal(await codeOf('engine_newPayloadV2', { ...fields, withdrawals: null }), -32602)
  assert.equal(await codeOf('engine_newPayloadV1', fields), -32602)
  assert.equal(await codeOf('engine_newPayloadV3', { ...fields, blobGasUsed: '0x0', excessBlobGas: '0x0' }), -32602)
  const cancun = { ...fields, blobGasUsed: '0x0', excessBlobGas: '0x0' }
  assert.equal(await codeOf('engine_newPayloadV3', cancun, [], state.headBlockHash), -38005)
  assert.equal(await codeOf('engine_forkchoiceUpdatedV2', { headBlockHash: payload.hash }), -32602)
  assert.equal(await codeOf('engine_getPayloadV2', '0x0000000000000001'), -38001)
  assert.equal(await codeOf('engine_getPayloadBodiesByHashV1', Array(33).fill(payload.hash)), -38004)
  assert.equal(await codeOf('engine_getPayloadBodiesByRangeV1', '0x0', '0x1'), -32602)
  const notAPayload = await callEngine(cairn.engineUrl, 'engine_newPayloadV2', [{ ...fields, transactions: ['0xc0'] }])
  assert.equal((notAPayload.result as { status: string }).status, 'INVALID')
  // With attributes the fork choice is applied, and no payload is built.
  await callEngine(cairn.engineUrl, payload.method, payload.params)
  const attributes = {
    timestamp: '0x7fffffff',
    prevRandao: payload.hash,
    suggestedFeeRecipient: `0x${'11'.repeat(20)}`,
    withdrawals: [],
  }
  assert.equal(await codeOf('engine_forkchoiceUpdatedV2', state, attributes), -38003)
  assert.equal(await resultOf(cairn.url, 'eth_blockNumber'), '0x1')
  const eth = await callEngine(cairn.engineUrl, 'eth_getBlockByNumber', ['latest', false])
  assert.equal((eth.result as { hash: string }).hash, payload.hash)
  assert.equal(await codeOf('eth_gasPrice'), -32601)
  // Reverts with the word 0x2a and 4,064 zeros.
  const reverts = [{ data: '0x602a6000526110006000fd' }, 'latest']
  const { error } = await callEngine(cairn.engineUrl, 'eth_call', reverts)
  assert.deepEqual(error, (await ask(cairn.url, 'eth_call', reverts)).error)
  assert.equal((error as { data?: string } | undefined)?.data, `0x${'2a'.padStart(64, '0').padEnd(8192, '0')}`)
  const { headSource } = await resultOf<{ headSource: string }>(cairn.url, 'cairn_getStatus')
  assert.equal(headSource, 'consensus client')
})
