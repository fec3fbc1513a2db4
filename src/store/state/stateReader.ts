import { delegationOf } from '../../chain/eth/delegation.js'
import { EMPTY_BYTES, padLeft, trimLeft } from '../../lib/bytes.js'
import { withoutStack } from '../../lib/errors.js'
import { formatData } from '../../lib/hex.js'
import { decodeUint, type StoredUint } from '../columns.js'
import type { Database } from '../database.js'
import { eachBound, eachTable, fromTables, newestValue, nextBlock, SLOT_AT_BLOCK } from './historySql.js'
import { MissingState } from './missingState.js'
import { createSparseCheck, mayHaveUnknownSlots, UNKNOWN_ACCOUNT } from './sparseState.js'
import { createStateDumpReader, type DumpedAccount } from './stateDump.js'

/** An account in the state history. */
export interface StoredAccount {
  /** Negative: its id in a state dump (stateDump.ts), as long as the address has no id. */
  addressId: number
  nonce: bigint
  balance: bigint
  /** Undefined for an account without code. */
  codeId?: number
  /** Storage of other incarnations does not belong to this account. */
  incarnation: number
}

/** An account's last row. When the account does not exist, `account` is undefined and `incarnation` is that of the next
 *  one. */
interface AccountRecord {
  /** As in `StoredAccount`; 0: no account existed at the address, and the address has no id. */
  addressId: number
  incarnation: number
  account?: StoredAccount
}

/** Reads of the state history. "At block N" is after N was executed. With sparse state, `account`, `storage` and
 *  `hasStorage` throw MissingState for what is not known. */
export interface StateReader {
  /** Undefined when no account existed at the address up to that block. */
  account(address: Uint8Array, blockNumber: number): AccountRecord | undefined
  /** The slot's value without leading zeros; empty for zero. `slot` may have leading zeros. */
  storage(addressId: number, incarnation: number, slot: Uint8Array, blockNumber: number): Uint8Array
  code(codeId: number): Uint8Array
  /** 32 bytes. */
  codeHash(codeId: number): Uint8Array
  /** @throws Error when no account ever had code with that hash. */
  codeByHash(hash: Uint8Array): Uint8Array
  /** True when code with that hash is stored. */
  hasCode(hash: Uint8Array): boolean
  /** True when a slot of the incarnation was ever set, at any block. */
  hasStorage(addressId: number, incarnation: number): boolean
  /** As `account`, a row of sparse state whose account is not known, or known in part, included (sparseState.ts):
   *  fields that are not known are zero. */
  lastRow(address: Uint8Array, blockNumber: number): AccountRecord | undefined
  /** True when a slot of the incarnation has a row. */
  hasSlotRow(addressId: number, incarnation: number): boolean
  /** The id of an address, if it is in the dictionary. */
  addressId(address: Uint8Array): number | undefined
  /** Accounts at the newest block, ordered by address id: at most `limit` addresses above `aboveId`, including those
   *  without an account. */
  latestAccounts(aboveId: number, limit: number): { addressId: number; address: Uint8Array; account?: StoredAccount }[]
  /** Slots of one incarnation at the newest block, zeros included, ordered by their bytes without leading zeros: at
   *  most `limit` after `after`; undefined starts with the first. */
  latestStorage(
    addressId: number,
    incarnation: number,
    range: { after?: Uint8Array; limit: number },
  ): { slot: Uint8Array; value: Uint8Array }[]
  /** Upper bound of the number of addresses that had an account at any block. */
  countAddresses(): number
}

interface SlotRow {
  slot: Uint8Array
  value: Uint8Array
  newest: number
}
interface AccountRow {
  address_id: number
  nonce: StoredUint
  balance: StoredUint | null
  code_id: number | null
  incarnation: number
}

/** A block number above every block, to read the newest state. */
export const LATEST = Number.MAX_SAFE_INTEGER

