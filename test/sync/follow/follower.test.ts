import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditTrieHistory } from '../../../src/audit/stateTrie.js'
import { hashHeader } from '../../../src/chain/eth/header.js'
import type { Block } from '../../../src/chain/eth/types.js'
import { createTrieHistory } from '../../../src/store/state/trieHistory.js'
import { ReorgBelowFinalized } from '../../../src/sync/head/errors.js'
import { growBranch, openBranches } from '../../support/chains/branches.js'
import { compareRows } from '../../support/compare/compareChains.js'
import { type SeededRandom, seededRandom } from '../../support/random.js'
import { resultOf } from '../../support/rpcClient.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { followHere } from '../../support/upstream/followHere.js'
import { startForkingUpstream } from '../../support/upstream/forkingUpstream.js'

type After = { after(callback: () => void | Promise<void>): void }

async function openHere(t: After) {
  const datadir = temporaryDirectory(t)
  const { db, chain } = await openBranches(datadir)
  t.after(() => void db.close())
  return { datadir, db, chain }
}

function grow(t: After, random: SeededRandom, trunk: readonly Block[], count: number): Promise<Block[]> {
  return growBranch(temporaryDirectory(t), { trunk, count, random })
}

for (const transport of ['url', 'wsUrl'] as const) {
  test(`follows appends and forks of random depth over ${transport === 'url' ? 'HTTP' : 'WebSocket'}`, async (t) => {
    const random = seededRandom(141)
    let trunk = await grow(t, random, [], 12)
    const upstream = await startForkingUpstream(t, trunk)
    const { datadir, chain } = await openHere(t)
    const followed = followHere(t, chain, [upstream[transport]])
    await followed.reaches(trunk.at(-1)!.hash)
    let forks = 0
    for (let step = 0; step < (transport === 'url' ? 8 : 4); step++) {
      const depth = step % 2 === 0 ? 1 + random.below(trunk.length - 1) : 0
      const kept = trunk.slice(0, trunk.length - depth)
      const added = await grow(t, random, kept, depth + random.below(3) + (depth === 0 ? 1 : 0))
      trunk = [...kept, ...added]
      if (depth > 0) forks++
      await upstream.become(trunk)
      await followed.reaches(trunk.at(-1)!.hash)
      compareRows(datadir, upstream.datadir, `step ${step}, depth ${depth}`)
    }
    const { reorgs, block, state, upstreamBlock } = followed.follower.figures.status()
    assert.deepEqual(
      { reorgs, block, state, upstreamBlock },
      { reorgs: forks, block: trunk.length, state: 'following', upstreamBlock: trunk.length },
    )
    const kinds = new Set(followed.events.map(({ kind }) => kind))
    assert.deepEqual([...kinds].sort(), ['append', 'finalized', 'reorg'])
  })
}

test('a branch that is announced block by block is followed to its end in one reorg', async (t) => {
  const random = seededRandom(146)
  const trunk = await grow(t, random, [], 9)
  const upstream = await startForkingUpstream(t, trunk)
  const { chain } = await openHere(t)
  const followed = followHere(t, chain, [upstream.url])
  await followed.reaches(trunk[8].hash)
  const other = [...trunk.slice(0, 4), ...(await grow(t, random, trunk.slice(0, 4), 8))]
  const { fault } = upstream.scripted
  const blockOf = (id: string) => resultOf(upstream.url, 'eth_getBlockByNumber', [id, false])
  let shownHead = await blockOf('latest')
  let times = Number.POSITIVE_INFINITY
  upstream.scripted.fault = {
    name: 'announces a new branch block by block',
    result: (call, right) => (call.params[0] === 'latest' && times-- > 0 ? shownHead : fault!.result!(call, right)),
  }
  await upstream.become(other)
  shownHead = await blockOf('0x5')
  times = 1
  await followed.reaches(other[11].hash)
  const [reorg, ...later] = followed.events.slice(followed.events.findIndex(({ kind }) => kind === 'reorg'))
  assert.ok(reorg.kind === 'reorg')
  assert.deepEqual([reorg.ancestor.number, reorg.removed.length, reorg.added.length], [4, 5, 8])
  assert.ok(later.every(({ kind }) => kind === 'finalized'))
})

