import type { Database } from '../database.js'
import { writeSeal } from '../seals.js'
import type { KeyLimits } from './apiKeys.js'

/** An API key as it is exported and imported: without the key itself, which is never stored. */
export interface TransferredKey extends KeyLimits {
  readonly name: string
  readonly sha256: string // of the key, 64 lower-case hex digits
  readonly createdAt: number // Unix seconds
  readonly revokedAt?: number
}

/** Result of an import, in keys. `changed`: another name, other limits, or revoked. */
interface KeyImport {
  readonly added: number
  readonly changed: number
  readonly unchanged: number
}

interface KeyRow {
  readonly name: string
  readonly sha256: string
  readonly created_at: number
  readonly revoked_at: number | null
  readonly rate_limit: number | null
  readonly max_concurrent: number | null
  readonly methods: string | null
}

const SELECT = `SELECT name, lower(hex(hash)) AS sha256, created_at, revoked_at, rate_limit, max_concurrent, methods FROM api_keys`

/** All keys of a database, revoked ones too, oldest first. */
export function exportKeys(db: Database): TransferredKey[] {
  const rows = db.prepare<[], KeyRow>(`${SELECT} ORDER BY id`).all()
  return rows.map(({ name, sha256, created_at, revoked_at, rate_limit, max_concurrent, methods }) => ({
    name,
    sha256,
    createdAt: created_at,
    ...(revoked_at !== null && { revokedAt: revoked_at }),
    ...(rate_limit !== null && { rateRps: rate_limit }),
    ...(max_concurrent !== null && { maxConcurrent: max_concurrent }),
    ...(methods !== null && { methods: methods.split(',') }),
  }))
}

/** Adds the keys that the database does not have, and updates the names and limits of the others, in one transaction. A
 *  key that is revoked on either side is revoked afterwards. Other keys in the database stay as they are. The database
 *  must be open for writing. */
export function importKeys(db: Database, keys: readonly TransferredKey[]): KeyImport {
  const select = db.prepare<[Uint8Array], KeyRow>(`${SELECT} WHERE hash = ?`)
  const insert = db.prepare(
    'INSERT INTO api_keys (name, created_at, revoked_at, rate_limit, max_concurrent, methods, hash) VALUES (?, ?, ?, ?, ?, ?, ?)',
  )
  const update = db.prepare(
    'UPDATE api_keys SET name = ?, created_at = ?, revoked_at = ?, rate_limit = ?, max_concurrent = ?, methods = ? WHERE hash = ?',
  )
  const count = { added: 0, changed: 0, unchanged: 0 }
  const put = (key: TransferredKey) => {
    const hash = Buffer.from(key.sha256, 'hex')
    const held = select.get(hash)
    const { name, rateRps = null, maxConcurrent = null, methods } = key
    const createdAt = held?.created_at ?? key.createdAt
    const revokedAt = held?.revoked_at ?? key.revokedAt ?? null
    const values = [name, createdAt, revokedAt, rateRps, maxConcurrent, methods?.join(',') ?? null]
    if (held === undefined) {
      insert.run(...values, hash)
      count.added++
    } else if (values.every((value, i) => value === valuesOf(held)[i])) {
      count.unchanged++
    } else {
      update.run(...values, hash)
      count.changed++
    }
  }
  db.transaction(() => {
    for (const key of keys) put(key)
    writeSeal(db, 'api_keys')
  }).immediate()
  return count
}

function valuesOf(row: KeyRow): (string | number | null)[] {
  return [row.name, row.created_at, row.revoked_at, row.rate_limit, row.max_concurrent, row.methods]
}
