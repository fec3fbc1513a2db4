import assert from 'node:assert/strict'
import { after, describe, it, type TestContext } from 'node:test'
import { decodeBlock, encodeBlock } from '../../../src/chain/eth/block.js'
import { hashHeader } from '../../../src/chain/eth/header.js'
import type { Block } from '../../../src/chain/eth/types.js'
import { formatData, formatQuantity, parseHex } from '../../../src/lib/hex.js'
import { noProgress } from '../../../src/lib/progress.js'
import { formatUncle } from '../../../src/rpc/eth/format/block.js'
import { SenderRecovery } from '../../../src/sources/senders/senderRecovery.js'
import type { RawBlock } from '../../../src/sources/source.js'
import { ChainReorganized } from '../../../src/sources/upstreams/errors.js'
import type { UpstreamLimits, UpstreamRange } from '../../../src/sources/upstreams/types.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { openWritableChain } from '../../../src/sync/chainState.js'
import { importBlocks } from '../../../src/sync/pipeline.js'
import { fixtureGenesis } from '../../support/chains/fixture.js'
import { openFixtureAnswers } from '../../support/chains/fixtureAnswers.js'
import { CHAIN_ID } from '../../support/chains/fixtureChain.js'
import { describeRaw, keepLog, openFixtureRpc, readChain } from '../../support/chains/rightChain.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { type ChainAnswers, type Fault, startScriptedUpstream } from '../../support/upstream/scriptedUpstream.js'

/** A node that has these blocks, without receipts. */
function answersOf(blocks: readonly Block[]): ChainAnswers {
  const find = (id: unknown) =>
    blocks.find(({ hash, header }) => formatData(hash) === id || formatQuantity(header.number) === id)
  return {
    head: blocks.length - 1,
    close: () => {},
    result: async (method, [id]) => {
      if (method === 'eth_chainId') return formatQuantity(CHAIN_ID)
      const block = find(id)
      if (!block) return null
      return method === 'debug_getRawBlock' ? formatData(encodeBlock(block)) : formatUncle(block.header, undefined)
    },
  }
}

/** Block 5 over another parent, with a right hash of its own. */
const UNLINKED: Fault = {
  name: 'unlinked',
  result: ({ method, params }, result) => {
    if (method !== 'debug_getRawBlock' || params[0] !== '0x5') return result
    const block = decodeBlock(parseHex(result as string))
    block.header.parentHash = new Uint8Array(32).fill(7)
    return formatData(encodeBlock(block))
  },
}

const { chain, answers } = await openFixtureAnswers({ after })

