import assert from 'node:assert/strict'
import { formatData } from '../../../src/lib/hex.js'
import type { RpcContext } from '../../../src/rpc/core/context.js'
import { runMethod } from '../../../src/rpc/core/runCall.js'
import { METHODS } from '../../../src/rpc/methods.js'
import type { Database } from '../../../src/store/database.js'
import { openForReading } from '../../../src/store/open.js'
import { createChainReader } from '../../../src/store/rows/chainReader.js'
import { createStateTrieTable } from '../../../src/store/state/stateTrieTable.js'
import { ACCOUNT_ROWS, STORAGE_ROWS } from '../chains/historyRows.js'
import type { Ask } from './allAnswers.js'

// Ids of dictionaries depend on the order of first sight, and stay when blocks are removed: their values are compared.
const ROWS = {
  blocks: 'SELECT * FROM blocks ORDER BY number',
  uncles: 'SELECT * FROM uncles ORDER BY block_number, idx',
  transactions: 'SELECT * FROM transactions ORDER BY id',
  receipts: 'SELECT * FROM receipts ORDER BY tx_id',
  logs: `SELECT l.id, l.tx_index, a.address, z.topic, l.topic1, l.topic2, l.topic3, l.data, l.data_length
    FROM logs l JOIN addresses a ON a.id = l.address_id LEFT JOIN topics z ON z.id = l.topic0_id ORDER BY l.id`,
  accounts: `SELECT a.address, h.block_number, h.nonce, h.balance, c.hash, h.incarnation
    FROM ${ACCOUNT_ROWS} h JOIN addresses a ON a.id = h.address_id LEFT JOIN code c ON c.id = h.code_id ORDER BY 1, 2`,
  storage: `SELECT a.address, s.incarnation, s.slot, s.block_number, s.value
    FROM ${STORAGE_ROWS} s JOIN addresses a ON a.id = s.address_id ORDER BY 1, 2, 3, 4`,
  stateUpdates: 'SELECT * FROM l2_state_updates ORDER BY l1_block, log_index',
  acceptedOnL1: 'SELECT * FROM l2_state',
  meta: `SELECT key, iif(key = 'state_trie', json_extract(value, '$.root', '$.accounts'), value) FROM meta
    WHERE key IN ('chain', 'chain_id', 'state_mode', 'state_trie') ORDER BY key`,
}

/** Fails unless two databases hold the same chain, row for row. */
export function compareRows(datadir: string, expected: string, place: string): void {
  const [found, wanted] = [datadir, expected].map(openForReading)
  const rowsOf = (db: Database, sql: string) => db.prepare<unknown[], unknown[]>(sql).raw().iterate()
  try {
    for (const [table, sql] of Object.entries(ROWS)) {
      const others = rowsOf(found, sql)
      let count = 0
      try {
        for (const row of rowsOf(wanted, sql)) {
          const other: unknown = others.next().value
          assert.equal(JSON.stringify(other), JSON.stringify(row), `${place}: ${table}, row ${count++}`)
        }
        assert.equal(others.next().value, undefined, `${place}: ${table}, row ${count}`)
      } finally {
        others.return?.()
      }
    }
  } finally {
    found.close()
    wanted.close()
  }
}

/** True when the stored state trie is that of the newest block: a replica brings it up to date after the blocks. */
export function isTrieAtHead(datadir: string): boolean {
  const db = openForReading(datadir)
  try {
    const reader = createChainReader(db)
    const { header } = reader.blockByNumber(reader.head()!)!
    return createStateTrieTable(db).head()?.root === formatData(header.stateRoot)
  } finally {
    db.close()
  }
}

/** The answer to each call, as text. */
export async function answersOf(context: RpcContext, asks: readonly Ask[]): Promise<string[]> {
  const answers: string[] = []
  for (const { method, params } of asks) {
    const outcome = await runMethod(METHODS.get(method)!, params, context)
    const answer = 'error' in outcome ? JSON.stringify(outcome.error) : Buffer.from(outcome.result).toString()
    answers.push(`${method} ${JSON.stringify(params)}: ${answer}`)
  }
  return answers
}
