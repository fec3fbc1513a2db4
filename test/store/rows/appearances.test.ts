import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import { createIdLookup } from '../../../src/store/dictionary.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import {
  createAppearanceWriter,
  decodeAppearances,
  encodeAppearances,
  transactionsWith,
} from '../../../src/store/rows/appearances.js'
import { seededRandom } from '../../support/random.js'
import { temporaryDirectory } from '../../support/temporary.js'

const addressOf = (id: number) => new Uint8Array(20).fill(id)

test('what is encoded is decoded, and found by id', () => {
  const random = seededRandom(1)
  for (let round = 0; round < 200; round++) {
    const pool = Array.from({ length: 1 + random.below(300) }, () => random.below(2 ** (1 + random.below(30))))
    const transactions = Array.from({ length: random.below(40) }, () => {
      const own = new Set(Array.from({ length: 1 + random.below(12) }, () => pool[random.below(pool.length)]))
      return Array.from(own).sort((a, b) => a - b)
    })
    const bytes = encodeAppearances(transactions, addressOf)
    assert.deepEqual(decodeAppearances(bytes), transactions)
    for (const id of [...pool, 2 ** 30 + 1]) {
      const expected = transactions.flatMap((ids, index) => (ids.includes(id) ? [index] : []))
      assert.deepEqual(transactionsWith(bytes, id), expected)
    }
  }
})

test('a block without transactions takes no bytes, and cut bytes are refused', () => {
  assert.equal(encodeAppearances([], addressOf).length, 0)
  assert.deepEqual(decodeAppearances(new Uint8Array(0)), [])
  const bytes = encodeAppearances([[1, 2, 300], [300]], addressOf)
  assert.deepEqual(Array.from(bytes.subarray(0, -4)), [3, 1, 1, 0xaa, 0x02, 3, 0, 1, 1, 1, 2])
  assert.throws(() => decodeAppearances(bytes.subarray(0, 7)), RangeError)
})

test('the writer stores each address of a transaction once, whichever objects it is given, and the checksum covers the addresses', (t) => {
  const db = openForWriting(temporaryDirectory(t))
  t.after(() => void db.close())
  const writer = createAppearanceWriter(db)
  const random = seededRandom(2)
  const addresses = Array.from({ length: 200 }, () => random.bytes(20))
  const select = db.prepare<[number], Uint8Array>('SELECT data FROM address_appearances WHERE block_number = ?').pluck()
  const idOf = createIdLookup(db, 'addresses')
  for (let block = 0; block < 50; block++) {
    const transactions = Array.from({ length: random.below(20) }, () =>
      Array.from({ length: 1 + random.below(random.below(5) === 0 ? 300 : 20) }, () => {
        const address = addresses[random.below(addresses.length)]
        return random.below(2) === 0 ? address : address.slice()
      }),
    )
    const ids = writer.put(block, transactions)
    assert.deepEqual(
      ids,
      transactions.map((own) => Array.from(new Set(own.map((each) => idOf(each)!))).sort((a, b) => a - b)),
    )
    const data = select.get(block)!
    assert.deepEqual(decodeAppearances(data), ids)
    if (ids.length === 0) continue
    const distinct = Array.from(new Set(ids.flat())).sort((a, b) => a - b)
    const named = distinct.map((id) => addresses.find((each) => idOf(each) === id)!)
    const covered = Buffer.concat([data.subarray(0, -4), ...named])
    assert.equal(Buffer.from(data).readUInt32LE(data.length - 4), crc32(covered))
  }
})