describe('prefetched blocks', () => {
  const start = async (t: TestContext, fault?: Fault) => {
    const upstream = await startScriptedUpstream(answers, fault)
    t.after(() => upstream.close())
    return upstream
  }
  const open = (t: TestContext, urls: string[], limits?: Partial<UpstreamLimits>, onLie = () => {}) => {
    const { log, lines } = keepLog(({ message }) => /quarantined/.test(message) && onLie())
    const rpc = openFixtureRpc(chain[0].block.hash, urls, { log, limits })
    t.after(() => rpc.close())
    const read = async (range: UpstreamRange) => {
      const blocks: RawBlock[] = []
      for await (const raw of rpc.blocks(range)) blocks.push(raw)
      return blocks.map(({ block }) => formatData(block.hash))
    }
    return { rpc, lines, read }
  }
  const hashes = (from: number, to: number) => chain.slice(from, to + 1).map(({ block }) => formatData(block.hash))

  it('begin and end where the range says', async (t) => {
    const { read } = open(t, [(await start(t)).url])
    assert.deepEqual(await read({ from: 17, to: 23, parentHash: chain[16].block.hash }), hashes(17, 23))
    assert.deepEqual(await read({ from: 5, to: 4 }), [])
  })

  it('come in order when the answers do not', async (t) => {
    const { read } = open(t, [(await start(t)).url], { maxBatch: 2 })
    assert.deepEqual(await read({ from: 0, to: 60 }), hashes(0, 60))
  })

  it('are no more than the limits allow while they are not consumed', async (t) => {
    const upstream = await start(t)
    const asked = () => upstream.requests.flat().filter((method) => method === 'debug_getRawBlock').length
    const firstOf = async (limits: Partial<UpstreamLimits>) => {
      const { rpc } = open(t, [upstream.url], limits)
      const before = asked()
      const blocks = rpc.blocks({ from: 0, to: 60 })[Symbol.asyncIterator]()
      await blocks.next()
      // What may be fetched beside the first block is asked for by now, or when its answer comes: later requests are
      // heads.
      for (let i = 0; i < 5; i++) await rpc.head()
      const ahead = asked() - before
      await blocks.return!()
      return ahead
    }
    assert.ok((await firstOf({ prefetchBlocks: 4 })) <= 5)
    assert.equal(await firstOf({ prefetchBytes: 1 }), 1 + 1)
  })

  it('name the upstream whose block does not link, and come when it is well again', async (t) => {
    const upstream = await start(t, UNLINKED)
    const { read, lines } = open(t, [upstream.url], {}, () => {
      upstream.fault = undefined
    })
    assert.deepEqual(await read({ from: 0, to: 60 }), hashes(0, 60))
    const quarantines = lines.filter(({ message }) => /quarantined/.test(message)).map(({ fields }) => fields)
    assert.deepEqual(
      quarantines.map(({ upstream, check, blockNumber }) => [upstream, check, blockNumber]),
      [[upstream.url, 'parent hash', 5]],
    )
  })

  it('come from another upstream when one does not link', async (t) => {
    const [faulty, well] = [await start(t, UNLINKED), await start(t)]
    const { read } = open(t, [faulty.url, well.url])
    assert.deepEqual(await read({ from: 0, to: 60 }), hashes(0, 60))
  })

  it('end with an error of their own when the chain was reorganized', async (t) => {
    const { read, rpc } = open(t, [(await start(t)).url])
    const other = new Uint8Array(32).fill(3)
    await assert.rejects(read({ from: 9, to: 60, parentHash: other }), (error) => {
      assert.ok(error instanceof ChainReorganized)
      assert.deepEqual([error.blockNumber, error.expectedParent], [9, other])
      return true
    })
    assert.equal(rpc.status()[0].invalidResponses, 0)
  })

  describe('of two upstreams on two forks', () => {
    /** From block 30 on other blocks, whose hashes and links are right. */
    const startFork = async (t: TestContext) => {
      const fork: Block[] = []
      for (const { block } of chain) {
        const { number } = block.header
        const extraData = number < 30 ? block.header.extraData : new Uint8Array([7])
        const header = { ...block.header, extraData, parentHash: fork[number - 1]?.hash ?? block.header.parentHash }
        fork.push({ ...block, header, hash: hashHeader(header) })
      }
      const upstream = await startScriptedUpstream(answersOf(fork))
      t.after(() => upstream.close())
      return { upstream, fork: fork.map(({ hash }) => formatData(hash)) }
    }

    it('stay on the fork that they began on', async (t) => {
      const [{ upstream: other }, own] = [await startFork(t), await start(t)]
      const { read, rpc } = open(t, [other.url, own.url])
      assert.deepEqual(await read({ from: 35, to: 60, parentHash: chain[34].block.hash }), hashes(35, 60))
      assert.deepEqual(
        rpc.status().map(({ invalidResponses }) => invalidResponses),
        [0, 0],
      )
    })

    it('end as reorganized when only the other fork is left', async (t) => {
      const [{ upstream: other, fork }, own] = [await startFork(t), await start(t)]
      const { rpc, read } = open(t, [own.url, other.url], { prefetchBlocks: 2 })
      const first: string[] = []
      await assert.rejects(async () => {
        for await (const { block } of rpc.blocks({ from: 31, to: 60 })) {
          first.push(formatData(block.hash))
          if (block.header.number === 40) await own.close()
        }
      }, ChainReorganized)
      assert.deepEqual(first, hashes(31, 30 + first.length))
      assert.deepEqual(await read({ from: 30, to: 60, parentHash: chain[29].block.hash }), fork.slice(30, 61))
    })
  })

  it('are the same with senders that another thread recovers', async (t) => {
    const upstream = await start(t)
    const senderRecovery = new SenderRecovery({ cores: 2, minTransactions: 0 })
    t.after(() => senderRecovery.close())
    const { log, lines } = keepLog()
    const rpc = openFixtureRpc(chain[0].block.hash, [upstream.url], { log, senderRecovery })
    t.after(() => rpc.close())
    const read: string[] = []
    for await (const { block } of rpc.blocks({ from: 0, to: chain.length - 1 })) read.push(describeRaw({ block }))
    assert.deepEqual(
      read,
      chain.map(({ block }) => describeRaw({ block })),
    )
    assert.equal(senderRecovery.isRunning, true)
    assert.ok(lines.every(({ level }) => level !== 'warn' && level !== 'error'))
  })

  it('wait at the head for new blocks without an end, until the signal aborts', async (t) => {
    const upstream = await start(t)
    upstream.head = 20
    const { rpc } = open(t, [upstream.url])
    const stop = new AbortController()
    const read: string[] = []
    await assert.rejects(async () => {
      for await (const { block } of rpc.blocks({ from: 15, signal: stop.signal })) {
        read.push(formatData(block.hash))
        if (block.header.number === 20) upstream.head = 40
        if (block.header.number === 40) stop.abort(new Error('stopped'))
      }
    }, /stopped/)
    assert.deepEqual(read, hashes(15, 40))
  })

  for (const stateMode of ['execute', 'none'] as const) {
    it(`are imported with --state ${stateMode}`, async (t) => {
      const upstream = await start(t)
      const { log } = keepLog()
      const rpc = openFixtureRpc(chain[0].block.hash, [upstream.url], { log, withReceipts: stateMode === 'none' })
      t.after(() => rpc.close())
      const target = temporaryDirectory(t)
      const db = openForWriting(target)
      t.after(() => db.close())
      const writable = await openWritableChain(db, { genesis: fixtureGenesis() }, stateMode)
      const source = rpc.source({ to: chain.length - 1 })
      const { imported } = await importBlocks(writable, source, { progress: noProgress })
      assert.equal(imported, stateMode === 'none' ? chain.length : chain.length - 1)
      assert.equal(source.kind, 'upstream')
      const held = readChain(target)
      assert.deepEqual(held.map(describeRaw), chain.map(describeRaw))
      assert.deepEqual(
        held.map(({ totalDifficulty }) => totalDifficulty),
        chain.map(({ totalDifficulty }) => totalDifficulty),
      )
    })
  }
})
