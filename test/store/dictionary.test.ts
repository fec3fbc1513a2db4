import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dictionaryOf } from '../../src/store/dictionary.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { seededRandom } from '../support/random.js'
import { temporaryDirectory } from '../support/temporary.js'

test('ids are those of the rows, one for each value in the order of first use, also after rollbacks', (t) => {
  const db = openForWriting(temporaryDirectory(t))
  t.after(() => void db.close())
  const dictionary = dictionaryOf(db, 'addresses')
  const random = seededRandom(5)
  const pool = Array.from({ length: 400 }, () => random.bytes(20))
  const keyOf = (value: Uint8Array) => Buffer.from(value).toString('hex')
  const rows = () =>
    new Map(db.prepare<[], [string, number]>('SELECT lower(hex(address)), id FROM addresses ORDER BY id').raw().all())
  let expected = new Map<string, number>()
  for (let round = 0; round < 120; round++) {
    const before = new Map(expected)
    db.exec('BEGIN')
    // Caches forget: the values are in the table only.
    if (random.below(4) === 0) dictionary.clear()
    const most = 1 + random.below(pool.length)
    const values = Array.from({ length: random.below(100) }, () => pool[random.below(most)].slice())
    const ids = values.length % 3 === 0 ? values.map(dictionary.idOf) : Array.from(dictionary.idsOf(values))
    for (const value of values) if (!expected.has(keyOf(value))) expected.set(keyOf(value), expected.size + 1)
    assert.deepEqual(
      ids,
      values.map((value) => expected.get(keyOf(value))),
    )
    if (random.below(5) === 0) {
      db.exec('ROLLBACK')
      dictionary.clear()
      expected = before
    } else db.exec('COMMIT')
    assert.deepEqual(rows(), expected)
  }
})
