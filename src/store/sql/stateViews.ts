import { padLeft } from '../../lib/bytes.js'
import { formatData } from '../../lib/hex.js'
import { createDataVersion } from '../commitWatch.js'
import type { Database } from '../database.js'
import { createChainReader } from '../rows/chainReader.js'
import { decodeAccountKeys } from '../state/changedKeys.js'
import { eachTable, fromTables, newestRow, nextBlock } from '../state/historySql.js'
import { BALANCE_KNOWN, CODE_KNOWN, createSparseCheck, NONCE_KNOWN } from '../state/sparseState.js'
import { bytesOfValue } from './functionValues.js'

/* Views of the state history. Each reads both tables of a history, one after the other.
 *
 * Hex text is computed, so an index cannot find it. Yet `WHERE address = '0x…'` finds the address by its key:
 * `cairn_hex(bytes)` makes the text of the column, and `cairn_bytes(hex)` makes the bytes of the text again. SQLite
 * replaces a column that equals a constant by the constant, so it can start with the bytes of the constant and look
 * up the address; without such a condition it starts with the addresses, and both functions agree for each. */

/** A block number above every block. */
const NO_END = Number.MAX_SAFE_INTEGER

/** Adds `v_accounts`, `v_balances`, `v_storage` and `v_account_changes` to a connection. `getSecond` returns another
 *  connection to the same database. A query of these views is an error where the database has no state. */
export function addStateViews(db: Database, getSecond: () => Database): void {
  addStates(db, getSecond)
  db.table('cairn_hex', {
    columns: ['hex'],
    parameters: ['bytes'],
    *rows(bytes: unknown) {
      yield [formatData(bytes as Uint8Array)]
    },
  })
  db.table('cairn_bytes', {
    columns: ['bytes'],
    parameters: ['hex'],
    *rows(hex: unknown) {
      const bytes = typeof hex === 'string' && hex === hex.toLowerCase() ? bytesOfValue(hex) : undefined
      if (bytes !== undefined) yield [Buffer.from(bytes)]
    },
  })
  const options = { deterministic: true }
  db.function('cairn_word', options, (bytes: Uint8Array) => formatData(padLeft(bytes, 32)))
  db.function('cairn_account_ids', options, (keys: Uint8Array) => JSON.stringify(decodeAccountKeys(keys)))
  for (const [name, select] of Object.entries({ v_accounts, v_balances, v_storage, v_account_changes })) {
    db.exec(`CREATE TEMP VIEW ${name} AS ${select.join(' UNION ALL ')}`)
  }
}

/** Adds the table `cairn_states`, with a row for each interval of blocks that has state: `first`; `last`, NULL while it
 *  grows; `until`, the block after it; `changes`, the first block whose changes are known; `is_sparse`: 1 where keys
 *  without rows are unknown. `cairn_require_state()` is 1, or an error where there is no such interval. */
function addStates(db: Database, getSecond: () => Database): void {
  const readStates = openStates(getSecond)
  db.table('cairn_states', {
    columns: ['first', 'last', 'until', 'changes', 'is_sparse'],
    *rows() {
      for (const { first, last, isSparse } of readStates()) {
        const until = last === undefined ? NO_END : last + 1
        const changes = isSparse ? first + 1 : first
        yield [
          BigInt(first),
          last === undefined ? null : BigInt(last),
          BigInt(until),
          BigInt(changes),
          Number(isSparse),
        ]
      }
    },
  })
  // A constant condition is evaluated before any table is read, which may be empty.
  db.function('cairn_require_state', { deterministic: true }, () => {
    if (readStates().length === 0) throw new Error(NO_STATE)
    return 1
  })
}

const NO_STATE =
  'the database has no state, because its blocks were imported with --state none; import them with --state execute'

interface States {
  readonly first: number
  /** Undefined for the newest. */
  readonly last?: number
  readonly isSparse: boolean
}

/** Returns a function that returns the intervals of blocks with state, ascending. A join calls it for each row: the
 *  intervals are read again only after a commit. */
function openStates(getDatabase: () => Database): () => readonly States[] {
  let read: (() => readonly States[]) | undefined
  return () => {
    read ??= createStatesReader(getDatabase())
    return read()
  }
}

function createStatesReader(db: Database): () => readonly States[] {
  const dataVersion = createDataVersion(db)
  const reader = createChainReader(db)
  const readSparse = createSparseCheck(db)
  let version: number | undefined
  let states: readonly States[] = []
  return () => {
    const newestVersion = dataVersion()
    if (newestVersion === version) return states
    const { stateFirst, closedStates = [] } = reader.coverage() ?? {}
    const isSparse = readSparse()
    const newest = stateFirst === undefined ? [] : [{ first: stateFirst }]
    states = [...closedStates, ...newest].map((each) => ({ ...each, isSparse }))
    version = newestVersion
    return states
  }
}

const INTERVALS = 'cairn_states s'
const ADDRESSES = `addresses a JOIN cairn_hex x ON x.bytes = a.address
  JOIN cairn_bytes f ON f.hex = x.hex AND f.bytes = a.address`

/** SQL: true if a row of an account knows a field (sparseState.ts). */
function knows(incarnation: string, field: number): string {
  return `(${incarnation} >= 0 OR (-1 - ${incarnation}) & ${field})`
}

/** SQL of the end of a range: the block before the first of `ends`, expressions that may be NULL, or the last one of
 *  the interval of states. */
function lastBlock(...ends: string[]): string {
  const each = ends.map((end) => `ifnull(${end}, ${NO_END})`)
  return `nullif(min(${[...each, 's.until'].join(', ')}), ${NO_END}) - 1`
}

