import { keccak256 } from '../chain/crypto.js'
import { EMPTY_CODE_HASH } from '../chain/eth/emptyHashes.js'
import { equalBytes, padLeft, trimLeft } from '../lib/bytes.js'
import { formatData } from '../lib/hex.js'
import { decodeUint, encodeUint, type StoredUint } from '../store/columns.js'
import type { Database } from '../store/database.js'
import { createMetaTable, META_STATE_MODE } from '../store/meta.js'
import { createChainReader } from '../store/rows/chainReader.js'
import { createRawState, type RawAccountRow, type RawState, type RawStorageRow } from '../store/state/rawState.js'
import { createStateReader, type StateReader } from '../store/state/stateReader.js'
import { openScratchTrie } from '../store/state/stateTrieTable.js'
import { createStateRoot, type StateRoot } from '../trie/stateRoot.js'
import type { TouchedAccount } from '../trie/touchedAccount.js'
import { requireSource } from './blocks.js'
import { atPlace, DatabaseFault } from './fault.js'
import { isStoredAs } from './rowComparison.js'

/** Summary of the audited state. */
export interface StateAudit {
  blocks: number
  /** Account rows and slot rows. */
  rows: number
  codes: number
  /** Blocks whose state root was not compared, since the headers of the chain do not commit to the state. */
  uncompared: number
  /** The root of the rows of the newest block; undefined without blocks. */
  newest?: { readonly blockNumber: number; readonly root: Uint8Array }
}

// Memory for trie pages.
const TRIE_BYTES = 256 * 2 ** 20
const SNAPSHOT_MS = 250
const BLOCKS_AT_ONCE = 1000

/** Replays the state history block by block and compares each state root with its header. The rows of a block decide
 *  the results of calls and balances at that block, and the root covers all of them. Code is compared with its hash.
 *  The trie is built in a temporary file. Read-only; may run during an import. @throws DatabaseFault for the first
 *  difference */
export function auditState(db: Database, onProgress?: (blocks: number) => void): StateAudit {
  const done: StateAudit = { blocks: 0, rows: 0, codes: 0, uncompared: 0 }
  const state = atPlace({ table: 'account_history' }, () => createRawState(db))
  const mode = atPlace({ table: 'meta', row: 'state_mode' }, () => createMetaTable(db).get<string>(META_STATE_MODE))
  if (mode !== 'execute') {
    requireNoState(state)
    return done
  }
  done.codes = auditCodes(state)
  const scratch = openScratchTrie()
  try {
    const root = createStateRoot(scratch.table, TRIE_BYTES)
    requireSource(db)
    const chain = createChainReader(db)
    const isCompared = (number: number) => chain.commitsToState(number)
    const replay = createReplay(state, createStateReader(db), { root, isCompared })
    const [first]: ({ number: number } | undefined)[] = atPlace({ table: 'blocks' }, () => state.roots(0, 1))
    let next = first?.number ?? 0
    const step = db.transaction((): boolean => {
      const startMs = performance.now()
      for (;;) {
        const blocks = state.roots(next, BLOCKS_AT_ONCE)
        for (const { number, state_root: stateRoot } of blocks) {
          done.rows += replay(number, stateRoot)
          done.blocks++
          if (!isCompared(number)) done.uncompared++
          next = number + 1
          onProgress?.(done.blocks)
          if (performance.now() - startMs > SNAPSHOT_MS) return true
        }
        if (blocks.length === 0) break
      }
      if (first !== undefined) {
        requireAllNamed(state, first.number, next - 1)
        done.newest = { blockNumber: next - 1, root: root.root() }
      }
      requireOrder(state)
      return false
    })
    while (atPlace({ table: 'account_history', row: `block ${next}` }, step));
  } finally {
    scratch.close()
  }
  return done
}

function requireNoState(state: RawState): void {
  if (atPlace({ table: 'account_history' }, () => state.isEmpty())) return
  throw new DatabaseFault({ table: 'meta', row: 'state_mode' }, { field: 'value', expected: 'execute', found: 'none' })
}

