import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditStateTrie, auditTrieHistory } from '../../src/audit/stateTrie.js'
import { createTrieHistoryExtension } from '../../src/evm/state/extendTrieHistory.js'
import { noProgress } from '../../src/lib/progress.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { createChainReader } from '../../src/store/rows/chainReader.js'
import { createStateReader } from '../../src/store/state/stateReader.js'
import { openWritableChain } from '../../src/sync/chainState.js'
import { importBlocks } from '../../src/sync/pipeline.js'
import { fixtureBlocks, fixtureGenesis, sourceOf } from '../support/chains/fixture.js'
import { temporaryDirectory } from '../support/temporary.js'

test('every kept page of a trie before the head is verified, and a damaged one is named', async (t) => {
  const db = openForWriting(temporaryDirectory(t))
  t.after(() => void db.close())
  const blocks = fixtureBlocks()
  const chain = await openWritableChain(db, { genesis: fixtureGenesis() }, 'execute')
  const add = (from: number, to?: number) =>
    importBlocks(chain, sourceOf(blocks.slice(from, to)), { progress: noProgress, finishIndexes: false })
  // Both ways to keep them: block by block, and from the head down.
  await add(0, 40)
  const extend = createTrieHistoryExtension(db, { chain: createChainReader(db), reader: createStateReader(db) }, 1)
  while (extend());
  for (let block = 40; block < blocks.length; block++) await add(block, block + 1)

  auditStateTrie(db)
  assert.equal(auditTrieHistory(db), blocks.length)
  const versions = db
    .prepare<[], { page: number; block: number }>(
      'SELECT page_id AS page, block_number AS block FROM trie_page_versions',
    )
    .all()
  assert.ok(versions.length > blocks.length)
  const damage = db.prepare<[number, number]>(
    `UPDATE trie_page_versions SET data = substr(data, 1, length(data) - 1) || x'00'
     WHERE page_id = ? AND block_number = ? AND substr(data, -1) != x'00'`,
  )
  let damaged = 0
  for (const { page, block } of versions) {
    db.exec('BEGIN')
    try {
      if (damage.run(page, block).changes === 0) continue
      damaged++
      assert.throws(
        () => auditTrieHistory(db),
        { table: 'trie_page_versions', row: new RegExp(`block ${block}\\b`) },
        `page ${page} of block ${block}`,
      )
    } finally {
      db.exec('ROLLBACK')
    }
  }
  assert.ok(damaged > versions.length / 2)
})
