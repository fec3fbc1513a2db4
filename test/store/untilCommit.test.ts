import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createCommitWatch } from '../../src/store/commitWatch.js'
import { openForReading } from '../../src/store/open.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { eachUntilCommit, untilCommit } from '../../src/store/untilCommit.js'
import { temporaryDirectory } from '../support/temporary.js'

function openBoth(t: TestContext) {
  const datadir = temporaryDirectory(t)
  const writer = openForWriting(datadir)
  t.after(() => void writer.close())
  writer.exec('CREATE TABLE probe (value INTEGER); INSERT INTO probe VALUES (0)')
  const db = openForReading(datadir)
  t.after(() => void db.close())
  return { writer, db, write: (value: number) => void writer.prepare('UPDATE probe SET value = ?').run(value) }
}

test('a value is read once between two commits of another connection', (t) => {
  const { db, write } = openBoth(t)
  const select = db.prepare<[], number>('SELECT value FROM probe').pluck()
  let reads = 0
  const read = untilCommit(createCommitWatch(db), () => {
    reads++
    return select.get()
  })
  assert.deepEqual([read(), read(), reads], [0, 0, 1])
  write(7)
  assert.deepEqual([read(), read(), reads], [7, 7, 2])
})

test('undefined is a value, and another key is another value', (t) => {
  const { db, write } = openBoth(t)
  const asked: number[] = []
  const read = eachUntilCommit(createCommitWatch(db), {
    read: (key: number) => {
      asked.push(key)
      return key === 1 ? undefined : key
    },
    most: 2,
  })
  assert.deepEqual([read(1), read(1), read(2), read(2)], [undefined, undefined, 2, 2])
  assert.deepEqual(asked, [1, 2])
  read(3) // more than are kept
  read(1)
  assert.deepEqual(asked, [1, 2, 3, 1])
  write(1)
  read(1)
  assert.deepEqual(asked, [1, 2, 3, 1, 1])
})

test('a writing connection reads each time', (t) => {
  const { writer, write } = openBoth(t)
  const select = writer.prepare<[], number>('SELECT value FROM probe').pluck()
  const read = untilCommit(createCommitWatch(writer), () => select.get())
  assert.equal(read(), 0)
  write(1)
  assert.equal(read(), 1)
})
