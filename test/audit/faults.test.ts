import assert from 'node:assert/strict'
import { truncateSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import SqliteDatabase from 'better-sqlite3'
import type { AuditPart } from '../../src/audit/database.js'
import { DatabaseFault } from '../../src/audit/fault.js'
import { noProgress } from '../../src/lib/progress.js'
import { createAddedAbiTable } from '../../src/store/addedAbis.js'
import { createApiKeyTable } from '../../src/store/keys/apiKeys.js'
import { DATABASE_FILE } from '../../src/store/open.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { createSignatureTable } from '../../src/store/signatures.js'
import { fillTraces } from '../../src/sync/fillTraces.js'
import { HEAD } from '../support/chains/fixtureChain.js'
import { copyDatabase, importFixture } from '../support/chains/fixtureDatabase.js'
import { findFault } from '../support/compare/findFault.js'
import { temporaryDirectory } from '../support/temporary.js'

const whole = temporaryDirectory({ after })
before(async () => {
  await importFixture(whole)
  const db = openForWriting(whole)
  await fillTraces(db, { progress: noProgress })
  createApiKeyTable(db).create('somebody')
  createAddedAbiTable(db).add({
    ...{ name: 'nothing', address: undefined, json: '[]' },
    sources: { files: [{ path: 'Nothing.sol', content: '' }], storageLayout: undefined },
  })
  const signatures = {
    function: { keys: [0xa9059cbb], texts: ['transfer(address,uint256)'] },
    event: { keys: [], texts: [] },
  }
  createSignatureTable(db).add('some', signatures)
  db.pragma('wal_checkpoint(TRUNCATE)')
  db.close()
})

/** What SQL does to the database, where the fault is named, and what the words say. */
const CASES: [sql: string, table: string, words: RegExp][] = [
  [
    "UPDATE logs SET data = x'01' WHERE id = 100",
    'blocks',
    /block \d+: (logs bloom|receipts root): expected 0x.*, found 0x/,
  ],
  ["UPDATE logs SET topic1 = x'0007' WHERE topic1 = x'07'", 'logs', /log \d+: topic1: expected 0x07, found 0x0007/],
  [
    'UPDATE logs SET address_id = 9999 WHERE id = 3',
    'logs',
    /log \d+: address_id: expected the id of 20 bytes, found none/,
  ],
  ['UPDATE logs SET tx_index = 7 WHERE id = 0', 'logs', /tx_index: expected 0 to 0, found 7/],
  ['DELETE FROM logs WHERE id = 5', 'logs', /block \d+, log \d+: id|rows: expected \d+, found \d+/],
  [
    "UPDATE transactions SET sender = x'00' WHERE id = 3",
    'transactions',
    /transaction 0: sender: expected 0x\w{40}, found 0x00/,
  ],
  ['UPDATE transactions SET value = 7 WHERE id = 0', 'transactions', /block 1, transaction 0: hash: expected/],
  ['UPDATE transactions SET block_number = 9 WHERE id = 0', 'transactions', /block_number: expected 1, found 9/],
  ['UPDATE receipts SET gas_used = 1 WHERE tx_id = 0', 'receipts', /gas_used: expected 21000, found 1/],
  [
    'UPDATE receipts SET effective_gas_price = 1 WHERE tx_id = 0',
    'receipts',
    /effective_gas_price: expected \d+, found 1/,
  ],
  [
    "UPDATE receipts SET contract_address = x'00' WHERE tx_id = 0",
    'receipts',
    /contract_address: expected NULL, found 0x00/,
  ],
  ['UPDATE receipts SET status = 0 WHERE tx_id = 20', 'blocks', /receipts root: expected 0x/],
  ['UPDATE receipts SET first_log = first_log + 1 WHERE tx_id = 3', 'receipts', /first_log: expected/],
  [
    'DELETE FROM address_appearances WHERE block_number = 3',
    'address_appearances',
    /block 3: row: expected one, found none/,
  ],
  [
    'UPDATE address_appearances SET data = (SELECT data FROM address_appearances WHERE block_number = 17) WHERE block_number = 18',
    'address_appearances',
    /block 18: (transactions: expected|addresses of transaction \d+: expected 0x)/,
  ],
  [
    "UPDATE address_appearances SET data = CAST(substr(data, 1, length(data) - 1) || x'00' AS BLOB) WHERE block_number = 17",
    'address_appearances',
    /block 17: data: expected 0x/,
  ],
  ["INSERT INTO address_appearances VALUES (9999, x'')", 'address_appearances', /row 9999: block: belongs to none/],
  ['DELETE FROM traces WHERE block_number = 3', 'traces', /block 3: row: expected one, found none/],
  [
    'UPDATE traces SET data = (SELECT data FROM traces WHERE block_number = 17) WHERE block_number = 18',
    'traces',
    /block 18: (transactions: expected|transaction \d+: expected its message)/,
  ],
  [
    "UPDATE traces SET data = CAST(substr(data, 1, length(data) - 1) || x'00' AS BLOB) WHERE block_number = 17",
    'traces',
    /block 17: data: expected bytes with this checksum, found others/,
  ],
  ["UPDATE traces SET data = x'0102' WHERE block_number = 17", 'traces', /block 17/],
  ["INSERT INTO traces VALUES (9999, x'')", 'traces', /row 9999: block: belongs to none/],
  ['UPDATE blocks SET timestamp = timestamp + 1 WHERE number = 17', 'blocks', /block 17: hash: expected/],
  [
    'UPDATE blocks SET total_difficulty = 5 WHERE number = 59',
    'blocks',
    /block 59: total_difficulty: expected \d+, found 5/,
  ],
  ['UPDATE blocks SET size = 5 WHERE number = 59', 'blocks', /block 59: size: expected \d+, found 5/],
  ['UPDATE blocks SET first_tx = first_tx + 1 WHERE number = 10', 'blocks', /block 10: first_tx: expected/],
  ['DELETE FROM blocks WHERE number = 30', 'blocks', /block 30: row: expected one, found none/],
  ["UPDATE uncles SET hash = x'00' WHERE block_number = 2", 'uncles', /block 2, uncle 0: hash: expected/],
  ['DELETE FROM uncles WHERE block_number = 2', 'blocks', /block 2: uncles hash: expected/],
  ["INSERT INTO uncles VALUES (99, 0, x'00', x'00')", 'uncles', /row 99: block: belongs to none/],
  ["UPDATE blocks SET withdrawals = x'c0' WHERE number = 33", 'blocks', /block 33: withdrawals root/],
  [
    'UPDATE account_history SET balance = 1 WHERE block_number = 5',
    'account_history and storage_history',
    /block 5: state root of the rows: expected 0x/,
  ],
  [
    'UPDATE account_history SET incarnation = 3 WHERE block_number = 5',
    'account_history',
    /block 5, address \d+: incarnation: expected 0, found 3/,
  ],
  [
    "UPDATE account_history SET balance = '5' WHERE block_number = 5",
    'account_history',
    /balance: expected 5, found 5 \(text\)|balance/,
  ],
  [
    "UPDATE storage_history SET value = x'09' WHERE block_number = 5",
    'account_history and storage_history',
    /block 5: state root/,
  ],
  [
    'UPDATE storage_history SET incarnation = 1 WHERE block_number = 5',
    'storage_history',
    /block 5, address \d+: row: expected slot 0x, found none/,
  ],
  [
    "UPDATE storage_history SET slot = x'00' WHERE slot = x''",
    'storage_history',
    /block 5, address \d+: row: expected slot 0x, found none/,
  ],
  [
    "INSERT INTO storage_history VALUES (1, 0, x'05', 7, x'01')",
    'storage_tip and storage_recent and storage_older and storage_history',
    /: rows: expected \d+, found \d+/,
  ],
  [
    `INSERT INTO account_history SELECT address_id, 59, nonce, balance, code_id, incarnation FROM account_history h
     WHERE NOT EXISTS (SELECT 1 FROM account_history WHERE address_id = h.address_id AND block_number = 59) LIMIT 1`,
    'account_tip and account_recent and account_older and account_history',
    /: rows: expected \d+, found \d+/,
  ],
  [
    'DELETE FROM account_history WHERE block_number = 5',
    'changed_keys',
    /block 5: accounts: expected accounts that have a row, found address \d+/,
  ],
  ['DELETE FROM changed_keys WHERE block_number = 5', 'account_history and storage_history', /block 5: state root/],
  [
    'UPDATE changed_keys SET accounts = CAST(substr(accounts, 1, length(accounts) - 1) AS BLOB) WHERE block_number = 5',
    'changed_keys',
    /block 5: cannot be decoded: the bytes end/,
  ],
  [
    "UPDATE changed_keys SET slots = CAST(slots || x'00' AS BLOB) WHERE block_number = 5",
    'changed_keys',
    /block 5: cannot be decoded: 1 bytes after the last changed key/,
  ],
  [
    "INSERT INTO changed_keys VALUES (9999, x'0101', x'')",
    'changed_keys',
    /block 9999: block_number: expected 0 to \d+, found 9999/,
  ],
  [
    `INSERT INTO storage_history VALUES (1, 0, x'05', ${HEAD + 1}, x'01')`,
    'storage_history',
    new RegExp(`block_number: expected 0 to ${HEAD}, found ${HEAD + 1}`),
  ],
  ["UPDATE code SET bytes = x'00' WHERE id = 1", 'code', /code 1: hash: expected/],
  [
    'UPDATE state_trie_pages SET data = zeroblob(length(data)) WHERE id = (SELECT max(id) FROM state_trie_pages)',
    'state_trie_pages',
    /: /,
  ],
  ["INSERT INTO state_trie_pages VALUES (1000000, x'00')", 'state_trie_pages', /nextPage/],
  [
    "UPDATE meta SET value = replace(value, 'berlinBlock\":22', 'berlinBlock\":23') WHERE key = 'chain'",
    'meta',
    /SHA-256 of the rows/,
  ],
  ["UPDATE meta SET value = '\"none\"' WHERE key = 'state_mode'", 'meta', /SHA-256 of the rows/],
  ["DELETE FROM meta WHERE key = 'chain_id'", 'meta', /SHA-256 of the rows/],
  ['UPDATE api_keys SET hash = zeroblob(32)', 'api_keys', /SHA-256 of the rows/],
  ["UPDATE abis SET name = 'other'", 'abis', /SHA-256 of the rows/],
  ["UPDATE contract_sources SET sources = x'00'", 'contract_sources', /SHA-256 of the rows/],
  ["UPDATE signature_sets SET name = 'other'", 'signature_sets', /SHA-256 of the rows/],
  ["UPDATE signature_pages SET data = x'00'", 'signature_pages', /SHA-256 of the rows/],
  ["UPDATE l2_pending SET json = replace(json, '0x', '0x1')", 'l2_pending', /SHA-256 of the rows/],
  ['UPDATE l2_blocks SET l1_wei = 1 WHERE number = 3', 'l2_blocks', /block 3: l1_wei: expected 1000000003, found 1/],
  ["UPDATE l2_blocks SET raw = x'00' WHERE number = 3", 'l2_blocks', /block 3: cannot be decoded/],
  ['DELETE FROM l2_block_txs WHERE idx = 2', 'l2_block_txs', /rows: expected \d, found \d/],
  ['UPDATE l2_state SET l1_head_number = 5', 'l2_state', /l1_head_number: expected 3, found 5/],
  ["UPDATE l2_state SET l1_head_hash = x'00'", 'l2_state', /l1_head_hash: expected 0x/],
  ['UPDATE l2_state SET claimed_number = 1', 'l2_state', /claimed_number: expected at least 3, found 1/],
  ["UPDATE l2_state SET claimed_source = 'fire'", 'l2_state', /claimed_source: expected file, found fire/],
  ["UPDATE l2_state SET finality_source = 'logs'", 'l2_state', /finality_source: expected file, found logs/],
  ['DELETE FROM l2_state', 'l2_state', /id: expected one row, 1, found NULL/],
  [
    "INSERT INTO l2_state_updates VALUES (7, 0, x'00', 5, x'00', NULL)",
    'l2_state_updates',
    /block 7, log 0: row: expected none, found one/,
  ],
  ['DROP INDEX blocks_by_first_log', 'sqlite_schema', /index blocks_by_first_log: row: expected one, found none/],
  [
    'UPDATE __drizzle_migrations SET hash = 1 WHERE created_at = (SELECT min(created_at) FROM __drizzle_migrations)',
    '__drizzle_migrations',
    /rows/,
  ],
]

function partOf(table: string): AuditPart {
  if (/^(l2_blocks|l2_block_txs|l2_state|l2_state_updates)$/.test(table)) return 'l2'
  if (
    /^(meta|api_keys|abis|contract_sources|signature_sets|signature_pages|l2_pending|sqlite_schema|__drizzle_migrations)$/.test(
      table,
    )
  )
    return 'file'
  return /history|^changed_keys|^code|^state/.test(table) ? 'stateHistory' : 'blocks'
}

test('a database as it was imported has no fault', () => {
  assert.equal(findFault(whole), undefined)
})

for (const [sql, table, words] of CASES) {
  test(`names the fault after: ${sql}`, (t) => {
    const datadir = copyDatabase(t, whole)
    const db = new SqliteDatabase(join(datadir, DATABASE_FILE))
    db.exec(sql)
    db.close()
    const fault = findFault(datadir, [partOf(table)])
    assert.ok(fault instanceof DatabaseFault, String(fault))
    assert.equal(fault.table, table, fault.message)
    assert.match(fault.message, words)
  })
}

test('only the blocks that are asked for are looked at', (t) => {
  const datadir = copyDatabase(t, whole)
  const db = new SqliteDatabase(join(datadir, DATABASE_FILE))
  db.exec('UPDATE blocks SET size = 5 WHERE number = 30')
  db.close()
  assert.equal(findFault(datadir, ['file', 'stateHistory', 'index', 'l2']), undefined)
  assert.match(String(findFault(datadir, ['blocks'])), /block 30: size/)
})

test('a file that is cut, or is no database, has a fault', (t) => {
  const datadir = copyDatabase(t, whole)
  truncateSync(join(datadir, DATABASE_FILE), 300_000)
  assert.match(String(findFault(datadir)), /^DatabaseFault: cairn\.db: /)
  truncateSync(join(datadir, DATABASE_FILE), 50)
  assert.match(String(findFault(datadir)), /^DatabaseFault: cairn\.db: cannot be read: /)
})

test('a database without seals is sealed when it is next written', (t) => {
  const datadir = copyDatabase(t, whole)
  const raw = new SqliteDatabase(join(datadir, DATABASE_FILE))
  raw.exec("DELETE FROM meta WHERE key LIKE 'seal%'")
  raw.close()
  assert.equal(findFault(datadir), undefined)
  const db = openForWriting(datadir)
  db.exec('UPDATE api_keys SET revoked_at = 1')
  db.close()
  assert.match(String(findFault(datadir)), /api_keys: SHA-256/)
})
