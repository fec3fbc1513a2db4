import { randomBytes } from 'node:crypto'
import SqliteDatabase from 'better-sqlite3'
import { equalBytes } from '../lib/bytes.js'
import { formatData } from '../lib/hex.js'
import { dropForeignObjects } from './cleanCopy.js'
import type { Database } from './database.js'
import {
  createMetaTable,
  META_CHAIN_ID,
  META_CURSOR_SECRET,
  META_FINALITY,
  META_KEYS,
  META_STATE_MODE,
  readMetaRows,
} from './meta.js'
import { requireKnownSchema } from './open.js'
import { type ReplicaPosition, readPosition, writePosition } from './replication/position.js'
import { createChainReader } from './rows/chainReader.js'
import type { Finality } from './rows/types.js'
import { SEAL_NAMES, sealKey, writeSeal, writeSeals } from './seals.js'

/** Position that a writer had published when its copy began. */
export interface PublishedPlace extends ReplicaPosition {
  /** Number of the block of that sequence. */
  readonly number: number
  readonly hash: Uint8Array // 32
}

/** Contents of a database copy. Hashes are hex DATA of 32 bytes. */
export interface CopyFacts {
  /** Number of its migrations. */
  readonly schema: number
  /** Decimal text. */
  readonly chainId: string
  /** Null when block 0 is not available. */
  readonly genesisHash: string | null
  readonly head: { readonly number: number; readonly hash: string }
  /** Null when none was recorded: the head counts as final. */
  readonly finality: Finality | null
  readonly stateMode: string
  readonly position: ReplicaPosition | null
}

/** Removes private data from the copy of a database: API keys and the cursor secret, also from the pages that contained
 *  them. The position is that of the replica, else the published place if the copy has its block. The copy must not be
 *  served before `completeCopy`. Returns its facts; undefined when it has no block. */
export function prepareCopy(db: Database, published: PublishedPlace | undefined): CopyFacts | undefined {
  const { found: schema } = requireKnownSchema(db)
  const reader = createChainReader(db)
  const number = reader.head()
  if (number === undefined) return undefined
  const hash = reader.blockHash(number)!
  db.pragma('secure_delete = ON') // deleted content becomes zeros
  db.transaction(() => {
    db.prepare('DELETE FROM api_keys').run()
    // A row deleted alone may leave an older copy of itself in its page; deleting all rows clears their pages.
    const rows = db.prepare<[string], unknown[]>('SELECT * FROM meta WHERE key <> ?').raw().all(META_CURSOR_SECRET)
    db.prepare('DELETE FROM meta').run()
    const insert = db.prepare('INSERT INTO meta VALUES (?, ?)')
    for (const row of rows) insert.run(...row)
    const meta = createMetaTable(db)
    const own = readPosition(meta, hash)
    const isOlder = own?.stream === published?.stream && (own?.sequence ?? 0) >= (published?.sequence ?? 0)
    if (published && !isOlder && holds(db, published)) {
      const { stream, sequence, epoch } = published
      writePosition(meta, { stream, sequence, epoch }, hash)
    }
    writeSeal(db, 'api_keys')
    writeSeal(db, 'facts')
  })()
  const meta = createMetaTable(db)
  const genesis = reader.blockHash(0)
  return {
    schema,
    chainId: meta.get<string>(META_CHAIN_ID)!,
    genesisHash: genesis === undefined ? null : formatData(genesis),
    head: { number, hash: formatData(hash) },
    finality: meta.get<Finality>(META_FINALITY) ?? null,
    stateMode: meta.get<string>(META_STATE_MODE)!,
    position: readPosition(meta, hash) ?? null,
  }
}

function holds(db: Database, { number, hash }: PublishedPlace): boolean {
  const held = createChainReader(db).blockHash(number)
  return held !== undefined && equalBytes(held, hash)
}

/** Result of restoring a copy. */
interface CompletedCopy {
  /** The newest block, its hash as hex DATA; undefined without blocks. */
  readonly head: { readonly number: number; readonly hash: string } | undefined
  /** What was left out, as `trigger NAME`, `setting NAME` or `1 API key`. */
  readonly leftOut: readonly string[]
}

/** Turns a copy, which may not have passed `prepareCopy`, into a database to serve: drops objects that no migration
 *  made, API keys and unknown settings, and replaces the cursor secret. Errors about its schema version call it `name`.
 *  @throws DatabaseOfEarlierBuild; DatabaseTooNew; ForeignSchema */
export function completeCopy(db: Database, name: string): CompletedCopy {
  requireKnownSchema(db, name)
  const dropped = dropForeignObjects(db)
  const others = db.transaction(() => {
    const removed = [...removeKeys(db), ...removeUnknownSettings(db)]
    createMetaTable(db).set(META_CURSOR_SECRET, randomBytes(32).toString('hex'))
    writeSeals(db, { rewrite: true })
    return removed
  })()
  const reader = createChainReader(db)
  const number = reader.head()
  return {
    head: number === undefined ? undefined : { number, hash: formatData(reader.blockHash(number)!) },
    leftOut: [...dropped, ...others],
  }
}

function removeKeys(db: Database): string[] {
  const { changes } = db.prepare('DELETE FROM api_keys').run()
  return changes === 0 ? [] : [`${changes} API ${changes === 1 ? 'key' : 'keys'}`]
}

function removeUnknownSettings(db: Database): string[] {
  const seals: readonly string[] = SEAL_NAMES.map(sealKey)
  const remove = db.prepare('DELETE FROM meta WHERE key IS ?')
  const unknown = readMetaRows(db).filter(({ key }) => !META_KEYS.includes(key) && !seals.includes(key))
  for (const { key } of unknown) remove.run(key)
  return unknown.map(({ key }) => `setting ${key}`)
}

/** Copies API keys and the cursor secret from the database file that a restored one replaces, unless keys were created
 *  since. Both have the schema of this version or an older one. */
export function carryKeys(oldPath: string, db: Database): void {
  const old = new SqliteDatabase(oldPath, { readonly: true })
  try {
    const isEmpty = db.prepare('SELECT 1 FROM api_keys').get() === undefined
    const secret = createMetaTable(old).get<string>(META_CURSOR_SECRET)
    const rows = old.prepare<[], { [column: string]: unknown }>('SELECT * FROM api_keys ORDER BY id').all()
    db.transaction(() => {
      if (isEmpty) for (const row of rows) insertRow(db, row)
      writeSeal(db, 'api_keys')
      if (isEmpty && secret !== undefined) createMetaTable(db).set(META_CURSOR_SECRET, secret)
    })()
  } finally {
    old.close()
  }
}

function insertRow(db: Database, row: { readonly [column: string]: unknown }): void {
  const columns = Object.keys(row)
  const names = columns.map((column) => `"${column}"`).join(', ')
  db.prepare(`INSERT INTO api_keys (${names}) VALUES (${columns.map(() => '?').join(', ')})`).run(...Object.values(row))
}
