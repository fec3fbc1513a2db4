import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Block } from '../../src/chain/eth/types.js'
import { equalBytes } from '../../src/lib/bytes.js'
import { noProgress } from '../../src/lib/progress.js'
import type { ReplicationUnit } from '../../src/replication/codec/types.js'
import { NoCommonBlockInStream } from '../../src/replication/errors.js'
import { createReplicatedChain, type ReplicatedChain } from '../../src/replication/replicatedChain.js'
import { openForReading } from '../../src/store/open.js'
import type { WritableChain } from '../../src/sync/chainState.js'
import { replaceBranch } from '../../src/sync/head/reorg.js'
import { importBlocks } from '../../src/sync/pipeline.js'
import { growBranch, openBranches } from '../support/chains/branches.js'
import { sourceOf } from '../support/chains/fixture.js'
import { decodeReplicatedBlock } from '../support/nats/decodeReplicatedBlock.js'
import { seededRandom } from '../support/random.js'
import { temporaryDirectory } from '../support/temporary.js'

const random = seededRandom(181)

const GENESIS_FINAL = { safe: 0, finalized: 0 }

interface Chain {
  chain: WritableChain
  feed: ReplicatedChain
}

async function openFeed(t: TestContext, trunk: readonly Block[]): Promise<Chain> {
  const datadir = temporaryDirectory(t)
  const { db, chain } = await openBranches(datadir)
  chain.head.finalize(GENESIS_FINAL) // files count as final: no reorg could follow
  await importBlocks(chain, sourceOf(trunk), { progress: noProgress })
  const reading = openForReading(datadir)
  t.after(() => {
    reading.close()
    db.close()
  })
  return { chain, feed: createReplicatedChain(reading) }
}

const grow = (t: TestContext, trunk: readonly Block[], count: number) =>
  growBranch(temporaryDirectory(t), { trunk, count, random })
const refOf = ({ hash, header }: Block) => ({ number: header.number, hash })
const replace = (chain: WritableChain, ancestor: number, blocks: readonly Block[]) =>
  replaceBranch(
    chain,
    ancestor,
    blocks.map((block) => ({ block })),
  )

/** A unit as text; its blocks are decoded, and must be the given ones. */
function describe(unit: ReplicationUnit, known: readonly Block[]): string {
  if (unit.kind !== 'blocks') return unit.kind
  for (const encoded of unit.blocks) {
    const { block } = decodeReplicatedBlock(encoded)
    assert.ok(
      known.some(({ hash }) => equalBytes(hash, block.hash)),
      `block ${block.header.number} is another one`,
    )
  }
  const added = unit.blocks.map(({ number }) => number).join(' ')
  return unit.ancestor ? `from ${unit.ancestor.number}: ${added}` : added
}

test('gives the blocks after the head of a replica, one a unit, and nothing at the head', async (t) => {
  const trunk = await grow(t, [], 6)
  const { feed } = await openFeed(t, trunk)
  const described = feed.next({ locator: [refOf(trunk[2])] }, undefined).map((unit) => describe(unit, trunk))
  assert.deepEqual(described, ['4', '5', '6'])
  assert.deepEqual(feed.next({ locator: [refOf(trunk[5])] }, GENESIS_FINAL), [])
})

for (const depth of [1, 3, 32]) {
  test(`a reorg of ${depth} blocks is one unit with the common ancestor, for a replica anywhere on the old branch`, async (t) => {
    const trunk = await grow(t, [], 34)
    const ancestor = trunk.length - depth
    const branch = await grow(t, trunk.slice(0, ancestor), depth + 1)
    const { chain, feed } = await openFeed(t, trunk)
    const before = feed.version()
    await replace(chain, ancestor, branch)
    assert.notEqual(feed.version(), before)
    const expected = `from ${ancestor}: ${branch.map(({ header }) => header.number).join(' ')}`
    for (const place of [trunk.length, ancestor + 1]) {
      const units = feed.next({ locator: [refOf(trunk[place - 1])] }, undefined)
      assert.deepEqual(
        units.map((unit) => describe(unit, branch)),
        [expected],
      )
    }
  })
}

test('a rewind without new blocks is a unit without blocks', async (t) => {
  const trunk = await grow(t, [], 4)
  const { chain, feed } = await openFeed(t, trunk)
  chain.head.rewind(2, { byOperator: true })
  chain.head.commit()
  assert.deepEqual(
    feed.next({ locator: [refOf(trunk[3])] }, undefined).map((unit) => describe(unit, trunk)),
    ['from 2: '],
  )
})

test('a branch that was never stored here goes back to the newest block of the locator that is on the chain', async (t) => {
  const trunk = await grow(t, [], 6)
  const other = await grow(t, trunk.slice(0, 3), 2)
  const { feed } = await openFeed(t, trunk)
  const locator = [...other.toReversed(), trunk[1], trunk[0]].map(refOf)
  assert.deepEqual(
    feed.next({ locator }, undefined).map((unit) => describe(unit, trunk)),
    ['from 2: 3 4 5 6'],
  )
  assert.throws(() => feed.next({ locator: other.toReversed().map(refOf) }, undefined), NoCommonBlockInStream)
})

test('a replica that is ahead is not rewound', async (t) => {
  const trunk = await grow(t, [], 6)
  const { feed } = await openFeed(t, trunk.slice(0, 4))
  assert.deepEqual(feed.next({ locator: trunk.toReversed().map(refOf) }, undefined), [])
})

test('finality is sent with blocks, and alone when only it changed', async (t) => {
  const trunk = await grow(t, [], 4)
  const { chain, feed } = await openFeed(t, trunk)
  chain.head.finalize({ safe: 3, finalized: 2 })
  const [unit] = feed.next({ locator: [refOf(trunk[2])] }, undefined)
  assert.deepEqual(unit.kind === 'blocks' && unit.finality, { safe: 3, finalized: 2 })
  const atHead = { locator: [refOf(trunk[3])] }
  assert.deepEqual(feed.next(atHead, undefined), [{ kind: 'finality', finality: { safe: 3, finalized: 2 } }])
  assert.deepEqual(feed.next(atHead, { safe: 3, finalized: 2 }), [])
})
