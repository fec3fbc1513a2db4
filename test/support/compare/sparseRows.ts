import assert from 'node:assert/strict'
import type { Database } from '../../../src/store/database.js'
import { openForReading } from '../../../src/store/open.js'
import { ACCOUNT_ROWS, STORAGE_ROWS } from '../chains/historyRows.js'

// Ids of dictionaries depend on the order of first sight: their values are compared.
const ROWS = {
  blocks: 'SELECT * FROM blocks ORDER BY number',
  receipts: 'SELECT * FROM receipts ORDER BY tx_id',
  accounts: `SELECT a.address, h.block_number, h.nonce, h.balance, c.hash, h.incarnation
    FROM ${ACCOUNT_ROWS} h JOIN addresses a ON a.id = h.address_id LEFT JOIN code c ON c.id = h.code_id ORDER BY 1, 2`,
  storage: `SELECT a.address, s.incarnation, s.slot, s.block_number, s.value
    FROM ${STORAGE_ROWS} s JOIN addresses a ON a.id = s.address_id ORDER BY 1, 2, 3, 4`,
  meta: `SELECT key, iif(key = 'state_trie', json_extract(value, '$.root'), value) FROM meta
    WHERE key IN ('chain', 'chain_id', 'state_mode', 'state_first', 'closed_states', 'known_state', 'ancestor_hashes', 'state_trie') ORDER BY key`,
  entries: 'SELECT id, at, kind, data FROM state_log ORDER BY id',
}

/** Returns what differs first between two databases with sparse state; undefined when they are equal, row for row, with
 *  all that replicas get of the state. */
export function findSparseDifference(datadir: string, expected: string): string | undefined {
  const [found, wanted] = [datadir, expected].map(openForReading)
  const rowsOf = (db: Database, sql: string) =>
    db
      .prepare<[], unknown[]>(sql)
      .raw()
      .all()
      .map((row) =>
        JSON.stringify(row.map((each) => (each instanceof Uint8Array ? Buffer.from(each).toString('hex') : each))),
      )
  try {
    for (const [table, sql] of Object.entries(ROWS)) {
      const [own, right] = [rowsOf(found, sql), rowsOf(wanted, sql)]
      const at = right.findIndex((row, i) => row !== own[i])
      if (at >= 0 || own.length !== right.length) {
        const place = at < 0 ? right.length : at
        const [a, b] = [own[place], right[place]].map((row) => String(row).slice(0, 300))
        return `${table}: row ${place} of ${own.length} and ${right.length}: ${a}, expected ${b}`
      }
    }
    return undefined
  } finally {
    found.close()
    wanted.close()
  }
}

/** Fails unless two databases with sparse state are equal. */
export function compareSparseRows(datadir: string, expected: string, place: string): void {
  assert.equal(findSparseDifference(datadir, expected), undefined, place)
}
