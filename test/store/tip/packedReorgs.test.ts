import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  append,
  chainContents,
  chainRows,
  checkNewest,
  insert,
  inTransaction,
  packedNumbers,
  rowsNeverPacked,
  temporaryChain,
} from '../../support/packedChain.js'
import { seededRandom } from '../../support/random.js'
import { filledBlock, type OutcomeBlock, randomBlock } from '../../support/randomBlocks.js'

test('a rollback leaves a packed block as it was, and the writer goes on', (t) => {
  const random = seededRandom(53)
  const chain = temporaryChain(t, { packsTip: true })
  const { db, writer } = chain
  const held: OutcomeBlock[] = []
  // What is given up: a block, several, the making of rows, a rewinding with a block of another branch.
  const attempts = [
    (next: number) => insert(writer, randomBlock(random, next)),
    (next: number) => insert(writer, randomBlock(random, next), randomBlock(random, next + 1)),
    () => void writer.unpack(),
    (next: number) => {
      writer.rewindTo(next - 2)
      insert(writer, randomBlock(random, next - 1))
    },
  ]
  for (let number = 0; number < 24; number++) {
    const before = chainContents(db)
    writer.begin()
    attempts[number % attempts.length](number)
    assert.notDeepEqual(chainContents(db), before)
    writer.rollback()
    assert.deepEqual(chainContents(db), before)
    if (held.length > 0) checkNewest(chain, held)
    held.push(filledBlock(random, number))
    append(writer, held[number])
    assert.deepEqual(packedNumbers(db), [number])
    checkNewest(chain, held)
  }
  inTransaction(writer, () => writer.unpack())
  assert.deepEqual(chainRows(db), rowsNeverPacked(t, held))
})

test('going back to a mark leaves the first block of the transaction packed, and the writer goes on', (t) => {
  const random = seededRandom(54)
  const chain = temporaryChain(t, { packsTip: true })
  const { db, writer } = chain
  const held = [filledBlock(random, 0), filledBlock(random, 1)]
  append(writer, held[0])
  writer.begin()
  insert(writer, held[1])
  writer.mark()
  const given = randomBlock(random, 2)
  insert(writer, given, randomBlock(random, 3))
  assert.deepEqual(packedNumbers(db), [])
  writer.rollbackToMark()
  assert.deepEqual(packedNumbers(db), [1])
  held.push(randomBlock(random, 2))
  insert(writer, held[2])
  writer.commit()
  checkNewest(chain, held, [given])
  assert.deepEqual(chainRows(db), rowsNeverPacked(t, held))
})

test('rewinding below a packed block removes it, rewinding to it makes its rows', (t) => {
  const random = seededRandom(57)
  const chain = temporaryChain(t, { packsTip: true })
  const { db, writer } = chain
  const blocks = Array.from({ length: 8 }, (_, number) => filledBlock(random, number))
  for (const block of blocks) append(writer, block)
  inTransaction(writer, () => writer.rewindTo(7))
  assert.deepEqual(packedNumbers(db), [])
  assert.deepEqual(chainRows(db), rowsNeverPacked(t, blocks))
  checkNewest(chain, blocks)
  for (const kept of [6, 3]) {
    inTransaction(writer, () => writer.rewindTo(kept))
    assert.deepEqual(packedNumbers(db), [])
    inTransaction(writer, () => assert.equal(writer.unpack(), false))
    assert.deepEqual(chainRows(db), rowsNeverPacked(t, blocks.slice(0, kept + 1)))
    checkNewest(chain, blocks.slice(0, kept + 1), blocks.slice(kept + 1))
    for (const block of blocks.slice(kept + 1)) append(writer, block)
    assert.deepEqual(packedNumbers(db), [7])
    checkNewest(chain, blocks)
  }
})

test('a packed block in the place of another is seen by those who had read the first', (t) => {
  const random = seededRandom(58)
  const chain = temporaryChain(t, { packsTip: true })
  const { db, writer } = chain
  const trunk = [filledBlock(random, 0), filledBlock(random, 1)]
  for (const block of trunk) append(writer, block)
  let newest = filledBlock(random, 2)
  append(writer, newest)
  checkNewest(chain, [...trunk, newest])
  for (let reorg = 0; reorg < 6; reorg++) {
    const gone = newest
    // Sometimes the first has become rows, and sometimes it comes back.
    if (reorg % 3 === 1) {
      inTransaction(writer, () => writer.unpack())
      checkNewest(chain, [...trunk, gone])
    }
    newest = filledBlock(random, 2)
    for (const came of reorg % 2 === 0 ? [newest] : [newest, gone, newest]) {
      inTransaction(writer, () => {
        writer.rewindTo(1)
        insert(writer, came)
      })
      assert.deepEqual(packedNumbers(db), [2])
      checkNewest(chain, [...trunk, came], [came === newest ? gone : newest])
    }
  }
})

test('after any mix of batches, unpackings, reorgs and rollbacks the answers are those of the chain that is left', (t) => {
  const random = seededRandom(59)
  const chain = temporaryChain(t, { packsTip: true })
  const { writer } = chain
  let held: OutcomeBlock[] = []
  let gone: OutcomeBlock[] = []
  const some = (from: number) => Array.from({ length: 1 + random.below(3) }, (_, i) => randomBlock(random, from + i, 4))
  const steps = [
    () => held.push(randomBlock(random, held.length, 4)) && insert(writer, held.at(-1)!),
    () => {
      const came = some(held.length)
      insert(writer, ...came)
      held.push(...came)
    },
    () => writer.unpack(),
    () => {
      const kept = Math.max(1, held.length - random.below(4))
      gone.push(...held.slice(kept))
      held = held.slice(0, kept)
      writer.rewindTo(kept - 1)
    },
  ]
  held = some(0)
  append(writer, ...held)
  for (let step = 0; step < 300; step++) {
    const before = { held: [...held], gone: [...gone] }
    writer.begin()
    for (let i = random.below(3); i >= 0; i--) steps[random.below(steps.length)]()
    if (random.below(4) > 0) writer.commit()
    else {
      writer.rollback()
      const given = held.filter((block) => !before.held.includes(block))
      ;({ held, gone } = before)
      gone.push(...given)
    }
    gone = gone.slice(-5)
    if (random.below(4) > 0) checkNewest(chain, held, gone)
  }
  inTransaction(writer, () => writer.unpack())
  assert.deepEqual(chainRows(chain.db), rowsNeverPacked(t, held))
})
