import assert from 'node:assert/strict'
import { test } from 'node:test'
import SqliteDatabase from 'better-sqlite3'
import { decodeUint, encodeUint, type StoredUint } from '../../src/store/columns.js'
import { seededRandom } from '../support/random.js'

const VALUES = [
  0n,
  1n,
  21_000n,
  2n ** 31n,
  2n ** 32n,
  10n ** 15n,
  2n ** 53n - 1n,
  2n ** 53n,
  2n ** 63n,
  2n ** 256n - 1n,
]

function createTable() {
  const db = new SqliteDatabase(':memory:')
  db.exec('CREATE TABLE numbers (value BLOB NOT NULL)')
  return db
}

test('integers are stored as SQL integers or decimal text, never as floating point', () => {
  const db = createTable()
  const insert = db.prepare('INSERT INTO numbers VALUES (?)')
  for (const value of VALUES) insert.run(encodeUint(value))
  const types = db.prepare<[], string>('SELECT typeof(value) FROM numbers ORDER BY rowid').pluck().all()
  assert.deepEqual(
    types,
    VALUES.map((value) => (value < 2n ** 53n ? 'integer' : 'text')),
  )
})

test('a cast to text is exact, and what is read is what was written', () => {
  const db = createTable()
  const random = seededRandom(7)
  const insert = db.prepare('INSERT INTO numbers VALUES (?)')
  const values = [...VALUES]
  for (let i = 0; i < 200; i++) values.push(BigInt(random.below(2 ** 31)) ** BigInt(1 + random.below(8)))
  for (const value of values) insert.run(encodeUint(value))
  const rows = db
    .prepare<[], { value: StoredUint; text: string }>(
      'SELECT value, CAST(value AS TEXT) AS text FROM numbers ORDER BY rowid',
    )
    .all()
  assert.deepEqual(
    rows.map(({ text }) => text),
    values.map(String),
  )
  assert.deepEqual(
    rows.map(({ value }) => decodeUint(value)),
    values,
  )
})
