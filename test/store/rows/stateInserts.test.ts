import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { keccak256 } from '../../../src/chain/crypto.js'
import { trimLeft } from '../../../src/lib/bytes.js'
import type { Database } from '../../../src/store/database.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import type { StateChanges } from '../../../src/store/rows/stateChanges.js'
import { createStateInserts } from '../../../src/store/rows/stateInserts.js'
import { beginWriting, commitWriting, rollbackWriting } from '../../../src/store/writeTransaction.js'
import { type SeededRandom, seededRandom } from '../../support/random.js'
import { temporaryDirectory } from '../../support/temporary.js'

function open(t: TestContext): Database {
  const db = openForWriting(temporaryDirectory(t))
  t.after(() => void db.close())
  return db
}

function makeChanges(random: SeededRandom, count: number): StateChanges {
  const addresses = Array.from({ length: 50 }, (_, n) => keccak256(Uint8Array.of(n)).slice(0, 20))
  const chosen = new Set(Array.from({ length: count }, () => random.below(200_000)))
  return {
    accounts: addresses
      .filter(() => random.below(2) === 0)
      .map((address) => {
        const account = { nonce: BigInt(random.below(3)), balance: BigInt(random.below(2 ** 31)) ** 3n }
        return { address, incarnation: random.below(2), account: random.below(9) === 0 ? undefined : account }
      }),
    storage: [...chosen].map((n) => {
      const slot =
        n < 150_000 ? keccak256(Buffer.from(String(n))) : Uint8Array.from([...new Uint8Array(29), n >> 16, n >> 8, n])
      const value = trimLeft(random.bytes(random.below(33)))
      return { address: addresses[n % 50], incarnation: n < 190_000 ? 0 : 1, slot, value }
    }),
    codes: [],
  }
}

const rowsOf = (db: Database) =>
  ['account_history', 'storage_history'].map((table) => db.prepare(`SELECT * FROM ${table}`).raw().all())

test('collected rows are the same as single ones, also when more come than are collected', (t) => {
  const blocks = [1_000, 90_000, 9_000, 0, 3].map((count, i) => makeChanges(seededRandom(i), count))
  const total = blocks.reduce((sum, { storage }) => sum + storage.length, 0)
  const dbs = [open(t), open(t)]
  for (const [i, db] of dbs.entries()) {
    const inserts = createStateInserts(db, { collects: i === 1, mostCollected: 2 ** 16 })
    beginWriting(db)
    for (const [number, changes] of blocks.entries()) inserts.insert(number, changes)
    inserts.flush()
    commitWriting(db)
  }
  const [single, collected] = dbs.map(rowsOf)
  assert.ok(total > 2 ** 16)
  assert.equal(single[1].length, total)
  assert.deepEqual(collected, single)
})

test('rows that were collected before a rollback are not written after it', (t) => {
  const db = open(t)
  const inserts = createStateInserts(db, { collects: true })
  beginWriting(db)
  inserts.insert(1, makeChanges(seededRandom(1), 100))
  rollbackWriting(db)
  inserts.clear()
  beginWriting(db)
  const kept = makeChanges(seededRandom(2), 10)
  inserts.insert(1, kept)
  inserts.flush()
  commitWriting(db)
  const [accounts, slots] = rowsOf(db)
  assert.equal(accounts.length, kept.accounts.length)
  assert.equal(slots.length, kept.storage.length)
})
