import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { verifyIndex } from '../../../src/index/segments/verifyIndex.js'
import { openForReading } from '../../../src/store/open.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { CHAIN_INDEXES, createChainIndexer } from '../../../src/sync/chainIndexer.js'
import { type InventedChain, openInventedChain } from '../../support/chains/inventedChain.js'
import { seededRandom } from '../../support/random.js'
import { temporaryDirectory } from '../../support/temporary.js'

/** A chain of 200 blocks of 100 logs, its indexes up to date. */
async function indexedChain(t: TestContext, chunkBits: number) {
  const datadir = temporaryDirectory(t)
  const db = openForWriting(datadir)
  createChainIndexer(db, { chunkBits })
  db.close()
  const chain = await openInventedChain(datadir, { random: seededRandom(31), logsPerBlock: 100 })
  t.after(() => chain.close())
  for (let i = 0; i < 200; i++) chain.change(0, 1)
  catchUp(chain)
  return { datadir, chain }
}

/** Does what the indexes have left to do. @returns in how many slices of one step */
function catchUp({ head }: InventedChain): number {
  let slices = 1
  while (head.workOnIndexes(0)) slices++
  return slices
}

test('after a reorg only the rows of the new branch are hashed again', async (t) => {
  const { chain } = await indexedChain(t, 16)
  chain.change(3, 4) // about 400 of 20,000 logs, and 150 rows are hashed in a step
  assert.ok(catchUp(chain) < 12)
})

test('the indexes are those of the chain after reorgs of every depth, in the chunk that fills and the full one before', async (t) => {
  const { datadir, chain } = await indexedChain(t, 12)
  const random = seededRandom(32)
  for (let i = 0; i < 60; i++) {
    const removed = 1 + random.below(random.below(4) ? 12 : 110)
    chain.change(removed, Math.max(1, removed - 3 + random.below(7)))
    for (let steps = random.below(30); steps > 0 && chain.head.workOnIndexes(0); steps--);
    if (random.below(4) === 0) catchUp(chain)
  }
  chain.head.sealIndexes()
  catchUp(chain)
  const db = openForReading(datadir)
  t.after(() => db.close())
  const count = db.prepare<[], number>('SELECT count(*) FROM logs').pluck().get()!
  const [logs] = CHAIN_INDEXES.map((kind) => verifyIndex(db, kind))
  assert.equal(logs.items, Math.floor(count / 4096) * 4096)
  assert.ok(logs.items > 0)
})