/** Creates a reader over an open database, with statements prepared once. */
export function createStateReader(db: Database): StateReader {
  const selectId = db.prepare<[Uint8Array], number>('SELECT id FROM addresses WHERE address = ?').pluck()
  const selectAccount = db
    .prepare<[address: Uint8Array, blockNumber: number], string | null>(
      newestValue('account', ACCOUNT_TEXT, {
        from: '(SELECT ? AS address, ? AS block) k JOIN addresses a ON a.address = k.address',
        where: 'address_id = a.id AND block_number <= k.block',
      }),
    )
    .pluck()
  const selectStorage = db
    .prepare<[addressId: number, incarnation: number, slot: Uint8Array, blockNumber: number], Uint8Array | null>(
      newestValue('storage', 'value', SLOT_AT_BLOCK),
    )
    .pluck()
  const hasSlotRow = createSlotRowCheck(db)
  const selectCode = db.prepare<[number], Uint8Array>('SELECT bytes FROM code WHERE id = ?').pluck()
  const selectCodeHash = db.prepare<[number], Uint8Array>('SELECT hash FROM code WHERE id = ?').pluck()
  const selectCodeByHash = db.prepare<[Uint8Array], Uint8Array>('SELECT bytes FROM code WHERE hash = ?').pluck()
  // SQLite reads a bare column beside max() from the row with the maximum.
  const selectAccounts = eachTable('account', (table) =>
    db.prepare<[number, number], AccountRow & { address: Uint8Array; newest: number }>(
      `SELECT h.address_id, a.address, h.nonce, h.balance, h.code_id, h.incarnation, max(h.block_number) AS newest
       FROM ${table} h JOIN addresses a ON a.id = h.address_id WHERE h.address_id > ?
       GROUP BY h.address_id ORDER BY h.address_id LIMIT ?`,
    ),
  )
  const selectSlots = eachTable('storage', (table) =>
    db.prepare<[number, number, Uint8Array | string, number], SlotRow>(
      `SELECT slot, value, max(block_number) AS newest FROM ${table}
       WHERE address_id = ? AND incarnation = ? AND slot > ? GROUP BY slot ORDER BY slot LIMIT ?`,
    ),
  )
  const selectLastId = db.prepare<[], number | null>('SELECT max(id) FROM addresses').pluck()
  const isSparse = createSparseCheck(db)
  const newest = (address: Uint8Array, blockNumber: number): AccountRecord | undefined => {
    const text = selectAccount.get(address, blockNumber)
    return text ? parseAccount(text) : undefined
  }
  const missing = createMissingState(db, newest)
  const dump = createStateDumpReader(db)
  return {
    account: (address, blockNumber) => {
      const record = newest(address, blockNumber)
      const isUnknown = record === undefined ? isSparse() : record.incarnation < 0
      if (!isUnknown) return record
      const dumped = dump.account(address, blockNumber)
      if (dumped) return recordOf(dumped, selectId.get(address))
      throw missing.account(address, record?.incarnation, blockNumber)
    },
    lastRow: newest,
    storage: (addressId, incarnation, slot, at) => {
      const value = addressId < 0 ? null : selectStorage.get(addressId, incarnation, trimLeft(slot), at)
      if (value) return value
      if (mayHaveUnknownSlots(incarnation) && isSparse()) {
        const dumped = dump.storage({ addressId, incarnation, slot }, at)
        if (dumped) return dumped
        throw missing.slot(addressId, incarnation, slot, at)
      }
      return EMPTY_BYTES
    },
    hasSlotRow,
    code: (codeId) => selectCode.get(codeId)!,
    codeHash: (codeId) => selectCodeHash.get(codeId)!,
    codeByHash: (hash) => {
      const bytes = selectCodeByHash.get(hash)
      if (!bytes) throw new Error(`no code with the hash ${formatData(hash)}`)
      return bytes
    },
    hasCode: (hash) => selectCodeByHash.get(hash) !== undefined,
    hasStorage: (addressId, incarnation) =>
      hasSlotRow(addressId, incarnation) || (mayHaveUnknownSlots(incarnation) && isSparse()),
    addressId: (address) => selectId.get(address),
    latestAccounts: (aboveId, limit) =>
      mergeNewest(
        selectAccounts.map((select) => select.all(aboveId, limit)),
        (a, b) => a.address_id - b.address_id,
      )
        .slice(0, limit)
        .map((row) => ({ addressId: row.address_id, address: row.address, account: decodeAccountRow(row) })),
    // Text sorts before every blob, the empty blob included.
    latestStorage: (addressId, incarnation, { after = '', limit }) =>
      mergeNewest(
        selectSlots.map((select) => select.all(addressId, incarnation, after, limit)),
        (a, b) => Buffer.compare(a.slot, b.slot),
      ).slice(0, limit),
    countAddresses: () => selectLastId.get() ?? 0,
  }
}

/** An account of a state dump as a record; `addressId` undefined: the address has no id. */
function recordOf({ id, incarnation, account }: DumpedAccount, addressId = 0 - id): AccountRecord {
  return { addressId, incarnation, account: account && { addressId, incarnation, ...account } }
}

function createSlotRowCheck(db: Database): StateReader['hasSlotRow'] {
  const selectAnySlot = db
    .prepare<[object], number>(
      `${fromTables('storage', (table) => `SELECT 1 FROM ${table} WHERE address_id = @addressId AND incarnation = @incarnation`)} LIMIT 1`,
    )
    .pluck()
  return (addressId, incarnation) => selectAnySlot.get({ addressId, incarnation }) !== undefined
}

