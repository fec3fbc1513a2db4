import { isDeepStrictEqual } from 'node:util'
import type { Database } from '../store/database.js'
import { META_CHAIN_ID, readMetaRows } from '../store/meta.js'
import { readChainSource, specOfSource } from '../store/rows/chainSource.js'
import { compareSchema, describeEntry, findWrongSequences } from '../store/schemaFacts.js'
import { computeSeal, SEAL_NAMES, sealKey } from '../store/seals.js'
import { atPlace, DatabaseFault } from './fault.js'

/** Audits the file and the single rows: `PRAGMA integrity_check`, which compares every table with its indexes; the
 *  definitions of tables, indexes and views; meta facts, API keys and the pending layer-2 block by their seals. A
 *  trigger that no migration made is a fault, since it changes what is written. Returns other objects that no migration
 *  made, as `table NAME`: they do not change results. @throws DatabaseFault for the first difference */
export function auditFile(db: Database): string[] {
  atPlace({ table: 'cairn.db' }, () => checkIntegrity(db))
  const foreign = atPlace({ table: 'sqlite_schema' }, () => checkSchema(db))
  atPlace({ table: 'meta' }, () => checkFacts(db))
  return foreign
}

/** Runs SQLite's own check of the file. @throws DatabaseFault for the first fault */
export function checkIntegrity(db: Database): void {
  const place = { table: 'cairn.db' }
  const messages = db.pragma('integrity_check(1)') as { integrity_check: string }[]
  const problem = messages.map((row) => row.integrity_check).find((text) => text !== 'ok')
  if (problem !== undefined) throw new DatabaseFault(place, { field: 'integrity_check', found: oneLine(problem) })
  const encoding = db.pragma('encoding', { simple: true })
  if (encoding !== 'UTF-8') throw new DatabaseFault(place, { field: 'encoding', expected: 'UTF-8', found: encoding })
}

function oneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, ' ')
}

function checkSchema(db: Database): string[] {
  const { entries, foreign, migrations } = compareSchema(db)
  for (const { expected, found } of entries) {
    const place = { table: 'sqlite_schema', row: describeEntry(expected) }
    if (found === undefined) throw new DatabaseFault(place, { field: 'row', expected: 'one', found: 'none' })
    for (const field of ['type', 'tbl_name', 'sql'] as const) {
      if (found[field] === expected[field]) continue
      throw new DatabaseFault(place, { field, expected: expected[field], found: found[field] })
    }
  }
  if (!isDeepStrictEqual(migrations.found, migrations.expected)) {
    throw new DatabaseFault(
      { table: '__drizzle_migrations' },
      { field: 'rows', expected: JSON.stringify(migrations.expected), found: JSON.stringify(migrations.found) },
    )
  }
  const trigger = foreign.find(({ type }) => type === 'trigger')
  if (trigger) {
    const place = { table: 'sqlite_schema', row: describeEntry(trigger) }
    throw new DatabaseFault(place, { field: 'row', expected: 'none, since no migration makes it', found: trigger.sql })
  }
  const [sequence] = findWrongSequences(db)
  if (sequence) {
    const { table, next, last } = sequence
    throw new DatabaseFault(
      { table: 'sqlite_sequence', row: table },
      { field: 'seq', expected: `at least ${last}`, found: next },
    )
  }
  return foreign.map(describeEntry)
}

function checkFacts(db: Database): void {
  const facts = new Map<string, unknown>()
  for (const { key, value } of readMetaRows(db)) {
    atPlace({ table: 'meta', row: String(key) }, () => facts.set(key, JSON.parse(value)))
  }
  for (const name of SEAL_NAMES) {
    const expected = facts.get(sealKey(name))
    if (expected === undefined) continue // deleted by hand, as docs/schema.md describes
    const found = computeSeal(db, name)
    if (found !== expected) {
      throw new DatabaseFault({ table: SEALED_TABLES[name] }, { field: 'SHA-256 of the rows', expected, found })
    }
  }
  checkChainId(db, facts)
}

const SEALED_TABLES = {
  facts: 'meta',
  api_keys: 'api_keys',
  abis: 'abis',
  contract_sources: 'contract_sources',
  signature_sets: 'signature_sets',
  signature_pages: 'signature_pages',
  l2_pending: 'l2_pending',
} as const

/** Checks the chain id, also in a database without seals. */
function checkChainId(db: Database, facts: ReadonlyMap<string, unknown>): void {
  const place = { table: 'meta', row: META_CHAIN_ID }
  const source = readChainSource(db)
  const expected = source && specOfSource(source).chainId.toString()
  const found = facts.get(META_CHAIN_ID)
  if (found !== expected) throw new DatabaseFault(place, { field: 'value', expected, found })
}
