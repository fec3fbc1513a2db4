import { createHash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import SqliteDatabase from 'better-sqlite3'
import type { Database } from './database.js'
import { DATABASE_FILE, DatabaseLocked } from './open.js'
import { openForWriting } from './openForWriting.js'
import { writeSeal } from './seals.js'

/** An API key without the key itself, which is not stored. */
export interface ApiKey {
  id: number
  name: string
  createdAt: number // Unix seconds
  revokedAt?: number
}

/** Reads and changes API keys. */
export interface ApiKeyTable {
  /** Creates a key of 32 random hex digits. It is returned once and not stored. */
  create(name: string): { id: number; key: string }
  /** All keys including revoked ones, oldest first. */
  list(): ApiKey[]
  /** False when no key has that id or it is already revoked. */
  revoke(id: number): boolean
}

/** Looks up keys. A key revoked by another process is rejected at once. */
export interface ApiKeyReader {
  /** Id of a live key. */
  find(key: string): number | undefined
  isLive(id: number): boolean
  /** True when there is a live key. */
  hasAny(): boolean
  /** A number that changes whenever another connection commits (`PRAGMA data_version`). */
  version(): number
}

/** The key table of a database opened for writing. */
export function createApiKeyTable(db: Database): ApiKeyTable {
  const change = (sql: string, ...values: unknown[]) =>
    db
      .transaction(() => {
        const result = db.prepare(sql).run(...values)
        writeSeal(db, 'api_keys')
        return result
      })
      .immediate()
  return {
    create(name) {
      const key = randomBytes(16).toString('hex')
      const insert = 'INSERT INTO api_keys (name, hash, created_at) VALUES (?, ?, ?)'
      const { lastInsertRowid } = change(insert, name, hashKey(key), unixSeconds())
      return { id: Number(lastInsertRowid), key }
    },
    list() {
      const rows = db
        .prepare<[], { id: number; name: string; created_at: number; revoked_at: number | null }>(
          'SELECT id, name, created_at, revoked_at FROM api_keys ORDER BY id',
        )
        .all()
      return rows.map((row) => ({
        id: row.id,
        name: row.name,
        createdAt: row.created_at,
        revokedAt: row.revoked_at ?? undefined,
      }))
    },
    revoke(id) {
      const update = 'UPDATE api_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL'
      return change(update, unixSeconds(), id).changes > 0
    },
  }
}

// Keys cached between commits, 100 bytes each.
const MAX_REMEMBERED = 10_000

/** A reader over an open database with statements prepared once. On a read-only connection, live keys are cached until
 *  another connection commits: that check takes 1 µs, hashing and looking up a key 10 µs. */
export function createApiKeyReader(db: Database): ApiKeyReader {
  const find = db.prepare<[Uint8Array], number>('SELECT id FROM api_keys WHERE hash = ? AND revoked_at IS NULL').pluck()
  const live = db.prepare<[number], number>('SELECT 1 FROM api_keys WHERE id = ? AND revoked_at IS NULL').pluck()
  const any = db.prepare<[], number>('SELECT 1 FROM api_keys WHERE revoked_at IS NULL LIMIT 1').pluck()
  const version = db.prepare<[], number>('PRAGMA data_version').pluck()
  const idsByKey = new Map<string, number>()
  const liveIds = new Set<number>()
  let seen: number | undefined
  const forgetAfterCommit = () => {
    const now = version.get()!
    if (now === seen && liveIds.size < MAX_REMEMBERED) return
    seen = now
    idsByKey.clear()
    liveIds.clear()
  }
  return {
    find(key) {
      if (!/^[0-9a-f]{32}$/.test(key)) return undefined
      forgetAfterCommit()
      const known = idsByKey.get(key)
      if (known !== undefined) return known
      const id = find.get(hashKey(key))
      if (id === undefined || !db.readonly) return id
      idsByKey.set(key, id)
      liveIds.add(id)
      return id
    },
    isLive(id) {
      forgetAfterCommit()
      if (liveIds.has(id)) return true
      if (live.get(id) === undefined) return false
      if (db.readonly) liveIds.add(id)
      return true
    },
    hasAny: () => any.get() !== undefined,
    version: () => version.get()!,
  }
}

/** Opens the database of `datadir` to change keys; creates it when missing. While an import holds the writer lock, keys
 *  are changed between its batches: a key must be revocable at any time. */
export function openForKeys(datadir: string): Database {
  try {
    return openForWriting(datadir)
  } catch (error) {
    const path = join(datadir, DATABASE_FILE)
    if (!(error instanceof DatabaseLocked) || !existsSync(path)) throw error
    return new SqliteDatabase(path, { timeout: 30_000 })
  }
}

// The key is 128 random bits. A slow hash, which protects guessable passwords, would add nothing.
function hashKey(key: string): Uint8Array {
  return createHash('sha256').update(key).digest()
}

function unixSeconds(): number {
  return Math.floor(Date.now() / 1000)
}