/** Requires that only blocks [first, head] have rows, exactly those that `changed_keys` names. */
function requireAllNamed(state: RawState, first: number, head: number): void {
  const tables = state.tables()
  for (const { table, least, most } of tables) {
    for (const found of [least, most]) {
      if (found === null || (found >= first && found <= head)) continue
      const expected = `${first} to ${head}`
      throw new DatabaseFault({ table, row: `block ${found}` }, { field: 'block_number', expected, found })
    }
  }
  const { accounts, slots } = state.changed()
  for (const [kind, expected] of Object.entries({ account: accounts, storage: slots })) {
    const own = tables.filter(({ table }) => table.startsWith(`${kind}_`))
    const found = own.reduce((sum, { rows }) => sum + rows, 0)
    const table = own.map((each) => each.table).join(' and ')
    if (found !== expected) throw new DatabaseFault({ table }, { field: 'rows', expected, found })
  }
}

/** Reads of the newest row of a key rely on it. */
function requireOrder(state: RawState): void {
  const found = state.overtaken()
  if (found === undefined) return
  const { table, older, addressId, blockNumber } = found
  const expected = `above that of every row of its key in ${older}`
  throw new DatabaseFault(
    { table, row: `block ${blockNumber}, address ${addressId}` },
    { field: 'block_number', expected, found: blockNumber },
  )
}

/** Compares all code with its hash. @returns the number of codes @throws DatabaseFault */
export function auditCodes(state: RawState): number {
  let codes = 0
  atPlace({ table: 'code' }, () => {
    for (const { id, hash, bytes } of state.codes()) {
      const place = { table: 'code', row: `code ${id}` }
      atPlace(place, () => {
        const expected = keccak256(bytes)
        if (!isStoredAs(hash, expected)) throw new DatabaseFault(place, { field: 'hash', expected, found: hash })
      })
      codes++
    }
  })
  return codes
}

/** Applies the rows of a block and compares the root. Returns the number of rows. */
function createReplay(
  state: RawState,
  reader: StateReader,
  { root, isCompared }: { root: StateRoot; isCompared: (blockNumber: number) => boolean },
) {
  return (blockNumber: number, stateRoot: Uint8Array): number => {
    const keysPlace = { table: 'changed_keys', row: `block ${blockNumber}` }
    const ids = atPlace(keysPlace, () => state.accountIds(blockNumber))
    const accounts = atPlace({ table: 'account_history', row: `block ${blockNumber}` }, () =>
      state.accounts(blockNumber, ids),
    )
    const slots = atPlace(keysPlace, () => state.slots(blockNumber))
    requireRows(keysPlace, ids, accounts)
    requireDistinct(keysPlace, slots)
    const touched = new Map<number, TouchedAccount & { incarnation: number }>()
    for (const row of accounts) {
      const place = { table: 'account_history', row: `block ${blockNumber}, address ${row.address_id}` }
      touched.set(
        row.address_id,
        atPlace(place, () => readAccount(row, reader, place)),
      )
    }
    for (const row of slots) {
      const place = { table: 'storage_history', row: `block ${blockNumber}, address ${row.address_id}` }
      atPlace(place, () => {
        let entry = touched.get(row.address_id)
        if (entry === undefined) {
          entry = readUnchanged(row, reader, blockNumber)
          touched.set(row.address_id, entry)
        }
        entry.slots.push(readSlot(row, entry, place))
      })
    }
    atPlace({ table: 'account_history and storage_history', row: `block ${blockNumber}` }, () => {
      const computed = root.update([...touched.values()])
      root.commit()
      if (equalBytes(computed, stateRoot) || !isCompared(blockNumber)) return
      throw new DatabaseFault(
        { table: 'account_history and storage_history', row: `block ${blockNumber}` },
        { field: 'state root of the rows', expected: stateRoot, found: computed },
      )
    })
    return accounts.length + slots.length
  }
}

