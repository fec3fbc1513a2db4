import { keccak256Into } from '../../src/chain/crypto.js'
import { EMPTY_CODE_HASH } from '../../src/chain/eth/emptyHashes.js'
import { keyOfBytes, padLeft, trimLeft } from '../../src/lib/bytes.js'
import { formatData } from '../../src/lib/hex.js'
import { encodeUint } from '../../src/store/columns.js'
import type { Database } from '../../src/store/database.js'
import { createRowBatch } from '../../src/store/rowBatch.js'
import { createChainReader } from '../../src/store/rows/chainReader.js'
import { createStateReader } from '../../src/store/state/stateReader.js'
import { createStateTrieTable } from '../../src/store/state/stateTrieTable.js'
import { type HashedAccount, type HashedSlot, HashedState } from '../../src/trie/hashedState.js'
import { KEY_BYTES, type TrieNodeRef } from '../../src/trie/nodeFormat.js'
import { createKeySorter } from '../../src/trie/trieChanges.js'

/** A state to write. */
interface BulkState {
  readonly accounts: number
  /** Address of the n-th account, 20 bytes: none is in the genesis. */
  addressOf(account: number): Uint8Array
  readonly slots: number
  /** Contract of the genesis, without slots of its own, that has the n-th slot. */
  contractOf(slot: number): number
  readonly contracts: readonly Uint8Array[]
  /** The n-th slot, 32 bytes. */
  slotOf(slot: number): Uint8Array
}

const TRIE_CACHE_BYTES = 64 * 2 ** 20
const ACCOUNTS_AT_ONCE = 10_000

/** Adds accounts, each with a balance, and slots to the state of block 0, which is all that the database has: the rows,
 *  and a trie that is built in the order of the hashes. Executing blocks until the state is as large takes twenty times
 *  as long. The header of block 0 does not commit to this state; that of the next block does. A chain that is
 *  open must drop what it has in memory; it cannot be opened again before the next block. */
export function writeBulkState(db: Database, state: BulkState): void {
  db.exec('BEGIN')
  const reader = createStateReader(db)
  const table = createStateTrieTable(db)
  const trie = new HashedState(table, TRIE_CACHE_BYTES)
  trie.removeOthers()
  const genesis = reader.latestAccounts(0, ACCOUNTS_AT_ONCE)
  const ids = new Map(genesis.map(({ address, addressId }) => [keyOfBytes(address), addressId]))
  const storages = new Map<number, TrieNodeRef | undefined>()
  const byContract = numbersByContract(state)
  for (const [i, contract] of state.contracts.entries()) {
    const addressId = ids.get(keyOfBytes(contract))!
    storages.set(addressId, writeSlots(db, trie, { addressId, numbers: byContract[i], slotOf: state.slotOf }))
  }
  const others = genesis.map(({ address, addressId, account }): HashedAccount => {
    const { nonce, balance, codeId, incarnation } = account!
    const codeHash = codeId === undefined ? EMPTY_CODE_HASH : reader.codeHash(codeId)
    const storage = storages.has(addressId) ? storages.get(addressId) : ownStorage(addressId, incarnation)
    return { hash: hashOf(address), nonce, balance, codeHash, storage }
  })
  writeAccounts(db, trie, state, others)
  const block = createChainReader(db).blockByNumber(0)!
  table.setHead({ ...trie.save(), block: { number: 0, hash: formatData(block.hash) } })
  db.exec('COMMIT')

  function ownStorage(addressId: number, incarnation: number): TrieNodeRef | undefined {
    const slots = reader
      .latestStorage(addressId, incarnation, { limit: ACCOUNTS_AT_ONCE })
      .map(({ slot, value }) => ({ hash: hashOf(padLeft(slot, KEY_BYTES)), value }))
      .sort((a, b) => Buffer.compare(a.hash, b.hash))
    return slots.length === 0 ? undefined : trie.storageTrie((after) => (after === undefined ? slots : []))
  }
}

function hashOf(bytes: Uint8Array): Uint8Array {
  const hash = new Uint8Array(KEY_BYTES)
  keccak256Into(bytes, hash, 0)
  return hash
}

/** The numbers of the slots of each contract. */
function numbersByContract({ slots, contracts, contractOf }: BulkState): Uint32Array[] {
  const counts = new Uint32Array(contracts.length)
  const owners = Uint16Array.from({ length: slots }, (_, slot) => contractOf(slot))
  for (const owner of owners) counts[owner]++
  const numbers = Array.from(counts, (count) => new Uint32Array(count))
  counts.fill(0)
  for (let slot = 0; slot < slots; slot++) numbers[owners[slot]][counts[owners[slot]]++] = slot
  return numbers
}

