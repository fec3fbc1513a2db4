import { equalBytes } from '../lib/bytes.js'
import type { Database } from '../store/database.js'
import type { RawL2 } from '../store/l2/rawL2.js'
import { createMetaTable, META_L2_UPDATES_OF } from '../store/meta.js'
import type { RawRow } from '../store/rows/rawRows.js'
import { readStateUpdates } from '../sync/stateUpdates.js'
import { DatabaseFault } from './fault.js'
import { compareColumns } from './rowComparison.js'

const UPDATE_COLUMNS = ['l1_block', 'log_index', 'contract', 'number', 'hash', 'matches']

/** Compares `l2_state_updates` with the logs and the blocks, and `l2_state` with both. `acceptedOnL1` is the highest
 *  block recorded as accepted on layer 1, -1 without one. @throws DatabaseFault for the first difference */
export function auditL2Finality(db: Database, rows: RawL2, acceptedOnL1: number): void {
  const stored = rows.stateUpdates()
  const logged = checkStateUpdates(db, rows, stored)
  const place = { table: 'l2_state', row: 'id 1' }
  const [state, ...others] = rows.state()
  // With state updates, reports of an upstream do not count.
  const claimedAtLeast = stored.length === 0 ? acceptedOnL1 : -1
  if (state === undefined && claimedAtLeast < 0 && logged < 0) return
  if (state?.id !== 1 || others.length > 0) {
    throw new DatabaseFault(place, { field: 'id', expected: 'one row, 1', found: state?.id ?? null })
  }
  const claimed = typeof state.claimed_number === 'number' ? state.claimed_number : -1
  if (claimed < claimedAtLeast) {
    const expected = `at least ${claimedAtLeast}`
    throw new DatabaseFault(place, { field: 'claimed_number', expected, found: state.claimed_number })
  }
  const source = state.claimed_source
  if (claimed < 0 ? source !== null : source !== 'file' && source !== 'upstream') {
    throw new DatabaseFault(place, { field: 'claimed_source', expected: claimed < 0 ? null : 'file', found: source })
  }
  const number = Math.max(claimed, logged)
  const hash = rows.canonicalHash(number)
  if (number >= 0 && hash === undefined) {
    throw new DatabaseFault(place, { field: 'claimed_number', expected: 'that of a block', found: claimed })
  }
  const values = number < 0 ? [null, null, null] : [number, hash, logged === number ? 'logs' : source]
  compareColumns(place, state, ['l1_head_number', 'l1_head_hash', 'finality_source'], values)
}

/** Returns the highest block of a matching state update; -1 without one. */
function checkStateUpdates(db: Database, rows: RawL2, stored: readonly RawRow[]): number {
  const contracts = createMetaTable(db).get<string[]>(META_L2_UPDATES_OF) ?? []
  const addresses = contracts.map((address) => Buffer.from(address.slice(2), 'hex'))
  let highest = -1
  let index = 0
  for (const update of addresses.length > 0 ? readStateUpdates(db, addresses) : []) {
    const { l1Block, logIndex, contract, number, hash } = update
    const place = { table: 'l2_state_updates', row: `block ${l1Block}, log ${logIndex}` }
    const row = stored[index++]
    if (row === undefined) throw new DatabaseFault(place, { field: 'row', expected: 'one', found: 'none' })
    const canonical = rows.canonicalHash(number)
    const matches = canonical === undefined ? null : Number(equalBytes(canonical, hash))
    compareColumns(place, row, UPDATE_COLUMNS, [l1Block, logIndex, contract, number, hash, matches])
    if (matches === 1) highest = Math.max(highest, number)
  }
  if (index < stored.length) {
    const { l1_block: l1Block, log_index: logIndex } = stored[index]
    const place = { table: 'l2_state_updates', row: `block ${l1Block}, log ${logIndex}` }
    throw new DatabaseFault(place, { field: 'row', expected: 'none', found: 'one' })
  }
  return highest
}