/** Each account is named once, and has a row. */
function requireRows(place: Place, ids: readonly number[], rows: readonly RawAccountRow[]): void {
  const found = new Set(rows.map((row) => row.address_id))
  const lacking = ids.find((id) => !found.delete(id))
  if (lacking === undefined) return
  throw new DatabaseFault(place, {
    field: 'accounts',
    expected: 'accounts that have a row',
    found: `address ${lacking}`,
  })
}

function requireDistinct(place: Place, slots: readonly RawStorageRow[]): void {
  const seen = new Set<string>()
  for (const { address_id: id, incarnation, slot } of slots) {
    const name = `address ${id}, incarnation ${incarnation}, slot ${formatData(slot)}`
    if (seen.has(name)) throw new DatabaseFault(place, { field: 'slots', expected: 'distinct slots', found: name })
    seen.add(name)
  }
}

type Entry = TouchedAccount & { incarnation: number }
type Place = { table: string; row: string }

/** Reads the account after its block from a row. */
function readAccount(row: RawAccountRow, reader: StateReader, place: Place): Entry {
  const { address, incarnation, previous_incarnation: previous } = row
  // Destroying an account, or recreating it in the same block, increments the incarnation.
  const least = previous ?? 0
  if (!(incarnation === least || (previous !== null && incarnation === least + 1))) {
    throw new DatabaseFault(place, { field: 'incarnation', expected: least, found: incarnation })
  }
  const common = { address: requireAddress(address), incarnation, slots: [] }
  if (row.balance === null) {
    requireValue(place, 'nonce', 0, row.nonce)
    requireValue(place, 'code_id', null, row.code_id)
    return { ...common, account: null, cleared: true }
  }
  const [nonce, balance] = [decodeUint(row.nonce as StoredUint), decodeUint(row.balance as StoredUint)]
  requireValue(place, 'nonce', encodeUint(nonce), row.nonce)
  requireValue(place, 'balance', encodeUint(balance), row.balance)
  const account = { nonce, balance, codeHash: hashOfCode(row.code_id, reader, place) }
  return { ...common, account, cleared: previous !== null && incarnation !== previous }
}

function hashOfCode(codeId: number | null, reader: StateReader, place: Place): Uint8Array {
  if (codeId === null) return EMPTY_CODE_HASH
  const hash: Uint8Array | undefined = reader.codeHash(codeId)
  if (hash === undefined)
    throw new DatabaseFault(place, { field: 'code_id', expected: 'the id of code', found: codeId })
  return hash
}

/** Reads the account of a changed slot when the block did not change the account itself. */
function readUnchanged(row: RawStorageRow, reader: StateReader, blockNumber: number): Entry {
  const address = requireAddress(row.address)
  const record = reader.account(address, blockNumber)
  const stored = record?.account
  const codeHash = stored?.codeId === undefined ? EMPTY_CODE_HASH : reader.codeHash(stored.codeId)
  const account = stored ? { nonce: stored.nonce, balance: stored.balance, codeHash } : null
  return { address, incarnation: record?.incarnation ?? 0, account, cleared: false, slots: [] }
}

function readSlot({ incarnation, slot, value }: RawStorageRow, entry: Entry, place: Place): TouchedAccount['slots'][0] {
  if (entry.account === null) {
    throw new DatabaseFault(place, { field: 'address_id', expected: 'an account that exists', found: 'none' })
  }
  requireValue(place, 'incarnation', entry.incarnation, incarnation)
  // Look-ups use the trimmed bytes.
  requireValue(place, 'slot', trimLeft(slot), slot)
  if (value === undefined) {
    throw new DatabaseFault(place, { field: 'row', expected: `slot ${formatData(slot)}`, found: 'none' })
  }
  requireValue(place, 'value', trimLeft(value), value)
  return { slot: padLeft(slot, 32), value }
}

function requireAddress(address: Uint8Array | null): Uint8Array {
  if (address instanceof Uint8Array && address.length === 20) return address
  throw new RangeError('the dictionary has no address of that id')
}

function requireValue(place: Place, field: string, expected: unknown, found: RawAccountRow['nonce']): void {
  if (!isStoredAs(found, expected)) throw new DatabaseFault(place, { field, expected, found })
}
