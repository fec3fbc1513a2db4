import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DatabaseFault } from '../../src/audit/fault.js'
import { auditStateTrie, auditTrieHistory } from '../../src/audit/stateTrie.js'
import { createTrieHistoryExtension } from '../../src/evm/state/extendTrieHistory.js'
import { noProgress } from '../../src/lib/progress.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { createChainReader } from '../../src/store/rows/chainReader.js'
import { createStateReader } from '../../src/store/state/stateReader.js'
import { TrieLayers } from '../../src/store/state/trieLayers.js'
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

  const layers = db
    .prepare<[], { id: number; block: number; first: number }>(
      'SELECT id, block_number AS block, id * 1048576 AS first FROM trie_layers',
    )
    .all()
  assert.equal(layers.length, blocks.length - 40)
  const bytesOf = db.prepare<[number], Uint8Array>('SELECT data FROM trie_layer_parts WHERE id = ?').pluck()
  const setBytes = db.prepare<[Uint8Array, number]>('UPDATE trie_layer_parts SET data = ? WHERE id = ?')
  const audit = () => {
    TrieLayers.of(db).reload()
    auditStateTrie(db)
    auditTrieHistory(db)
  }
  for (const { block, first } of layers) {
    const bytes = Uint8Array.from(bytesOf.get(first)!)
    bytes[bytes.length - 1] ^= 1
    db.exec('BEGIN')
    setBytes.run(bytes, first)
    assert.throws(audit, { table: /^(state_trie_pages|trie_layers)$/ }, `the layer of block ${block}`)
    db.exec('ROLLBACK')
  }
  db.exec('BEGIN; DELETE FROM trie_layer_parts WHERE id = (SELECT max(id) FROM trie_layer_parts)')
  assert.throws(audit, DatabaseFault)
  db.exec('ROLLBACK')
  audit()
})
