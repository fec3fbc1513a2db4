import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { encodeBlock } from '../../../src/chain/eth/block.js'
import { formatData } from '../../../src/lib/hex.js'
import { noProgress } from '../../../src/lib/progress.js'
import type { Database } from '../../../src/store/database.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { createChainReader } from '../../../src/store/rows/chainReader.js'
import { createChainWriter } from '../../../src/store/rows/chainWriter.js'
import { openWritableChain, type WritableChain } from '../../../src/sync/chainState.js'
import { importBlocks } from '../../../src/sync/pipeline.js'
import { fixtureBlocks, fixtureGenesis, sourceOf } from '../../support/chains/fixture.js'
import { HEAD } from '../../support/chains/fixtureChain.js'
import { temporaryDirectory } from '../../support/temporary.js'

const genesis = fixtureGenesis()

async function importUpTo(chain: WritableChain, last: number): Promise<void> {
  const blocks = fixtureBlocks().filter(({ header }) => header.number <= last)
  await importBlocks(chain, sourceOf(blocks), { progress: noProgress })
}

// Dictionaries and code keep what a rewind leaves behind, and ids depend on the order of first sight: so what names
// them is read with the values in their place.
const CONTENTS: { [name: string]: string } = {
  blocks: 'SELECT * FROM blocks',
  uncles: 'SELECT * FROM uncles',
  transactions: 'SELECT * FROM transactions',
  receipts: 'SELECT * FROM receipts',
  logs: 'SELECT l.id, v.* FROM v_logs v JOIN blocks b ON b.number = v.block_number JOIN logs l ON l.id = b.first_log + v.log_index',
  accounts: `SELECT a.address, h.block_number, h.nonce, h.balance, c.hash, h.incarnation FROM account_history h
    JOIN addresses a ON a.id = h.address_id LEFT JOIN code c ON c.id = h.code_id ORDER BY 1, 2`,
  storage: `SELECT a.address, h.incarnation, h.slot, h.block_number, h.value FROM storage_history h
    JOIN addresses a ON a.id = h.address_id ORDER BY 1, 2, 3, 4`,
}

function fingerprint(db: Database): { [name: string]: string } {
  return Object.fromEntries(
    Object.entries(CONTENTS).map(([name, query]) => {
      const hash = createHash('sha256')
      for (const row of db.prepare(query).raw().iterate() as IterableIterator<unknown[]>) {
        for (const value of row) hash.update(`${value instanceof Uint8Array ? formatData(value) : value}|`)
      }
      return [name, hash.digest('hex')]
    }),
  )
}

test('a rewound database equals one that never saw the blocks, and continues to the same end', async (t) => {
  const db = openForWriting(temporaryDirectory(t))
  t.after(() => db.close())
  await importUpTo(await openWritableChain(db, { genesis }, 'execute'), HEAD)
  const whole = fingerprint(db)
  for (const number of [57, 41, 19, 6, 0]) {
    const partialDb = openForWriting(temporaryDirectory(t))
    await importUpTo(await openWritableChain(partialDb, { genesis }, 'execute'), number)
    const writer = createChainWriter(db)
    writer.begin()
    writer.rewindTo(number)
    writer.commit()
    const expected = fingerprint(partialDb)
    partialDb.close()
    assert.deepEqual(fingerprint(db), expected, `rewound to ${number}`)
    assert.equal(createChainReader(db).head(), number)
  }
  await importUpTo(await openWritableChain(db, { genesis }, 'execute'), HEAD)
  assert.deepEqual(fingerprint(db), whole)
})

test('blocks read back from the database encode to the bytes that were imported', async (t) => {
  const db = openForWriting(temporaryDirectory(t))
  t.after(() => db.close())
  await importUpTo(await openWritableChain(db, { genesis }, 'execute'), HEAD)
  const reader = createChainReader(db)
  for (const block of fixtureBlocks()) {
    const { number } = block.header
    const stored = reader.blockByNumber(number)!
    const bytes = encodeBlock({
      header: stored.header,
      transactions: reader.transactions(stored),
      uncles: reader.uncles(number),
      withdrawals: stored.withdrawals,
    })
    assert.equal(formatData(bytes), formatData(encodeBlock(block)), `block ${number}`)
    const senders = reader.transactions(stored).map(({ from, hash }) => formatData(from) + formatData(hash))
    assert.deepEqual(
      senders,
      block.transactions.map(({ from, hash }) => formatData(from) + formatData(hash)),
    )
  }
})

test('a rollback leaves the database as it was, and the next batch lands whole', async (t) => {
  const db = openForWriting(temporaryDirectory(t))
  t.after(() => db.close())
  const chain = await openWritableChain(db, { genesis }, 'execute')
  const before = fingerprint(db)
  const [first] = fixtureBlocks()
  assert.throws(() =>
    chain.head.append({ ...first, transactions: first.transactions }, { receipts: [], totalDifficulty: 0n }),
  )
  assert.deepEqual(fingerprint(db), before)
  await importUpTo(chain, HEAD)
  assert.equal(chain.reader.head(), HEAD)
})
