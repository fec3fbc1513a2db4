import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { brotliCompressSync } from 'node:zlib'
import SqliteDatabase from 'better-sqlite3'
import { DatabaseFault } from '../../src/audit/fault.js'
import { auditRemovedBlocks } from '../../src/audit/removedBlocks.js'
import { DATABASE_FILE, openForReading } from '../../src/store/open.js'
import { KEPT_BLOCKS } from '../../src/store/rows/removedBlocks.js'
import { copyDatabase } from '../support/chains/fixtureDatabase.js'
import { openInventedChain } from '../support/chains/inventedChain.js'
import { seededRandom } from '../support/random.js'
import { temporaryDirectory } from '../support/temporary.js'

const whole = temporaryDirectory({ after })
before(async () => {
  const random = seededRandom(19)
  const chain = await openInventedChain(whole, { random, logsPerBlock: 3 })
  // Reorgs upon reorgs, also to shorter branches and to none.
  chain.change(0, 20)
  for (let i = 0; i < 60; i++) chain.change(random.below(Math.min(9, chain.blocks.length - 1)), random.below(9))
  chain.change(1, 2)
  chain.change(2, 0)
  chain.close()
})

/** The fault after this SQL. */
function faultAfter(t: Parameters<typeof copyDatabase>[0], sql: string): unknown {
  const datadir = copyDatabase(t, whole)
  const raw = new SqliteDatabase(join(datadir, DATABASE_FILE))
  raw.function('compress', (text) => brotliCompressSync(String(text)))
  raw.exec(sql)
  raw.close()
  const db = openForReading(datadir)
  try {
    auditRemovedBlocks(db)
    return undefined
  } catch (error) {
    return error
  } finally {
    db.close()
  }
}

test('the removed blocks of many reorgs have no fault', () => {
  const db = openForReading(whole)
  const count = auditRemovedBlocks(db)
  assert.ok(count > 100)
  assert.equal(db.prepare('SELECT count(*) FROM removed_blocks').pluck().get(), count)
  db.close()
})

const BIG = `WITH n(id) AS (SELECT 2 UNION ALL SELECT id + 1 FROM n WHERE id <= ${KEPT_BLOCKS + 1})`
const CASES: [sql: string, words: RegExp][] = [
  ['DELETE FROM removed_blocks WHERE id = 40', /^removed_blocks, row 39: id: expected 40, found 39$/],
  ["UPDATE removed_blocks SET hash = x'07' WHERE id = 40", /row 40: hash: expected 32 bytes, found 0x07/],
  ["UPDATE removed_blocks SET parent_hash = 'text' WHERE id = 40", /row 40: parent_hash: expected 32 bytes/],
  [
    'UPDATE removed_blocks SET parent_hash = zeroblob(32) WHERE id = (SELECT max(id) FROM removed_blocks)',
    /parent_hash: expected 0x\w+…? ?.*, found 0x0000/,
  ],
  [
    'UPDATE removed_blocks SET parent_hash = zeroblob(32) WHERE id = (SELECT max(id) - 1 FROM removed_blocks)',
    /parent_hash: expected 0x\w+…? ?.*, found 0x0000/,
  ],
  ["UPDATE removed_blocks SET logs = x'ff' WHERE id = 40", /row 40: cannot be decoded/],
  ["UPDATE removed_blocks SET logs = compress('nonsense') WHERE id = 40", /row 40: cannot be decoded/],
  [
    `${BIG} INSERT OR REPLACE INTO removed_blocks SELECT id, 1, zeroblob(32), zeroblob(32), x'' FROM n`,
    /removed_blocks: rows: expected at most 4096, found/,
  ],
]

for (const [sql, words] of CASES) {
  test(`names the fault after: ${sql}`, (t) => {
    const fault = faultAfter(t, sql)
    assert.ok(fault instanceof DatabaseFault, String(fault))
    assert.match(fault.message, words)
  })
}
