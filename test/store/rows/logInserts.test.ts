import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Log } from '../../../src/chain/eth/types.js'
import { padLeft } from '../../../src/lib/bytes.js'
import { formatData } from '../../../src/lib/hex.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { createLogInserts } from '../../../src/store/rows/log.js'
import { type SeededRandom, seededRandom } from '../../support/random.js'
import { temporaryDirectory } from '../../support/temporary.js'

interface Row {
  id: number
  tx_index: number
  address: Buffer
  topic0: Buffer | null
  topic1: Buffer | null
  topic2: Buffer | null
  topic3: Buffer | null
  data: Buffer
  data_length: number | null
}

/** Words with leading zeros, of zeros alone, and full ones. */
function randomWord(random: SeededRandom): Uint8Array {
  return padLeft(random.bytes(random.below(33)), 32)
}

function randomLog(random: SeededRandom): Log {
  const topics = Array.from({ length: random.below(5) }, () => randomWord(random))
  const data = random.below(3) === 0 ? random.bytes(random.below(200)) : randomWord(random)
  return { address: random.bytes(20), topics, data }
}

test('rows are those of the logs, however many come before each flush, and none of those that were given up', (t) => {
  const random = seededRandom(31)
  const db = openForWriting(temporaryDirectory(t))
  t.after(() => db.close())
  const inserts = createLogInserts(db)
  const logs: { id: number; txIndex: number; log: Log }[] = []
  const insertSome = (count: number, kept: boolean) => {
    for (let i = 0, id = logs.length; i < count; i++, id++) {
      const entry = { id, txIndex: random.below(300), log: randomLog(random) }
      inserts.insert(entry.id, entry.txIndex, entry.log)
      if (kept) logs.push(entry)
    }
  }
  for (const count of [0, 1, 15, 16, 17, 32, 100, ...Array.from({ length: 40 }, () => random.below(60))]) {
    db.exec('BEGIN')
    insertSome(random.below(40), false)
    db.exec('ROLLBACK')
    inserts.clear()
    insertSome(count, true)
    inserts.flush()
    assert.equal(db.prepare('SELECT count(*) FROM logs').pluck().get(), logs.length)
  }
  const select = `SELECT l.*, a.address, z.topic AS topic0 FROM logs l JOIN addresses a ON a.id = l.address_id
    LEFT JOIN topics z ON z.id = l.topic0_id ORDER BY l.id`
  const rows = db.prepare<[], Row>(select).all()
  for (const [index, row] of rows.entries()) {
    const { id, txIndex, log } = logs[index]
    const topics = [row.topic0, row.topic1, row.topic2, row.topic3].filter((topic) => topic !== null)
    assert.deepEqual(
      {
        id: row.id,
        txIndex: row.tx_index,
        address: formatData(row.address),
        topics: topics.map((topic) => formatData(padLeft(topic, 32))),
        data: formatData(padLeft(row.data, row.data_length ?? 32)),
      },
      {
        id,
        txIndex,
        address: formatData(log.address),
        topics: log.topics.map(formatData),
        data: formatData(log.data),
      },
    )
    assert.ok(row.topic1 === null || row.topic1[0] !== 0, 'topics are stored without leading zeros')
  }
})
