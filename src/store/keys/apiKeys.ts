import { createHash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import SqliteDatabase from 'better-sqlite3'
import type { Database } from '../database.js'
import { DATABASE_FILE, DatabaseLocked } from '../open.js'
import { openForWriting } from '../openForWriting.js'
import { writeSeal } from '../seals.js'

/** Limits of one key. An absent limit is that of the server. */
export interface KeyLimits {
  /** Calls per second. */
  readonly rateRps?: number
  /** Calls in flight, over all connections. */
  readonly maxConcurrent?: number
  /** Patterns of methods, as `parseMethodPatterns` returns them. */
  readonly methods?: readonly string[]
}

/** A change of limits: null removes a limit, an absent one is kept. */
export type KeyLimitsChange = { readonly [K in keyof KeyLimits]?: KeyLimits[K] | null }

/** A key that is not revoked. */
export interface LiveKey {
  readonly id: number
  readonly name: string
  /** Undefined for a key without limits of its own. */
  readonly limits: KeyLimits | undefined
}

/** An API key without the key itself, which is not stored. */
export interface ApiKey extends KeyLimits {
  id: number
  name: string
  createdAt: number // Unix seconds
  revokedAt?: number
}

/** A new key; only its hash is stored. */
interface CreatedKey {
  readonly id: number
  readonly key: string
}

/** Reads and changes API keys. */
interface ApiKeyTable {
  /** Creates a key of 32 random hex digits, which is returned once and not stored. When `show` throws, nothing is
   *  stored: a key that was not shown must not exist. */
  create(name: string, limits?: KeyLimitsChange, show?: (created: CreatedKey) => void): CreatedKey
  /** All keys including revoked ones, oldest first. */
  list(): ApiKey[]
  /** False when no key has that id or it is already revoked. */
  revoke(id: number): boolean
  /** False when no live key has that id. */
  limit(id: number, change: KeyLimitsChange): boolean
}

/** Looks up keys. A key revoked by another process is rejected at once. */
export interface ApiKeyReader {
  find(key: string): LiveKey | undefined
  /** The key with that id and its limits as they are now; undefined once it is revoked. */
  live(id: number): LiveKey | undefined
  /** True when there is a live key. */
  hasAny(): boolean
  /** A number that changes whenever another connection commits (`PRAGMA data_version`). */
  version(): number
}

/** Accesses the key table of a database opened for writing. */
export function createApiKeyTable(db: Database): ApiKeyTable {
  const inTransaction = <T>(work: () => T): T => db.transaction(work).immediate()
  const run = (sql: string, ...values: unknown[]) => {
    const result = db.prepare(sql).run(...values)
    writeSeal(db, 'api_keys')
    return result
  }
  const change = (sql: string, ...values: unknown[]) => inTransaction(() => run(sql, ...values))
  return {
    create(name, limits = {}, show = () => {}) {
      const key = randomBytes(16).toString('hex')
      const insert =
        'INSERT INTO api_keys (name, hash, created_at, rate_limit, max_concurrent, methods) VALUES (?, ?, ?, ?, ?, ?)'
      return inTransaction(() => {
        const { lastInsertRowid } = run(insert, name, hashKey(key), unixSeconds(), ...limitValues(limits))
        const created = { id: Number(lastInsertRowid), key }
        show(created)
        return created
      })
    },
    list() {
      const rows = db
        .prepare<[], KeyRow & { created_at: number; revoked_at: number | null }>(
          `SELECT ${KEY_COLUMNS}, created_at, revoked_at FROM api_keys ORDER BY id`,
        )
        .all()
      return rows.map((row) => ({
        id: row.id,
        name: row.name,
        createdAt: row.created_at,
        revokedAt: row.revoked_at ?? undefined,
        ...readLimits(row),
      }))
    },
    revoke(id) {
      const update = 'UPDATE api_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL'
      return change(update, unixSeconds(), id).changes > 0
    },
    limit(id, limits) {
      const given = Object.entries(LIMIT_COLUMNS).filter(([name]) => limits[name as keyof KeyLimits] !== undefined)
      const values = given.map(([name]) => limitValue(limits[name as keyof KeyLimits]))
      const columns = given.map(([, column]) => `${column} = ?`).join(', ')
      const update = `UPDATE api_keys SET ${columns} WHERE id = ? AND revoked_at IS NULL`
      return change(update, ...values, id).changes > 0
    },
  }
}

const LIMIT_COLUMNS = {
  rateRps: 'rate_limit',
  maxConcurrent: 'max_concurrent',
  methods: 'methods',
} as const satisfies { readonly [K in keyof Required<KeyLimits>]: string }

const KEY_COLUMNS = ['id', 'name', ...Object.values(LIMIT_COLUMNS)].join(', ')

interface KeyRow {
  id: number
  name: string
  rate_limit: number | null
  max_concurrent: number | null
  methods: string | null
}

/** The values of the limit columns, in their order. */
function limitValues(limits: KeyLimitsChange): (number | string | null)[] {
  return Object.keys(LIMIT_COLUMNS).map((name) => limitValue(limits[name as keyof KeyLimits]))
}

function limitValue(value: KeyLimitsChange[keyof KeyLimits]): number | string | null {
  return typeof value === 'object' ? (value?.join(',') ?? null) : (value ?? null)
}

function readLimits(row: KeyRow): KeyLimits {
  return {
    ...(row.rate_limit !== null && { rateRps: row.rate_limit }),
    ...(row.max_concurrent !== null && { maxConcurrent: row.max_concurrent }),
    ...(row.methods !== null && { methods: row.methods.split(',') }),
  }
}

function readLiveKey(row: KeyRow): LiveKey {
  const limits = readLimits(row)
  return { id: row.id, name: row.name, limits: Object.keys(limits).length === 0 ? undefined : limits }
}

// Keys cached between commits, 200 bytes each.
const MAX_REMEMBERED = 10_000

/** Creates a reader over an open database with statements prepared once. On a read-only connection, live keys are
 *  cached until another connection commits: that check takes 1 µs, hashing and looking up a key 10 µs. */
export function createApiKeyReader(db: Database): ApiKeyReader {
  const select = `SELECT ${KEY_COLUMNS} FROM api_keys WHERE revoked_at IS NULL`
  const find = db.prepare<[Uint8Array], KeyRow>(`${select} AND hash = ?`)
  const live = db.prepare<[number], KeyRow>(`${select} AND id = ?`)
  const any = db.prepare<[], number>('SELECT 1 FROM api_keys WHERE revoked_at IS NULL LIMIT 1').pluck()
  const version = db.prepare<[], number>('PRAGMA data_version').pluck()
  const byKey = new Map<string, LiveKey>()
  const byId = new Map<number, LiveKey>()
  let seen: number | undefined
  const forgetAfterCommit = () => {
    const now = version.get()!
    if (now === seen && byId.size < MAX_REMEMBERED) return
    seen = now
    byKey.clear()
    byId.clear()
  }
  return {
    find(key) {
      if (!/^[0-9a-f]{32}$/.test(key)) return undefined
      forgetAfterCommit()
      const known = byKey.get(key)
      if (known !== undefined) return known
      const row = find.get(hashKey(key))
      if (row === undefined) return undefined
      const found = readLiveKey(row)
      if (!db.readonly) return found
      byKey.set(key, found)
      byId.set(found.id, found)
      return found
    },
    live(id) {
      forgetAfterCommit()
      const known = byId.get(id)
      if (known !== undefined) return known
      const row = live.get(id)
      if (row === undefined) return undefined
      const found = readLiveKey(row)
      if (db.readonly) byId.set(id, found)
      return found
    },
    hasAny: () => any.get() !== undefined,
    version: () => version.get()!,
  }
}

// Storing a block takes less.
const BUSY_MS = 2000

/** Opens the database of `datadir` to change keys, creating it if missing. While another process holds the writer lock,
 *  keys are changed between its transactions: a key must be revocable at any time. A change throws SQLITE_BUSY when
 *  none of them ends within two seconds. */
export function openForKeys(datadir: string): Database {
  try {
    return openForWriting(datadir)
  } catch (error) {
    const path = join(datadir, DATABASE_FILE)
    if (!(error instanceof DatabaseLocked) || !existsSync(path)) throw error
    return new SqliteDatabase(path, { timeout: BUSY_MS })
  }
}

// The key is 128 random bits. A slow hash, which protects guessable passwords, would add nothing.
function hashKey(key: string): Uint8Array {
  return createHash('sha256').update(key).digest()
}

function unixSeconds(): number {
  return Math.floor(Date.now() / 1000)
}
