import { createHash } from 'node:crypto'
import type { Database, Statement } from './database.js'

/* Most of a database can be checked against itself: block hashes, roots and counts cover the rows. All other rows are
 * sealed: a SHA-256 over them is stored, so that `cairn verify` finds a changed byte. A seal does not protect against
 * an attacker with write access. */

/** True for keys of `meta` that a seal covers: all but those derived from other rows, and the seals themselves. */
export function isSealedFact(key: string): boolean {
  return key !== 'state_trie' && !key.startsWith('seal_')
}

/** The sealed rows by seal name. */
const SEALED = {
  facts: "SELECT key, value FROM meta WHERE key <> 'state_trie' AND key NOT LIKE 'seal!_%' ESCAPE '!' ORDER BY key",
  api_keys:
    'SELECT id, name, hash, created_at, revoked_at, rate_limit, max_concurrent, methods FROM api_keys ORDER BY id',
  abis: `SELECT id, name, address, json, added_at, compiler, sourcify_match, metadata_matches FROM abis ORDER BY id`,
  contract_sources: 'SELECT abi_id, files, hex(sources), hex(storage_layout) FROM contract_sources ORDER BY abi_id',
  signature_sets: 'SELECT id, name, functions, events, added_at FROM signature_sets ORDER BY id',
  signature_pages: 'SELECT set_id, kind, first_key, hex(data) FROM signature_pages ORDER BY set_id, kind, first_key',
  l2_pending: 'SELECT slot, number, parent_hash, json, raw FROM l2_pending ORDER BY slot',
} as const
type SealName = keyof typeof SEALED
export const SEAL_NAMES = Object.keys(SEALED) as SealName[]

/** The meta key of a seal. */
export function sealKey(name: SealName): string {
  return `seal_${name}`
}

const statements = new WeakMap<Database, Map<string, Statement>>()

/** Prepares a statement once for the connection: the facts are sealed several times with each block. */
function prepareOnce(db: Database, sql: string): Statement {
  const own = statements.get(db) ?? new Map<string, Statement>()
  statements.set(db, own)
  const statement = own.get(sql) ?? db.prepare(sql)
  own.set(sql, statement)
  return statement
}

/** Computes and stores a seal. Call it in the transaction that changes the rows. */
export function writeSeal(db: Database, name: SealName): void {
  const sql = 'INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value'
  prepareOnce(db, sql).run(sealKey(name), JSON.stringify(computeSeal(db, name)))
}

/** Writes missing seals, as in a new database; `rewrite` rewrites all. */
export function writeSeals(db: Database, { rewrite }: { rewrite: boolean }): void {
  const selectSeal = db.prepare<[string], number>('SELECT 1 FROM meta WHERE key = ?').pluck()
  for (const name of SEAL_NAMES) if (rewrite || selectSeal.get(sealKey(name)) === undefined) writeSeal(db, name)
}

/** SHA-256 over the rows, as hex digits. */
export function computeSeal(db: Database, name: SealName): string {
  const hash = createHash('sha256')
  for (const row of prepareOnce(db, SEALED[name]).raw().iterate()) {
    // JSON separates the values and keeps their types: a Buffer becomes an object.
    hash.update(`${JSON.stringify(row)}\n`)
  }
  return hash.digest('hex')
}
