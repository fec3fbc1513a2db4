import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { createChainReader } from '../../../src/store/rows/chainReader.js'
import { createChainWriter } from '../../../src/store/rows/chainWriter.js'
import { blockAt } from '../../support/chains/blocks.js'
import { temporaryDirectory } from '../../support/temporary.js'

const LARGE = 2n ** 64n - 1n

test('times of 64 bits are stored exactly, as decimal text above 2^53', (t) => {
  const db = openForWriting(temporaryDirectory(t))
  t.after(() => void db.close())
  const writer = createChainWriter(db)
  const times = [1_700_000_000n, LARGE]
  writer.begin()
  for (const [number, timestamp] of times.entries()) {
    const block = blockAt(number)
    writer.insertBlock({ ...block, header: { ...block.header, timestamp } }, [], 0n)
  }
  writer.commit()
  const reader = createChainReader(db)
  assert.deepEqual(
    times.map((_, number) => reader.blockByNumber(number)!.header.timestamp),
    times,
  )
  assert.deepEqual(db.prepare('SELECT timestamp, typeof(timestamp) AS type, time FROM v_blocks').all(), [
    { timestamp: 1_700_000_000, type: 'integer', time: '2023-11-14 22:13:20' },
    { timestamp: LARGE.toString(), type: 'text', time: null },
  ])
})