/** Creates the errors of what is not known, which name the next block that may have changed it. */
function createMissingState(db: Database, newest: StateReader['lastRow']) {
  const nextOfAccount = db
    .prepare<unknown[], number | null>(nextBlock('account', 'address_id = ? AND incarnation <> ? AND block_number > ?'))
    .pluck()
  const nextOfSlot = db
    .prepare<unknown[], number | null>(
      nextBlock('storage', 'address_id = ? AND incarnation = ? AND slot = ? AND block_number > ?'),
    )
    .pluck()
  const selectAddress = db.prepare<[number], Uint8Array>('SELECT address FROM addresses WHERE id = ?').pluck()
  const next = (select: typeof nextOfSlot, key: unknown[]) => select.get(...eachBound(...key)) ?? undefined
  return {
    account: (address: Uint8Array, incarnation = UNKNOWN_ACCOUNT, at: number): MissingState => {
      const last = at === LATEST ? undefined : newest(address, LATEST)
      // A proof completes all rows that know the same fields as the last one.
      const isLast = last === undefined || last.incarnation === incarnation
      const changedAt = isLast ? undefined : next(nextOfAccount, [last.addressId, incarnation, at])
      return withoutStack(() => new MissingState(address.slice(), undefined, at, changedAt))
    },
    slot: (addressId: number, incarnation: number, slot: Uint8Array, at: number): MissingState => {
      const key = [addressId, incarnation, trimLeft(slot), at]
      const changedAt = at === LATEST ? undefined : next(nextOfSlot, key)
      const address = selectAddress.get(addressId)!
      return withoutStack(() => new MissingState(address, padLeft(slot, 32).slice(), at, changedAt))
    },
  }
}

/** Rows of all tables in the order of their keys: where several have a key, that of the first one. */
function mergeNewest<Row>(tables: Row[][], compare: (a: Row, b: Row) => number): Row[] {
  return tables.reduceRight((older, newer) => mergeTwo(newer, older, compare))
}

function mergeTwo<Row>(newer: Row[], older: Row[], compare: (a: Row, b: Row) => number): Row[] {
  if (newer.length === 0) return older
  const merged: Row[] = []
  let at = 0
  for (const row of newer) {
    while (at < older.length && compare(older[at], row) < 0) merged.push(older[at++])
    if (at < older.length && compare(older[at], row) === 0) at++
    merged.push(row)
  }
  return [...merged, ...older.slice(at)]
}

// Reading one text value takes half the time of a row of five.
const ACCOUNT_TEXT =
  "a.id || ',' || incarnation || ',' || nonce || ',' || ifnull(balance, '') || ',' || ifnull(code_id, '')"

function parseAccount(text: string): AccountRecord {
  const [id, incarnation, nonce, balance, codeId] = text.split(',')
  const record = { addressId: Number(id), incarnation: Number(incarnation) }
  if (balance === '') return record
  return {
    ...record,
    account: {
      ...record,
      nonce: BigInt(nonce),
      balance: BigInt(balance),
      codeId: codeId === '' ? undefined : Number(codeId),
    },
  }
}

function decodeAccountRow(row: AccountRow): StoredAccount | undefined {
  if (row.balance === null) return undefined
  return {
    addressId: row.address_id,
    nonce: decodeUint(row.nonce),
    balance: decodeUint(row.balance),
    codeId: row.code_id ?? undefined,
    incarnation: row.incarnation,
  }
}

/** Balance, nonce, code and storage by address and block, for the RPC methods. */
export interface StateReads {
  /** Balance in wei; zero when the account does not exist. */
  balance(address: Uint8Array, blockNumber: number): bigint
  nonce(address: Uint8Array, blockNumber: number): bigint
  /** Code of the account; empty if missing. */
  code(address: Uint8Array, blockNumber: number): Uint8Array
  /** 32 bytes. */
  storage(address: Uint8Array, slot: Uint8Array, blockNumber: number): Uint8Array
  /** Incarnation of the contract at the address, which changes when it is destroyed and created again. Undefined
   *  without code, and for an account that delegates (EIP-7702). */
  contract(address: Uint8Array, blockNumber: number): number | undefined
}

/** Creates the state reads over an open database. The caller checks that the state of the block is stored. */
export function createStateReads(db: Database): StateReads {
  const reader = createStateReader(db)
  const code: StateReads['code'] = (address, blockNumber) => {
    const codeId = reader.account(address, blockNumber)?.account?.codeId
    return codeId === undefined ? EMPTY_BYTES : reader.code(codeId)
  }
  return {
    balance: (address, blockNumber) => reader.account(address, blockNumber)?.account?.balance ?? 0n,
    nonce: (address, blockNumber) => reader.account(address, blockNumber)?.account?.nonce ?? 0n,
    code,
    storage: (address, slot, blockNumber) => {
      const account = reader.account(address, blockNumber)?.account
      if (!account) return new Uint8Array(32)
      return padLeft(reader.storage(account.addressId, account.incarnation, slot, blockNumber), 32)
    },
    contract: (address, blockNumber) => {
      const own = code(address, blockNumber)
      if (own.length === 0 || delegationOf(own) !== undefined) return undefined
      return reader.account(address, blockNumber)!.incarnation
    },
  }
}