test('the tries of blocks that come together, in a gap or a reorg, stay readable', async (t) => {
  const random = seededRandom(149)
  let trunk = await grow(t, random, [], 12)
  const upstream = await startForkingUpstream(t, trunk)
  const { db, chain } = await openHere(t)
  const followed = followHere(t, chain, [upstream.url])
  await followed.reaches(trunk.at(-1)!.hash)
  for (const [removed, added] of [
    [0, 5],
    [3, 6],
    [0, 1],
    [1, 1],
    [6, 7],
  ]) {
    const kept = trunk.slice(0, trunk.length - removed)
    trunk = [...kept, ...(await grow(t, random, kept, added))]
    await upstream.become(trunk)
    await followed.reaches(trunk.at(-1)!.hash)
    assert.equal(createTrieHistory(db).from(trunk.length), 0)
  }
  await followed.stop()
  assert.equal(auditTrieHistory(db), trunk.length)
})

test('safe and finalized are those of the upstream and never go back', async (t) => {
  const random = seededRandom(142)
  const trunk = await grow(t, random, [], 10)
  const upstream = await startForkingUpstream(t, trunk.slice(0, 8))
  upstream.tags = { safe: 6, finalized: 4 }
  const { chain } = await openHere(t)
  const followed = followHere(t, chain, [upstream.wsUrl])
  await followed.finalizes(4)
  assert.deepEqual(chain.reader.finality(), { safe: 6, finalized: 4 })
  upstream.tags = { safe: 2, finalized: 1 }
  await upstream.become(trunk.slice(0, 9))
  await followed.reaches(trunk[8].hash)
  upstream.tags = { safe: 9, finalized: 7 }
  await upstream.become(trunk)
  await followed.finalizes(7)
  assert.deepEqual(chain.reader.finality(), { safe: 9, finalized: 7 })
  const reported = followed.events.flatMap((event) => (event.kind === 'finalized' ? [event.finalized] : []))
  assert.deepEqual(reported, [0, 4, 7])
})

test('a fork below the finalized block ends following, and leaves the chain as it was', async (t) => {
  const random = seededRandom(143)
  const trunk = await grow(t, random, [], 9)
  const upstream = await startForkingUpstream(t, trunk)
  upstream.tags = { safe: 7, finalized: 6 }
  const { datadir, chain } = await openHere(t)
  const followed = followHere(t, chain, [upstream.wsUrl])
  await followed.finalizes(6)
  const before = upstream.datadir
  const other = [...trunk.slice(0, 4), ...(await grow(t, random, trunk.slice(0, 4), 8))]
  await upstream.become(other)
  await assert.rejects(followed.ended, (error) => {
    assert.ok(error instanceof ReorgBelowFinalized)
    assert.deepEqual([error.ancestor, error.finalized], [4, 6])
    return true
  })
  compareRows(datadir, before, 'after the fork')
})

/** The blocks with a wrong state root in the one at `index`, and the later ones linked to it. */
function withWrongRoot(blocks: readonly Block[], index: number): Block[] {
  let parent: Uint8Array | undefined
  return blocks.map((block, i) => {
    if (i < index) return block
    const header = { ...block.header, parentHash: parent ?? block.header.parentHash }
    if (i === index) header.stateRoot = new Uint8Array(32).fill(9)
    parent = hashHeader(header)
    return { ...block, header, hash: parent }
  })
}

for (const depth of [0, 2]) {
  const where = depth === 0 ? 'on top of the head' : 'of a fork'
  test(`a block ${where} that is refused is not stored; its upstream is quarantined, the right chain is followed`, async (t) => {
    const random = seededRandom(144)
    const trunk = await grow(t, random, [], 6)
    const upstream = await startForkingUpstream(t, trunk)
    const { datadir, chain } = await openHere(t)
    const followed = followHere(t, chain, [upstream.url])
    await followed.reaches(trunk[5].hash)
    const kept = trunk.slice(0, 6 - depth)
    const branch = await grow(t, random, kept, 4)
    // A node that has stored the wrong blocks without executing them.
    await upstream.serveUnseen([...kept, ...withWrongRoot(branch, 2)])
    const quarantine = await followed.logs(/quarantined/)
    assert.ok(chain.head.newest!.header.number <= 8)
    await upstream.become([...kept, ...branch])
    await followed.reaches(branch[3].hash)
    compareRows(datadir, upstream.datadir, 'at the end')
    assert.deepEqual([quarantine.fields.check, quarantine.fields.blockNumber], ['state root', 9 - depth])
  })
}
