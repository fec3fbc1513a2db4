import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Block } from '../../../src/chain/eth/types.js'
import { createChainWriter } from '../../../src/store/chain/chainWriter.js'
import { executedFixture } from '../../support/executedFixture.js'
import {
  append,
  askBody,
  chainContents,
  chainRows,
  checkNewest,
  expectedBody,
  insert,
  inTransaction,
  packedNumbers,
  rowsNeverPacked,
  temporaryChain,
} from '../../support/packedChain.js'
import { seededRandom } from '../../support/random.js'
import { blockOfAllKinds, filledBlock, type OutcomeBlock, randomBlock } from '../../support/randomBlocks.js'

/** Blocks 0 to 39 of all kinds of transactions and logs. */
function randomBlocks(seed: number): OutcomeBlock[] {
  const random = seededRandom(seed)
  return Array.from({ length: 40 }, (_, number) =>
    number % 13 === 5 ? blockOfAllKinds(random, number) : randomBlock(random, number),
  )
}

/** Numbers of the packed blocks after this one was appended: rows of an empty one would be none. */
const packable = ({ header, transactions }: Block) => (transactions.length > 0 ? [header.number] : [])

const CHAINS: { [name: string]: (t: TestContext) => OutcomeBlock[] | Promise<OutcomeBlock[]> } = {
  'the fixture': executedFixture,
  'random blocks': () => randomBlocks(51),
}

for (const [name, load] of Object.entries(CHAINS)) {
  test(`${name}: blocks that were packed become the rows of blocks that were not`, async (t) => {
    const blocks = await load(t)
    const { db, ...chain } = temporaryChain(t, { packsTip: true })
    let { writer } = chain
    for (const [at, { block, receipts }] of blocks.entries()) {
      // Now and then a new writer takes over, as that of the next process.
      if (at % 7 === 6) writer = createChainWriter(db, { packsTip: true })
      append(writer, { block, receipts })
      assert.deepEqual(packedNumbers(db), packable(block))
      const { first_tx: firstTx, first_log: firstLog } = db
        .prepare<[number], { first_tx: number; first_log: number }>('SELECT * FROM blocks WHERE number = ?')
        .get(block.header.number)!
      assert.equal(db.prepare('SELECT count(*) FROM transactions').pluck().get(), firstTx)
      assert.equal(db.prepare('SELECT count(*) FROM receipts').pluck().get(), firstTx)
      assert.equal(db.prepare('SELECT count(*) FROM logs').pluck().get(), firstLog)
    }
    inTransaction(writer, () => assert.equal(writer.unpack(), packable(blocks.at(-1)!.block).length > 0))
    inTransaction(writer, () => assert.equal(writer.unpack(), false))
    assert.deepEqual(packedNumbers(db), [])
    assert.deepEqual(chainRows(db), rowsNeverPacked(t, blocks))
  })

  test(`${name}: readers and finders answer for a packed block as for its rows`, async (t) => {
    const blocks = await load(t)
    const chain = temporaryChain(t, { packsTip: true })
    const { db, writer, askers } = chain
    for (const [at, { block, receipts }] of blocks.entries()) {
      const { number } = block.header
      const held = blocks.slice(0, at + 1)
      append(writer, { block, receipts })
      assert.deepEqual(packedNumbers(db), packable(block))
      checkNewest(chain, held)
      // Half of them become rows by themselves, the others with the next block.
      if (at % 2 === 0) {
        inTransaction(writer, () => writer.unpack())
        assert.deepEqual(packedNumbers(db), [])
        checkNewest(chain, held)
      }
      if (at === 0) continue
      const before = expectedBody(held.slice(0, -1))
      for (const asker of Object.values(askers)) assert.deepEqual(askBody(asker, number - 1), before)
    }
  })
}

test('in a snapshot the block stays packed, whatever the writer makes of it', (t) => {
  const random = seededRandom(60)
  const { db, readOnly, writer, askers } = temporaryChain(t, { packsTip: true })
  const blocks = [filledBlock(random, 0), filledBlock(random, 1)]
  for (const block of blocks) append(writer, block)
  const expected = expectedBody(blocks)
  const changes = [
    () => void writer.unpack(),
    () => insert(writer, filledBlock(random, 2)),
    () => {
      writer.rewindTo(0)
      insert(writer, filledBlock(random, 1))
    },
  ]
  readOnly.exec('BEGIN')
  assert.deepEqual(askBody(askers.reading, 1), expected)
  for (const change of changes) {
    inTransaction(writer, change)
    assert.deepEqual(askBody(askers.reading, 1), expected)
    assert.deepEqual(packedNumbers(readOnly), [1])
  }
  readOnly.exec('COMMIT')
  assert.deepEqual(askBody(askers.reading, 1), askBody(askers.writing, 1))
  assert.notDeepEqual(askBody(askers.reading, 1), expected)
  assert.deepEqual(packedNumbers(db), [1])
})

test('a second block in the transaction makes rows of the first, and is rows itself', (t) => {
  const blocks = randomBlocks(52)
  const { db, writer } = temporaryChain(t, { packsTip: true })
  for (let at = 0; at < blocks.length; ) {
    const batch = blocks.slice(at, at + 2 + (at % 3))
    const [{ block }] = batch
    inTransaction(writer, () => {
      insert(writer, batch[0])
      assert.deepEqual(packedNumbers(db), packable(block))
      for (const next of batch.slice(1)) {
        insert(writer, next)
        assert.deepEqual(packedNumbers(db), [])
      }
    })
    at += batch.length
    if (batch.length > 1) assert.deepEqual(chainRows(db), rowsNeverPacked(t, blocks.slice(0, at)))
  }
})

test('a block that fails while it is packed leaves nothing in the next', (t) => {
  const random = seededRandom(55)
  const chain = temporaryChain(t, { packsTip: true })
  const { db, writer } = chain
  const held = [filledBlock(random, 0)]
  append(writer, held[0])
  const before = chainContents(db)
  const { block, receipts } = blockOfAllKinds(random, 1)
  const transactions = block.transactions.with(7, { ...block.transactions[7], nonce: undefined as unknown as bigint })
  writer.begin()
  assert.throws(() => insert(writer, { block: { ...block, transactions }, receipts }))
  writer.rollback()
  assert.deepEqual(chainContents(db), before)
  held.push({ block, receipts })
  append(writer, held[1])
  checkNewest(chain, held)
})

test('a block without the receipts of its transactions is not packed', (t) => {
  const { block, receipts } = blockOfAllKinds(seededRandom(56), 0)
  const { db, writer } = temporaryChain(t, { packsTip: true })
  for (const some of [[], receipts.slice(0, -1)]) {
    writer.begin()
    assert.throws(() => insert(writer, { block, receipts: some }))
    writer.rollback()
    assert.deepEqual(packedNumbers(db), [])
  }
})
