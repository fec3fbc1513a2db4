import { integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { bytes } from '../columns.js'

/* What the operator adds: API keys, ABIs with their sources, and signatures. */

/** API keys by the SHA-256 of their 32 hex digits; the key itself is not stored. */
export const apiKeys = sqliteTable(
  'api_keys',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    name: text('name').notNull(),
    hash: bytes('hash').notNull(),
    createdAt: integer('created_at').notNull(), // Unix seconds
    revokedAt: integer('revoked_at'),
    // Limits of this key; NULL: no limit of its own
    rateLimit: integer('rate_limit'), // calls per second
    maxConcurrent: integer('max_concurrent'), // calls
    methods: text('methods'), // patterns, joined by commas
  },
  (t) => [uniqueIndex('api_keys_by_hash').on(t.hash)],
)

/** ABIs added by the operator, to decode logs and inputs. Ids are never reused. */
export const abis = sqliteTable('abis', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  name: text('name').notNull(),
  address: bytes('address'), // NULL: any contract
  json: text('json').notNull(),
  addedAt: integer('added_at').notNull(), // Unix seconds
  // Of a Sourcify bundle; NULL for an ABI of a file, and where the bundle does not say it
  compiler: text('compiler'), // such as 0.8.26+commit.8a97fa7a
  sourcifyMatch: text('sourcify_match'), // full, partial
  metadataMatches: integer('metadata_matches'), // 1 the code names the bundle's metadata, 0: not compared
})

/** Sources and storage layouts of ABIs that bundles brought. */
export const contractSources = sqliteTable('contract_sources', {
  abiId: integer('abi_id').primaryKey(),
  files: integer('files').notNull(),
  sources: bytes('sources'), // deflated JSON: contents by path; NULL: none
  storageLayout: bytes('storage_layout'), // deflated JSON, as solc writes it; NULL: none
})

/** Files of function and event signatures that the operator added, for guesses. Ids are never reused. */
export const signatureSets = sqliteTable('signature_sets', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  name: text('name').notNull(),
  functions: integer('functions').notNull(),
  events: integer('events').notNull(),
  addedAt: integer('added_at').notNull(), // Unix seconds
})

/** Signatures of a set, sorted by the first 4 bytes of their hash. */
export const signaturePages = sqliteTable(
  'signature_pages',
  {
    setId: integer('set_id').notNull(),
    kind: integer('kind').notNull(), // 0 functions and errors, 1 events
    firstKey: integer('first_key').notNull(), // first 4 bytes of the first signature's hash, as a number
    data: bytes('data').notNull(), // deflated lines
  },
  (t) => [primaryKey({ columns: [t.setId, t.kind, t.firstKey] })],
)
