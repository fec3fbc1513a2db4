import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Log } from '../../../src/chain/eth/types.js'
import { createLogRecordReader, type LogRecords } from '../../../src/store/logs/logRecords.js'
import { createLogJsonEncoder, LOG_JSON_KINDS } from '../../../src/store/logs/wasmLogJson.js'
import { ADDRESS_SLOTS, INPUT_BYTES } from '../../../src/wasm/logJsonModule.js'
import { seededFractions, temporaryDatabase, writeLogs } from '../../logs/randomLogs.js'

function randomLog(random: () => number): Log {
  const upTo = (n: number) => Math.floor(random() * (n + 1))
  const word = (length: number) =>
    Uint8Array.from({ length }, (_, i) => (i < length / 2 && random() < 0.5 ? 0 : upTo(255)))
  const data = word(random() < 0.01 ? 10_000 : upTo(100))
  return { address: word(20).fill(upTo(9), 0, 19), topics: Array.from({ length: upTo(4) }, () => word(32)), data }
}

test('both kinds encode the same bytes, whether the records fit into the memory or not', (t) => {
  const db = temporaryDatabase(t)
  const random = seededFractions(71)
  const blocks = Array.from({ length: 100 }, () =>
    Array.from({ length: 3 }, () => [1, 2, 3, 4].map(() => randomLog(random))),
  )
  const logs = writeLogs(db, 7, blocks)
  // Addresses that share slots.
  db.exec(`UPDATE addresses SET id = -id; UPDATE addresses SET id = -id * ${ADDRESS_SLOTS.count / 2}`)
  db.exec(`UPDATE logs SET address_id = address_id * ${ADDRESS_SLOTS.count / 2}`)
  const reader = createLogRecordReader(db)
  const [wasm, javaScript] = LOG_JSON_KINDS.map((kind) => createLogJsonEncoder(db, kind))
  const sizes = []
  for (let i = 0; i < 60; i++) {
    const share = i === 0 ? 1 : random() ** 2
    const records = reader.byIds(logs.map((_, id) => id).filter(() => random() < share))
    sizes.push(records.bytes.length)
    assert.deepEqual(wasm(records), javaScript(records))
  }
  assert.ok(Math.max(...sizes) > INPUT_BYTES && sizes.filter((size) => size < INPUT_BYTES).length > 10)
})

test('both kinds throw for records of another form and for an address that is missing', (t) => {
  const db = temporaryDatabase(t)
  writeLogs(db, 7, [[[randomLog(seededFractions(72))]]])
  const records = createLogRecordReader(db).byIds([0])
  const damaged: LogRecords = { ...records, bytes: Buffer.concat([records.bytes, Buffer.of(0)]) }
  for (const kind of LOG_JSON_KINDS) assert.throws(() => createLogJsonEncoder(db, kind)(damaged), /damaged/)
  db.exec('DELETE FROM addresses')
  for (const kind of LOG_JSON_KINDS) assert.throws(() => createLogJsonEncoder(db, kind)(records), /lacks/)
})