const ROWS_OF_ACCOUNT = 'address_id = h.address_id AND block_number > h.block_number'
const BEFORE = 'address_id = h.address_id AND block_number < h.block_number AND block_number >= s.first'
const BALANCE = 'ifnull(balance, 0)'
const KNOWN_BALANCE = `CASE WHEN ${knows('incarnation', BALANCE_KNOWN)} THEN ${BALANCE} END`

/** SQL of the fields of an account row whose columns have a prefix; NULL where the row does not know them. */
function fieldsOf(prefix: string) {
  return {
    balance: `CASE WHEN ${knows(`${prefix}incarnation`, BALANCE_KNOWN)}
      THEN CAST(ifnull(${prefix}balance, 0) AS TEXT) END`,
    nonce: `CASE WHEN ${knows(`${prefix}incarnation`, NONCE_KNOWN)} THEN ${prefix}nonce END`,
    codeHash: `CASE WHEN ${knows(`${prefix}incarnation`, CODE_KNOWN)}
      THEN (SELECT '0x' || lower(hex(hash)) FROM code WHERE id = ${prefix}code_id) END`,
  }
}

/** Columns that a query does not select are not looked up. */
const v_accounts = (() => {
  const { balance, nonce, codeHash } = fieldsOf('')
  const newest = (expression: string) => `(${newestRow('account', expression, 'address_id = a.id')})`
  const first = `(${nextBlock('account', 'address_id = a.id')})`
  return [
    `SELECT x.hex AS address, ${first} AS first_block, ${newest('block_number')} AS last_block,
    ${newest(balance)} AS balance, ${newest(nonce)} AS nonce, ${newest(codeHash)} AS code_hash
    FROM ${ADDRESSES} WHERE cairn_require_state() AND ${first} IS NOT NULL`,
  ]
})()

/** Rows whose balance is that of the row before are part of its range. */
const v_balances = eachTable('account', (table) => {
  const next = nextBlock('account', `${ROWS_OF_ACCOUNT} AND ${KNOWN_BALANCE} IS NOT ifnull(h.balance, 0)`)
  return `SELECT x.hex AS address, h.block_number AS from_block, ${lastBlock(`(${next})`)} AS to_block,
    CAST(ifnull(h.balance, 0) AS TEXT) AS balance
    FROM ${INTERVALS} CROSS JOIN ${ADDRESSES}
    CROSS JOIN ${table} h ON h.address_id = a.id AND h.block_number >= s.first AND h.block_number < s.until
    WHERE cairn_require_state() AND ${knows('h.incarnation', BALANCE_KNOWN)}
    AND (${newestRow('account', KNOWN_BALANCE, BEFORE)}) IS NOT ifnull(h.balance, 0)`
})

/** A slot ends with its next row, or where its account begins another life. */
const v_storage = eachTable('storage', (table) => {
  const next = nextBlock('storage', `${ROWS_OF_ACCOUNT} AND incarnation = h.incarnation AND slot = h.slot`)
  const newest = newestRow('account', 'incarnation', 'address_id = h.address_id')
  const cleared = nextBlock('account', `${ROWS_OF_ACCOUNT} AND incarnation > h.incarnation`)
  // Most accounts have one life: the look-up saves a search of all their later rows.
  const end = `CASE WHEN (${newest}) IS h.incarnation THEN NULL ELSE (${cleared}) END`
  return `SELECT x.hex AS address, cairn_word(h.slot) AS slot, h.block_number AS from_block,
    ${lastBlock(`(${next})`, end)} AS to_block, cairn_word(h.value) AS value
    FROM ${INTERVALS} CROSS JOIN ${ADDRESSES}
    CROSS JOIN ${table} h ON h.address_id = a.id AND h.block_number >= s.first AND h.block_number < s.until
    WHERE cairn_require_state()`
})

/** SQL of a field before the block: of the row before, or that of no account. */
function before(expression: string, missing: string): string {
  const rows = fromTables(
    'account',
    (table) => `SELECT * FROM (SELECT ${expression} FROM ${table} WHERE ${BEFORE} ORDER BY block_number DESC LIMIT 1)`,
  )
  return `(${rows} UNION ALL SELECT CASE WHEN s.is_sparse THEN NULL ELSE ${missing} END LIMIT 1)`
}

/* A block's accounts are found by `changed_keys`, an account's blocks by its rows. Equal numbers are written as two
 * ranges, in both directions: SQLite estimates more rows for them, and so neither scans all rows of the history nor
 * makes an index of them. `json_each` in place of a table function of Cairn, for the same reason: its estimate is
 * low. */
const v_account_changes = eachTable('account', (table) => {
  const [earlier, now] = [fieldsOf(''), fieldsOf('h.')]
  return `SELECT k.block_number AS block_number, x.hex AS address,
    ${before(earlier.balance, "'0'")} AS balance_before, ${now.balance} AS balance_after,
    ${before(earlier.nonce, '0')} AS nonce_before, ${now.nonce} AS nonce_after,
    ${before(earlier.codeHash, 'NULL')} AS code_hash_before, ${now.codeHash} AS code_hash_after
    FROM ${INTERVALS} CROSS JOIN changed_keys k JOIN json_each(cairn_account_ids(k.accounts)) c
    JOIN ${ADDRESSES}
    JOIN ${table} h ON h.address_id = a.id AND h.address_id = c.value
      AND h.block_number >= k.block_number AND h.block_number <= k.block_number
      AND k.block_number >= h.block_number AND k.block_number <= h.block_number
    WHERE cairn_require_state() AND h.block_number >= s.changes AND h.block_number < s.until`
})
