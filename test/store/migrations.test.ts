import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createChainReader } from '../../src/store/chain/chainReader.js'
import { createChainWriter } from '../../src/store/chain/chainWriter.js'
import { openForReading } from '../../src/store/open.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { blockAt } from '../support/blocks.js'
import { leaveAtMigration } from '../support/olderDatabase.js'
import { temporaryDirectory } from '../support/temporary.js'

const LARGE = 2n ** 64n - 1n

test('a database of before wide timestamps keeps its times, and takes wide ones', (t) => {
  const datadir = temporaryDirectory(t)
  const append = (number: number, timestamp: bigint) => {
    const db = openForWriting(datadir)
    const writer = createChainWriter(db)
    const block = blockAt(number)
    writer.begin()
    writer.insertBlock({ ...block, header: { ...block.header, timestamp } }, [], 0n)
    writer.commit()
    db.close()
  }
  append(0, 1_700_000_000n)
  leaveAtMigration(datadir, 7)
  const reading = openForReading(datadir)
  t.after(() => void reading.close())
  const reader = createChainReader(reading)
  assert.equal(reader.blockByNumber(0)!.header.timestamp, 1_700_000_000n)
  append(1, LARGE)
  assert.deepEqual(
    [0, 1].map((number) => reader.blockByNumber(number)!.header.timestamp),
    [1_700_000_000n, LARGE],
  )
  const rows = reading.prepare('SELECT timestamp, typeof(timestamp) AS type, time FROM v_blocks').all()
  assert.deepEqual(rows, [
    { timestamp: 1_700_000_000, type: 'integer', time: '2023-11-14 22:13:20' },
    { timestamp: LARGE.toString(), type: 'text', time: null },
  ])
  assert.deepEqual(reading.pragma('integrity_check'), [{ integrity_check: 'ok' }])
})
