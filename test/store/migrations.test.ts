import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deflateSync } from 'node:zlib'
import { auditL2 } from '../../src/audit/l2.js'
import { formatData } from '../../src/lib/hex.js'
import type { Database } from '../../src/store/database.js'
import { openAnySchema } from '../../src/store/open.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { createChainReader } from '../../src/store/rows/chainReader.js'
import { createChainWriter } from '../../src/store/rows/chainWriter.js'
import type { StateChanges } from '../../src/store/rows/stateChanges.js'
import { createChangedKeysReader, decodeAccountKeys, visitSlotKeys } from '../../src/store/state/changedKeys.js'
import { blockAt } from '../support/chains/blocks.js'
import { openL2Database } from '../support/chains/l2.js'
import { makeFullBlock, UNCHECKED } from '../support/chains/l2Blocks.js'
import { toRpcReceiptsJson } from '../support/chains/l2Json.js'
import { leaveAtMigration } from '../support/chains/olderDatabase.js'
import { seededRandom } from '../support/random.js'
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
  const reading = openAnySchema(datadir)
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

test('a database of before changed keys gets them from its indexes by block, also those of recent rows', (t) => {
  const datadir = temporaryDirectory(t)
  const random = seededRandom(19)
  const [early, late] = Array.from({ length: 60 }, () => random.bytes(20)).reduce<[Uint8Array[], Uint8Array[]]>(
    ([a, b], address, i) => (i % 2 === 0 ? [[...a, address], b] : [a, [...b, address]]),
    [[], []],
  )
  const changesOf = (addresses: Uint8Array[]): StateChanges => ({
    accounts: addresses.slice(5).map((address) => ({ address, incarnation: 0, account: { nonce: 1n, balance: 2n } })),
    storage: addresses.slice(0, 25).flatMap((address, i) =>
      Array.from({ length: i }, () => ({
        address,
        incarnation: i % 3,
        slot: random.bytes(32),
        value: random.bytes(4),
      })),
    ),
    codes: [],
  })
  const HEAD = 9
  const database = openForWriting(datadir)
  const writer = createChainWriter(database)
  writer.begin()
  for (let number = 0; number <= HEAD; number++) {
    const changes = number === 4 ? changesOf([]) : changesOf(number % 2 === 0 ? early : late)
    writer.insertBlock(blockAt(number), [], 0n, changes, { isAtTip: number >= HEAD - 1 })
  }
  writer.commit()
  const before = changedOf(database, HEAD)
  assert.ok(database.prepare('SELECT 1 FROM storage_recent').get())
  database.close()
  leaveAtMigration(datadir, 19)
  const db = openForWriting(datadir)
  t.after(() => void db.close())
  assert.deepEqual(changedOf(db, HEAD), before)
  assert.equal(before[4].accounts.length + before[4].slots.length, 0)
  assert.deepEqual(db.prepare("SELECT name FROM sqlite_schema WHERE name LIKE '%history_by_block'").all(), [])
  assert.equal(db.prepare('SELECT 1 FROM storage_recent').get(), undefined)
  createChainWriter(db).rewindTo(-1)
  for (const table of ['account_history', 'storage_history', 'changed_keys']) {
    assert.equal(db.prepare(`SELECT count(*) FROM ${table}`).pluck().get(), 0)
  }
})

/** The changed keys of the blocks up to `head`, sorted. */
function changedOf(db: Database, head: number) {
  const reader = createChangedKeysReader(db)
  return Array.from({ length: head + 1 }, (_, number) => {
    const { accounts, slots } = reader.block(number) ?? { accounts: new Uint8Array(0), slots: new Uint8Array(0) }
    const names: string[] = []
    visitSlotKeys(slots, (...[addressId, incarnation, slot]) =>
      names.push(`${addressId} ${incarnation} ${formatData(slot)}`),
    )
    return { accounts: decodeAccountKeys(accounts).sort((a, b) => a - b), slots: names.sort() }
  })
}
