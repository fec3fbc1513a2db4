import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import Database from 'better-sqlite3'
import { createCommitWatch } from '../../../src/store/commitWatch.js'
import { DATABASE_FILE, openForReading } from '../../../src/store/open.js'
import { createChainReader } from '../../../src/store/rows/chainReader.js'
import type { ChainReader, StoredBlock } from '../../../src/store/rows/types.js'
import { importFixture } from '../../support/chains/fixtureDatabase.js'
import { temporaryDirectory } from '../../support/temporary.js'

/* A block that is cached, and its parts that another connection replaces in between. */

const NUMBER = 1

/** The parts of the block, as text. */
const PARTS: { readonly [name: string]: (chain: ChainReader, block: StoredBlock) => unknown } = {
  transactionHashes: (chain, block) => chain.transactionHashes(block),
  transactions: (chain, block) => chain.transactions(block).map(({ hash }) => hash),
  transaction: (chain, block) => chain.transaction(block, 0)?.hash,
}

for (const mainThread of [true, false]) {
  for (const [name, read] of Object.entries(PARTS)) {
    test(`a cached block and its ${name} are of one commit ${mainThread ? 'on the main thread' : 'in a thread'}`, async (t) => {
      const datadir = temporaryDirectory(t)
      await importFixture(datadir)
      const writer = new Database(join(datadir, DATABASE_FILE))
      const db = openForReading(datadir)
      t.after(() => {
        db.close()
        writer.close()
      })
      const watch = createCommitWatch(db, { mainThread })
      const chain = createChainReader(db, watch)
      const { firstTx, txCount } = watch.withSnapshot(() => chain.blockByNumber(NUMBER)!)
      assert.ok(txCount > 0)
      const readAll = (meanwhile: () => void) =>
        watch.withSnapshot(() => {
          const block = chain.blockByNumber(NUMBER)!
          meanwhile()
          return JSON.stringify([block.hash, read(chain, block)])
        })
      const nextTurn = () => new Promise((resolve) => setImmediate(resolve))
      const before = readAll(() => {})
      // Two snapshots without a read: the next one begins without a transaction.
      for (let i = 0; i < 2; i++) {
        await nextTurn()
        watch.withSnapshot(() => chain.blockByNumber(NUMBER))
      }
      await nextTurn()
      let isReplaced = false
      const during = readAll(() => {
        if (isReplaced) return
        isReplaced = true
        writer.transaction(() => {
          writer.prepare('UPDATE blocks SET hash = ? WHERE number = ?').run(Buffer.alloc(32, 1), NUMBER)
          writer.prepare('UPDATE transactions SET hash = ? WHERE id = ?').run(Buffer.alloc(32, 2), firstTx)
        })()
      })
      await nextTurn()
      const after = readAll(() => {})
      assert.notEqual(before, after)
      assert.ok(during === before || during === after, during)
    })
  }
}
