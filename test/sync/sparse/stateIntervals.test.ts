import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMetaTable, META_CLOSED_STATES, META_STATE_FIRST, META_STATE_MODE } from '../../../src/store/meta.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { createBaseRows } from '../../../src/store/state/baseRows.js'
import { StateIntervals } from '../../../src/sync/sparse/stateIntervals.js'
import { fixtureBlocks } from '../../support/chains/fixture.js'
import { temporaryDirectory } from '../../support/temporary.js'

const ADDRESS = new Uint8Array(20).fill(0xaa)
const ACCOUNT = { address: ADDRESS, account: { nonce: 1n, balance: 2n }, hasStorage: false }

test('removed blocks take their intervals of states, or the ends of them, with them', (t) => {
  const db = openForWriting(temporaryDirectory(t))
  t.after(() => void db.close())
  const meta = createMetaTable(db)
  meta.set(META_STATE_MODE, 'sparse')
  const [{ hash, header }] = fixtureBlocks()
  const at = (number: number) => ({ hash, header: { ...header, number } })
  const rowsAt = () =>
    db.prepare<[], number>('SELECT block_number FROM account_history ORDER BY block_number').pluck().all()
  const intervals = new StateIntervals(db)
  assert.equal(intervals.first, undefined)
  intervals.begin(at(100))
  createBaseRows(db).insert(100, { accounts: [ACCOUNT], slots: [], codes: [] })
  intervals.close(110)
  assert.deepEqual([intervals.first, intervals.closed], [undefined, 1])
  intervals.begin(at(200))
  assert.deepEqual([intervals.first, rowsAt()], [200, [100, 200]], 'a marker: unknown from block 200 on')
  intervals.removeAbove(200)
  assert.equal(intervals.first, 200)
  intervals.removeAbove(150)
  assert.deepEqual([intervals.first, intervals.closed, rowsAt()], [undefined, 1, [100]])
  intervals.removeAbove(105)
  assert.deepEqual(meta.get(META_CLOSED_STATES), [{ first: 100, last: 105 }])
  intervals.removeAbove(99)
  assert.deepEqual([meta.get(META_CLOSED_STATES), meta.get(META_STATE_FIRST), rowsAt()], [[], null, []])
})
