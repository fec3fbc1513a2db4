import assert from 'node:assert/strict'
import { after, describe, it, type TestContext } from 'node:test'
import { InvalidBlock } from '../../../src/chain/eth/invalidBlock.js'
import { formatData } from '../../../src/lib/hex.js'
import { openEthRpc } from '../../../src/sources/ethRpc/ethRpc.js'
import { UpstreamsClosed, WrongChain } from '../../../src/sources/upstreams/errors.js'
import { openFixtureAnswers } from '../../support/chains/fixtureAnswers.js'
import { CHAIN_ID } from '../../support/chains/fixtureChain.js'
import {
  createStandingClock,
  describeRaw,
  FAST_CLOCK,
  keepLog,
  openFixtureRpc,
} from '../../support/chains/rightChain.js'
import { type Fault, RpcFailure, startScriptedUpstream } from '../../support/upstream/scriptedUpstream.js'

const { chain, answers } = await openFixtureAnswers({ after })

describe('ethRpc', () => {
  const start = async (t: TestContext, fault?: Fault) => {
    const upstream = await startScriptedUpstream(answers, fault)
    t.after(() => upstream.close())
    return upstream
  }
  const open = (t: TestContext, urls: string[], options: { chainId?: bigint; withReceipts?: boolean } = {}) => {
    const { log, lines } = keepLog()
    const rpc = openFixtureRpc(chain[0].block.hash, urls, { log, ...options })
    t.after(() => rpc.close())
    return { rpc, lines }
  }

  it('refuses an upstream of another chain id at the start, by name and with both values', async (t) => {
    const [well, other] = [await start(t), await start(t, { name: 'chain id', result: chainIdOf('0x1') })]
    const { rpc } = open(t, [well.url, other.url])
    await assert.rejects(rpc.start(), (error) => {
      assert.ok(error instanceof WrongChain)
      assert.deepEqual(
        [error.upstream, error.what, error.expected, error.actual],
        [other.url, 'chain id', String(CHAIN_ID), '1'],
      )
      return true
    })
  })

  it('refuses an upstream of another genesis, at the start and when it is reached later', async (t) => {
    const [well, other] = [await start(t), await start(t)]
    const { log, lines } = keepLog()
    const urls = [well.url, other.url]
    const rpc = openFixtureRpc(chain[1].block.hash, urls, { log, clock: createStandingClock() })
    t.after(() => rpc.close())
    await assert.rejects(
      rpc.start(),
      new RegExp(`genesis hash: expected ${formatData(chain[1].block.hash)}.*${formatData(chain[0].block.hash)}`),
    )
    await assert.rejects(rpc.head(), WrongChain)
    assert.deepEqual(
      rpc.status().map(({ state }) => state),
      ['refused', 'refused'],
    )
    assert.ok(lines.some(({ level, message }) => level === 'error' && /another chain/.test(message)))
  })

  it('waits for an upstream that comes back with another chain until it has this one again', async (t) => {
    const upstream = await start(t)
    const { rpc, lines } = open(t, [upstream.url])
    const { hash } = await rpc.head()
    upstream.fault = {
      name: 'another chain after the connection was lost',
      times: 2, // a kept connection is tried twice
      respond: (response) => response.destroy(),
      result: ({ method }, right) => (method === 'eth_chainId' ? '0x1' : right),
    }
    const head = rpc.head()
    const isRefused = () => lines.some(({ message }) => /is of another chain/.test(message))
    while (!isRefused()) await Promise.race([head, new Promise((resolve) => setTimeout(resolve, 2))])
    upstream.fault = undefined
    assert.deepEqual((await head).hash, hash)
  })

  it('gives undefined for what one upstream does not have while the other one fails', async (t) => {
    const [behind, down] = [await start(t), await start(t, { name: 'down', respond: (response) => response.destroy() })]
    behind.head = 10
    const { rpc } = open(t, [behind.url, down.url])
    assert.equal(await rpc.headerByNumber(20), undefined)
    assert.equal(await rpc.getBlock(20), undefined)
  })

  it('starts while an upstream is down, and with one that has pruned block 0', async (t) => {
    const pruned: Fault = { name: 'pruned', result: ({ params }, result) => (params[0] === '0x0' ? null : result) }
    const upstream = await start(t, pruned)
    const { rpc } = open(t, ['http://127.0.0.1:1', upstream.url])
    await rpc.start()
    assert.equal((await rpc.head()).header.number, chain.length - 1)
  })

  for (const lacks of [
    [],
    ['debug_getRawBlock', 'debug_getRawReceipts'],
    ['debug_getRawBlock', 'debug_getRawReceipts', 'eth_getBlockReceipts'],
  ]) {
    it(`gives blocks by number, hash and tag without ${lacks.join(', ') || 'a method missing'}`, async (t) => {
      const upstream = await start(t, { name: 'lacks', lacks })
      const { rpc } = open(t, [upstream.url], { withReceipts: true })
      for (const raw of [chain[2], chain[31], chain[44]]) {
        assert.equal(describeRaw((await rpc.getBlock(raw.block.header.number))!), describeRaw(raw))
        assert.equal(describeRaw((await rpc.getBlock(raw.block.hash))!), describeRaw(raw))
      }
      assert.equal(describeRaw((await rpc.getBlock('earliest'))!), describeRaw(chain[0]))
      assert.equal(describeRaw((await rpc.getBlock('latest'))!), describeRaw(chain[chain.length - 1]))
      assert.equal(await rpc.getBlock(1000), undefined)
      assert.equal(await rpc.getBlock(new Uint8Array(32).fill(9)), undefined)
      // A missing method is asked for once, not for each block.
      for (const method of lacks) assert.ok(upstream.requests.filter(([first]) => first === method).length <= 1)
    })
  }

  it('gives headers by number, hash and tag', async (t) => {
    const { rpc } = open(t, [(await start(t)).url])
    const { hash, header } = chain[7].block
    assert.equal(formatData((await rpc.headerByNumber(7))!.hash), formatData(hash))
    const byHash = await rpc.headerByHash(hash)
    assert.deepEqual([byHash!.header.number, byHash!.totalDifficulty], [header.number, chain[7].totalDifficulty])
    assert.equal(await rpc.headerByNumber(1000), undefined)
    assert.equal((await rpc.taggedHeader('finalized'))!.header.number, chain.length - 1)
  })

  it('gives undefined for tags that the upstream does not support', async (t) => {
    const fault: Fault = {
      name: 'no tags',
      result: ({ params }, result) => {
        if (params[0] === 'safe') throw new RpcFailure(-32602, 'invalid block tag')
        return params[0] === 'finalized' ? null : result
      },
    }
    const { rpc } = open(t, [(await start(t, fault)).url])
    assert.equal(await rpc.taggedHeader('safe'), undefined)
    assert.equal(await rpc.taggedHeader('finalized'), undefined)
    assert.equal(rpc.status()[0].state, 'ok')
  })

  it('puts the upstream of a block aside that a later check refuses', async (t) => {
    const [first, second] = [await start(t), await start(t)]
    const { rpc, lines } = open(t, [first.url, second.url])
    const raw = (await rpc.getBlock(5))!
    const { number, hash } = { number: 5, hash: raw.block.hash }
    rpc.reportInvalid(raw, new InvalidBlock({ blockNumber: number, blockHash: hash, check: 'state root', detail: 'x' }))
    assert.equal(rpc.status()[0].state, 'quarantined')
    assert.ok(lines.some(({ fields }) => fields.upstream === first.url && fields.check === 'state root'))
    await rpc.getBlock(6)
    assert.ok(second.requests.flat().includes('debug_getRawBlock'))
  })

  it('sends credentials, and has none in logs, errors and reports', async (t) => {
    const upstream = await start(t)
    const { log, lines } = keepLog()
    const { port } = new URL(upstream.url)
    const url = `http://user:passsecret@127.0.0.1:${port}/v3/pathsecret?token=querysecret`
    const rpc = openEthRpc({
      upstreams: [{ url, headers: { 'x-api-key': 'headersecret' } }],
      chainId: BigInt(CHAIN_ID),
      genesisHash: chain[0].block.hash,
      log,
      clock: FAST_CLOCK,
    })
    t.after(() => rpc.close())
    await rpc.start()
    assert.equal(upstream.lastHeaders['x-api-key'], 'headersecret')
    assert.equal(upstream.lastHeaders.authorization, `Basic ${Buffer.from('user:passsecret').toString('base64')}`)
    const errors: string[] = []
    const echo = 'passsecret pathsecret querysecret headersecret'
    const faults: Fault[] = [
      { name: 'error', times: 1, answers: () => ({ jsonrpc: '2.0', id: 1, error: { code: -32000, message: echo } }) },
      { name: 'lie', times: 1, answers: () => ({ jsonrpc: '2.0', id: 1, result: { number: echo, parentHash: echo } }) },
      { name: 'type', times: 1, respond: (response) => response.writeHead(200, { 'content-type': echo }).end() },
      {
        name: 'redirect',
        times: 1,
        respond: (response) => response.writeHead(302, { location: `${url}/${echo}` }).end(),
      },
      { name: 'cut', times: 1, respond: (response) => response.destroy() },
    ]
    for (const fault of faults) {
      upstream.fault = fault
      await rpc.head(AbortSignal.timeout(5000)).catch((error: Error) => errors.push(String(error.stack)))
    }
    const shown = JSON.stringify([lines, errors, rpc.status()])
    assert.ok(lines.length >= 2)
    assert.doesNotMatch(shown, /passsecret|pathsecret|querysecret|headersecret/)
    assert.match(shown, /\/v3\/…/)
  })

  it('distinguishes upstreams whose redacted URLs are the same', async (t) => {
    const { url } = await start(t)
    const { rpc } = open(t, [`${url}/keyone`, `${url}/keytwo`])
    assert.deepEqual(
      rpc.status().map(({ upstream }) => upstream),
      [`${url}/…`, `${url}/… #2`],
    )
  })

  it('rejects what runs and what waits when it is closed', async (t) => {
    const stalled = await start(t, { name: 'stalled', respond: () => {} })
    for (const url of [stalled.url, 'http://127.0.0.1:1']) {
      const { rpc, lines } = open(t, [url])
      const waiting = [rpc.head(), rpc.blocks({ from: 0 })[Symbol.asyncIterator]().next()]
      await new Promise(setImmediate)
      const countBefore = lines.length
      rpc.close()
      for (const each of waiting) await assert.rejects(each, UpstreamsClosed)
      assert.equal(lines.length, countBefore)
    }
  })

  it('gives up waiting when the signal aborts', async (t) => {
    const { rpc } = open(t, ['http://127.0.0.1:1'])
    await rpc.start()
    const stop = new AbortController()
    const head = rpc.head(stop.signal)
    stop.abort(new Error('stopped'))
    await assert.rejects(head, /stopped/)
  })
})

function chainIdOf(chainId: string): NonNullable<Fault['result']> {
  return ({ method }, result) => (method === 'eth_chainId' ? chainId : result)
}
