import type { Database } from './database.js'
import { isSealedFact, writeSeal } from './seals.js'

/** Facts about the whole database, as JSON values. `docs/schema.md` lists the keys. */
export interface MetaTable {
  get<T>(key: string): T | undefined
  set(key: string, value: unknown): void
}

/** The meta table of an open database. `set` needs a connection that may write. */
export function createMetaTable(db: Database): MetaTable {
  const select = db.prepare<[string], { value: string }>('SELECT value FROM meta WHERE key = ?')
  const upsert = () =>
    db.prepare('INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value')
  let statement: ReturnType<typeof upsert> | undefined
  return {
    get: (key) => {
      const row = select.get(key)
      return row && JSON.parse(row.value)
    },
    set: (key, value) => {
      statement ??= upsert()
      statement.run(key, JSON.stringify(value))
      if (isSealedFact(key)) writeSeal(db, 'facts')
    },
  }
}

/** All facts in their stored form, ordered by key. */
export function readMetaRows(db: Database): { key: string; value: string }[] {
  return db.prepare<[], { key: string; value: string }>('SELECT key, value FROM meta ORDER BY key').all()
}

/** Meta key of the chain: `{genesis}` as the file had it, or `{network}` for a built-in one. */
export const META_CHAIN = 'chain'
/** Meta key of the chain id, a decimal text. */
export const META_CHAIN_ID = 'chain_id'
/** Meta key of the state mode: 'execute' or 'none'. */
export const META_STATE_MODE = 'state_mode'
/** Meta key of the layer-2 network's name, where one was named. */
export const META_L2_NETWORK = 'l2_network'
/** Meta key of the layer-2 chain id as text (`SN_MAIN`): the named network's, or one that a verified hash covers. */
export const META_L2_CHAIN_ID = 'l2_chain_id'
/** Meta key of the settings of both indexes, of logs and of transactions: `{secret, chunkBits}`; see segments/indexSettings. */
export const META_LOG_INDEX = 'log_index'
/** Meta key of the secret that authenticates cursors: 64 hex digits, made by a migration. */
export const META_CURSOR_SECRET = 'cursor_secret'
/** Meta key of how far blocks count as safe and final: `{safe, finalized}`, block numbers, -1 for none yet. Absent: the head. */
export const META_FINALITY = 'finality'
/** Meta key of the trie of the newest state: see state/stateTrieTable. */
export const META_STATE_TRIE = 'state_trie'
