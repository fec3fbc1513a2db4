import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createWriteTurns } from '../../../../src/sync/follow/l2/writeTurns.js'
import { openL2Database } from '../../../support/chains/l2.js'
import { makeBlock, UNCHECKED } from '../../../support/chains/l2Blocks.js'
import { temporaryDirectory } from '../../../support/temporary.js'

type After = { after(callback: () => void): void }

function openHere(t: After) {
  const database = openL2Database(temporaryDirectory(t))
  t.after(() => database.close())
  const turns = createWriteTurns(database.db)
  const store = (number: number) => turns.write(() => database.writer.importBlock(makeBlock({ number }), UNCHECKED))
  return { ...database, turns, store }
}

test('work is done at once while no transaction is open', (t) => {
  const { reader, store } = openHere(t)
  void store(1)
  assert.equal(reader.head()!.number, 1)
})

test('work waits for the end of an open transaction, and is not lost when that is rolled back', async (t) => {
  const { db, reader, store } = openHere(t)
  db.exec('BEGIN IMMEDIATE')
  const stored = store(1)
  await new Promise(setImmediate)
  assert.equal(reader.head(), undefined)
  db.exec('ROLLBACK')
  assert.equal(await stored, 'stored')
  assert.equal(reader.head()!.number, 1)
})

test('the writer of long transactions lets waiting work in after each commit, in order', async (t) => {
  const { db, reader, turns, store } = openHere(t)
  db.exec('BEGIN IMMEDIATE')
  const done = [store(1), store(3)]
  db.exec('COMMIT')
  turns.afterCommit()
  assert.equal(reader.head()!.number, 3)
  assert.equal(db.inTransaction, false)
  assert.deepEqual(await Promise.all(done), ['stored', 'stored'])
})

test('a failure of the work is the failure of its promise', async (t) => {
  const { turns } = openHere(t)
  await assert.rejects(
    turns.write(() => {
      throw new RangeError('no')
    }),
    RangeError,
  )
})
