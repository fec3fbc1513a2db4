import assert from 'node:assert/strict'
import { after, describe, it, type TestContext } from 'node:test'
import type { UpstreamHeader } from '../../../src/sources/ethRpc/types.js'
import { openFixtureAnswers } from '../../support/chains/fixtureAnswers.js'
import { keepLog, type LogLine, openFixtureRpc } from '../../support/chains/rightChain.js'
import { type Fault, type ScriptedUpstream, startScriptedUpstream } from '../../support/upstream/scriptedUpstream.js'

const { chain, answers } = await openFixtureAnswers({ after })
const genesisHash = chain[0].block.hash

describe('the heads of an upstream', () => {
  /** Watches the heads; `next` gives the number of the next one. */
  const watch = async (t: TestContext, { fault, overWebSocket }: { fault?: Fault; overWebSocket: boolean }) => {
    const upstream = await startScriptedUpstream(answers, fault)
    upstream.head = 10
    const { log, lines } = keepLog()
    const rpc = openFixtureRpc(genesisHash, [overWebSocket ? upstream.wsUrl : upstream.url], { log })
    const stop = new AbortController()
    const heads: UpstreamHeader[] = []
    let wake = () => {}
    const watching = rpc.watchHeads((head) => {
      heads.push(head)
      wake()
    }, stop.signal)
    t.after(async () => {
      stop.abort(new Error('the test ended'))
      await watching
      rpc.close()
      await upstream.close()
    })
    const next = async (): Promise<number> => {
      while (heads.length === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      return heads.shift()!.header.number
    }
    return { upstream, next, lines }
  }

  it('are polled over HTTP, also when they go back', { timeout: 20_000 }, async (t) => {
    const { upstream, next } = await watch(t, { overWebSocket: false })
    assert.equal(await next(), 10)
    for (const number of [11, 14, 12, 13]) {
      upstream.head = number
      assert.equal(await next(), number)
    }
  })

  it('come by subscription over WebSocket', { timeout: 20_000 }, async (t) => {
    const { upstream, next } = await watch(t, { overWebSocket: true })
    assert.equal(await next(), 10)
    await subscribed(upstream)
    for (const number of [11, 12, 15]) {
      await upstream.announce(number)
      assert.equal(await next(), number)
    }
    assert.ok(upstream.requests.flat().includes('eth_subscribe'))
  })

  it('come again after the connection was lost', { timeout: 20_000 }, async (t) => {
    const { upstream, next } = await watch(t, { overWebSocket: true })
    assert.equal(await next(), 10)
    for (const number of [11, 12]) {
      await subscribed(upstream)
      upstream.cutSockets()
      await upstream.announce(number) // perhaps without a subscriber
      assert.equal(await next(), number)
    }
    await subscribed(upstream)
    await upstream.announce(13)
    assert.equal(await next(), 13)
  })

  it('are asked for when a notification fails a check, which is named', { timeout: 20_000 }, async (t) => {
    const invalid: Fault = {
      name: 'invalid',
      result: ({ method }, result) =>
        method === 'newHeads' ? { ...(result as object), stateRoot: `0x${'11'.repeat(32)}` } : result,
    }
    const { upstream, next, lines } = await watch(t, { fault: invalid, overWebSocket: true })
    assert.equal(await next(), 10)
    await subscribed(upstream)
    await upstream.announce(11)
    assert.equal(await next(), 11)
    const isNamed = ({ fields }: LogLine) => fields.check === 'newHeads.hash' && fields.upstream === upstream.wsUrl
    assert.ok(lines.some(isNamed))
  })

  it('are reported again after an answer that failed a check, also where no block came', {
    timeout: 20_000,
  }, async (t) => {
    let isWrong = false
    const fault: Fault = {
      name: 'invalid',
      result: ({ method }, result) =>
        isWrong && method === 'eth_getBlockByNumber'
          ? { ...(result as object), stateRoot: `0x${'11'.repeat(32)}` }
          : result,
    }
    const { next, lines } = await watch(t, { fault, overWebSocket: false })
    assert.equal(await next(), 10)
    isWrong = true
    while (!lines.some(({ fields }) => fields.quarantineMs !== undefined)) await new Promise(setImmediate)
    isWrong = false
    assert.equal(await next(), 10)
  })

  it('are polled over WebSocket where there are no subscriptions', { timeout: 20_000 }, async (t) => {
    const fault: Fault = { name: 'no subscriptions', lacks: ['eth_subscribe'] }
    const { upstream, next } = await watch(t, { fault, overWebSocket: true })
    assert.equal(await next(), 10)
    upstream.head = 11
    assert.equal(await next(), 11)
  })

  it('end with what the listener throws', async (t) => {
    const upstream = await startScriptedUpstream(answers)
    t.after(() => upstream.close())
    const rpc = openFixtureRpc(genesisHash, [upstream.url], { log: keepLog().log })
    t.after(() => rpc.close())
    const watching = rpc.watchHeads(() => {
      throw new Error('no more heads')
    }, new AbortController().signal)
    await assert.rejects(watching, /no more heads/)
  })
})

/** Resolves when the upstream has a subscriber and the client has asked for the head that it may have missed. */
async function subscribed(upstream: ScriptedUpstream): Promise<void> {
  const isDone = () => {
    const methods = upstream.requests.flat()
    return (
      upstream.subscribers > 0 && methods.lastIndexOf('eth_getBlockByNumber') > methods.lastIndexOf('eth_subscribe')
    )
  }
  while (!isDone()) await new Promise(setImmediate)
}
