import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deflateSync } from 'node:zlib'
import { auditL2 } from '../../src/ingest/audit/l2.js'
import { createChainReader } from '../../src/store/chain/chainReader.js'
import { createChainWriter } from '../../src/store/chain/chainWriter.js'
import { openForReading } from '../../src/store/open.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { blockAt } from '../support/blocks.js'
import { openL2Database } from '../support/l2.js'
import { makeFullBlock, UNCHECKED } from '../support/l2Blocks.js'
import { toRpcReceiptsJson } from '../support/l2Json.js'
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

test('a database of before layer-2 events answers from its recordings, and finds transactions by hash', (t) => {
  const datadir = temporaryDirectory(t)
  const blocks = [makeFullBlock({ number: 0 })]
  blocks.push(makeFullBlock({ number: 1, parentHash: blocks[0].hash! }))
  const database = openL2Database(datadir)
  for (const block of blocks) {
    database.writer.importBlock(block, UNCHECKED, deflateSync(JSON.stringify(toRpcReceiptsJson(block, 10))))
  }
  database.close()
  leaveAtMigration(datadir, 12)
  const { db, reader, close } = openL2Database(datadir)
  t.after(close)
  assert.deepEqual(reader.findTransaction(blocks[1].transactionHashes[1])?.index, 1)
  const found: number[] = []
  const visit = ({ events }: { events: unknown[] }) => found.push(events.length) > 0
  const pattern = { addresses: [0x57an], keys: [[], [12n]] }
  reader.events.search({ fromBlock: 0, toBlock: 9 }, pattern, { visit, isOver: () => false })
  assert.deepEqual(found, [0, 1])
  assert.equal(auditL2(db).blocks, 2)
})
