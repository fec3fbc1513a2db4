import { index, integer, primaryKey, sqliteTable, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { bytes, uint } from '../columns.js'

/* The state: code, history, dumps, tries, and what sparse state learned. */

/** Contract code by its keccak-256. */
export const code = sqliteTable(
  'code',
  { id: integer('id').primaryKey(), hash: bytes('hash').notNull(), bytes: bytes('bytes').notNull() },
  (t) => [uniqueIndex('code_by_hash').on(t.hash)],
)

const accountRows = <Name extends string>(name: Name) =>
  sqliteTable(
    name,
    {
      addressId: integer('address_id').notNull(),
      blockNumber: integer('block_number').notNull(),
      nonce: uint('nonce').notNull(),
      balance: uint('balance'),
      codeId: integer('code_id'), // NULL: no code
      incarnation: integer('incarnation').notNull(),
    },
    (t) => [primaryKey({ columns: [t.addressId, t.blockNumber] })],
  )

const storageRows = <Name extends string>(name: Name) =>
  sqliteTable(
    name,
    {
      addressId: integer('address_id').notNull(),
      incarnation: integer('incarnation').notNull(),
      slot: bytes('slot').notNull(),
      blockNumber: integer('block_number').notNull(),
      value: bytes('value').notNull(),
    },
    (t) => [primaryKey({ columns: [t.addressId, t.incarnation, t.slot, t.blockNumber] })],
  )

/** The fields of an account from `block_number` on, until its next row; newer rows may be in `account_older`, newer
 *  ones in `account_recent`, the newest in `account_tip`. `balance` NULL: the account does not exist. A new incarnation
 *  starts with empty storage. WITHOUT ROWID. */
export const accountHistory = accountRows('account_history')

/** The value of a storage slot from `block_number` on. Slot and value are stored without leading zeros; zero is empty.
 *  WITHOUT ROWID. */
export const storageHistory = storageRows('storage_history')

/** Which accounts and slots each block changed: the rows of the state history with that block number. Encoding in
 *  state/changedKeys.ts; no row for a block that changed none. */
export const changedKeys = sqliteTable('changed_keys', {
  blockNumber: integer('block_number').primaryKey(),
  accounts: bytes('accounts').notNull(),
  slots: bytes('slots').notNull(),
})

/** Rows of some ten blocks that were written at the tip and have not moved to `account_recent` yet; see
 *  state/recentRows.ts. WITHOUT ROWID. */
export const accountTip = accountRows('account_tip')

/** As `accountTip`, of `storage_recent`. WITHOUT ROWID. */
export const storageTip = storageRows('storage_tip')

/** Rows of some hundred blocks that were written at the tip and have not moved to `account_older` yet. WITHOUT
 *  ROWID. */
export const accountRecent = accountRows('account_recent')

/** As `accountRecent`, of `storage_older`. WITHOUT ROWID. */
export const storageRecent = storageRows('storage_recent')

/** Rows of a thousand blocks that were written at the tip and have not moved to `account_history` yet. WITHOUT
 *  ROWID. */
export const accountOlder = accountRows('account_older')

/** As `accountOlder`, of `storage_history`. WITHOUT ROWID. */
export const storageOlder = storageRows('storage_older')

/** Accounts of an imported state dump, as they are after its block, by the hashes of their addresses; see
 *  state/stateDump.ts. Ids begin at 1, in the order of the dump. WITHOUT ROWID. */
export const hashedAccounts = sqliteTable('hashed_accounts', {
  hash: bytes('hash').primaryKey(),
  id: integer('id').notNull(),
  nonce: uint('nonce').notNull(),
  balance: uint('balance').notNull(),
  codeId: integer('code_id'), // NULL: no code
  hasStorage: integer('has_storage').notNull(), // 0 or 1
})

/** Storage slots of an imported state dump, by the hash of the slot. The value is stored without leading zeros, and
 *  never empty. WITHOUT ROWID. */
export const hashedStorage = sqliteTable(
  'hashed_storage',
  {
    accountId: integer('account_id').notNull(),
    slotHash: bytes('slot_hash').notNull(),
    value: bytes('value').notNull(),
  },
  (t) => [primaryKey({ columns: [t.accountId, t.slotHash] })],
)

/** Pages of the trie of the newest state, for computing its root, but for what `trie_layers` change; layout in
 *  trie/nodeFormat.ts. The meta key `state_trie` points to the root node. */
export const stateTriePages = sqliteTable('state_trie_pages', {
  id: integer('id').primaryKey(),
  data: bytes('data').notNull(),
})

/** Changes of `state_trie_pages` by the newest blocks, oldest first; see state/trieLayers.ts. */
export const trieLayers = sqliteTable('trie_layers', {
  id: integer('id').primaryKey({ autoIncrement: true }), // never used again: readers know a layer by its id
  blockNumber: integer('block_number').notNull(), // the first block with these contents
  top: bytes('top').notNull(), // the reference to the root node before it
  accounts: integer('accounts').notNull(), // before it
  parts: integer('parts').notNull(), // number of its rows in `trie_layer_parts`
})

/** Contents of layers: `id` is layer * 2^20 + ordinal; layout in state/trieLayers.ts. */
export const trieLayerParts = sqliteTable('trie_layer_parts', {
  id: integer('id').primaryKey(),
  data: bytes('data').notNull(),
})

/** Past contents of `state_trie_pages`, for tries of blocks before the newest that were not stored as layers; see
 *  state/trieHistory.ts. */
export const triePageVersions = sqliteTable(
  'trie_page_versions',
  {
    pageId: integer('page_id').notNull(), // 0: the reference to the root node; below: see state/trieHistory.ts
    blockNumber: integer('block_number').notNull(), // the block that replaced the content
    data: bytes('data').notNull(),
  },
  (t) => [
    uniqueIndex('trie_page_versions_by_page').on(t.pageId, t.blockNumber),
    index('trie_page_versions_by_block').on(t.blockNumber),
  ],
)

/** What was added to sparse state, in the order of commits, for replicas; see replication/stateLog.ts. */
export const stateLog = sqliteTable(
  'state_log',
  {
    id: integer('id').primaryKey(), // ascending, never used again
    at: integer('at').notNull(), // the block in whose state it was proved
    kind: integer('kind').notNull(), // 0 fetched, 1 of the next block, 2 begin, 3 close, 4 ancestors
    data: bytes('data').notNull(),
  },
  (t) => [index('state_log_by_block').on(t.at)],
)