interface ContractSlots {
  readonly addressId: number
  readonly numbers: Uint32Array
  slotOf(slot: number): Uint8Array
}

/** Writes the slots of a contract, in the order of their rows. @returns their trie */
function writeSlots(
  db: Database,
  trie: HashedState,
  { addressId, numbers, slotOf }: ContractSlots,
): TrieNodeRef | undefined {
  if (numbers.length === 0) return undefined
  const given = new Uint8Array(numbers.length * KEY_BYTES)
  for (let i = 0; i < numbers.length; i++) given.set(slotOf(numbers[i]), i * KEY_BYTES)
  const slots = new Uint8Array(given.length)
  const sort = createKeySorter()
  sort(given, slots, { from: 0, to: numbers.length })
  const rows = createRowBatch(db, 'storage_history', ['address_id', 'incarnation', 'slot', 'block_number', 'value'])
  const hashes = given
  for (let i = 0; i < numbers.length; i++) {
    const slot = slots.subarray(i * KEY_BYTES, (i + 1) * KEY_BYTES)
    rows.add(addressId, 0, trimLeft(slot).slice(), 0, slotValue(slot))
    keccak256Into(slot, hashes, i * KEY_BYTES)
  }
  rows.flush()
  const sorted = new Uint8Array(hashes.length)
  const order = sort(hashes, sorted, { from: 0, to: numbers.length }).slice(0, numbers.length)
  let at = 0
  return trie.storageTrie((_after, limit) => {
    const page: HashedSlot[] = []
    for (; at < order.length && page.length < limit; at++) {
      const hash = sorted.subarray(at * KEY_BYTES, (at + 1) * KEY_BYTES)
      page.push({ hash, value: slotValue(slots.subarray(order[at] * KEY_BYTES, (order[at] + 1) * KEY_BYTES)) })
    }
    return page
  })
}

// Values of 1 to 32 bytes.
function slotValue(slot: Uint8Array): Uint8Array {
  const length = 1 + (slot[KEY_BYTES - 1] & 0x1f)
  const value = slot.slice(0, length)
  value[0] |= 1
  return value
}

/** Writes the accounts, whose ids are in the order of their numbers, and adds them and `others` to the trie. */
function writeAccounts(db: Database, trie: HashedState, state: BulkState, others: readonly HashedAccount[]): void {
  const { accounts, addressOf } = state
  const index = db.prepare<[], string>("SELECT sql FROM sqlite_master WHERE name = 'addresses_by_address'").pluck()
  const createIndex = index.get()!
  db.exec('DROP INDEX addresses_by_address') // sorting all at once is faster than adding each
  let id = db.prepare<[], number>('SELECT max(id) FROM addresses').pluck().get()!
  const dictionary = createRowBatch(db, 'addresses', ['id', 'address'])
  const columns = ['address_id', 'block_number', 'nonce', 'balance', 'code_id', 'incarnation']
  const rows = createRowBatch(db, 'account_history', columns)
  const hashes = new Uint8Array(accounts * KEY_BYTES)
  for (let i = 0; i < accounts; i++) {
    const address = addressOf(i)
    dictionary.add(++id, address)
    rows.add(id, 0, encodeUint(0n), encodeUint(balanceOf(i)), null, 0)
    keccak256Into(address, hashes, i * KEY_BYTES)
  }
  dictionary.flush()
  rows.flush()
  db.exec(createIndex)
  const sorted = new Uint8Array(hashes.length)
  const order = createKeySorter()(hashes, sorted, { from: 0, to: accounts })
  const rest = others.toSorted((a, b) => Buffer.compare(a.hash, b.hash))
  for (let at = 0; at < accounts; ) {
    const page: HashedAccount[] = []
    for (const to = Math.min(accounts, at + ACCOUNTS_AT_ONCE); at < to; at++) {
      const hash = sorted.subarray(at * KEY_BYTES, (at + 1) * KEY_BYTES)
      while (rest.length > 0 && Buffer.compare(rest[0].hash, hash) < 0) page.push(rest.shift()!)
      const balance = balanceOf(order[at])
      page.push({ hash, nonce: 0n, balance, codeHash: EMPTY_CODE_HASH, storage: undefined })
    }
    trie.addAccounts(page)
    trie.save()
    process.stderr.write(`\rstate of ${at} accounts`)
  }
  trie.addAccounts(rest)
  process.stderr.write('\n')
}

function balanceOf(account: number): bigint {
  return (1_000_000_000n + BigInt(account)) * 1_000_000_000n
}
