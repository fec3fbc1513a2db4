import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { keccak256 } from '../src/chain/crypto.js'
import { EMPTY_CODE_HASH } from '../src/chain/eth/emptyHashes.js'
import { bigIntToFixedBytes, bytesToBigInt, trimLeft } from '../src/lib/bytes.js'
import type { Database } from '../src/store/database.js'
import { openForWriting } from '../src/store/openForWriting.js'
import type { StateChanges } from '../src/store/rows/stateChanges.js'
import { createStateReader } from '../src/store/state/stateReader.js'
import { createStateTrieTable } from '../src/store/state/stateTrieTable.js'
import { createChangeNotes } from '../src/trie/changeNotes.js'
import { createStateRoot } from '../src/trie/stateRoot.js'
import type { TouchedAccount } from '../src/trie/touchedAccount.js'
import { seededRandom } from '../test/support/random.js'
import { round } from './table.js'

/* `npm run bench:trie -- [BATCHES] [SINGLE] [ACCOUNTS]`: processor time of the state trie alone, on a state of 250,000 accounts
 * and twice as many slots in 500 contracts: batches of 570 blocks of 400 accounts and 1,000 slots, as in the catch-up of a replica, and
 * such blocks one by one. The digest of the stored pages is the same for any version that stores the same. */

const BATCH_BLOCKS = 570
const GROWTH_BLOCKS = 50
const CACHE_BYTES = 32 * 2 ** 20
// Holds the whole trie.
const WARM_CACHE_BYTES = 512 * 2 ** 20

const [batches = 2, singles = 200, ACCOUNTS = 250_000] = process.argv.slice(2).map(Number)
const SLOTS = 2 * ACCOUNTS
// The first blocks make all of them.
const CONTRACTS = Math.min(500, ACCOUNTS / 50)
// At most a fortieth of the state; a third of the changes are in a hundredth of it.
const [CHANGED_ACCOUNTS, CHANGED_SLOTS] = [Math.min(400, ACCOUNTS / 40), Math.min(1_000, SLOTS / 40)]
const directory = mkdtempSync(join(tmpdir(), 'cairn-bench-trie-'))
const db = openForWriting(directory)
try {
  bench(db)
} finally {
  db.close()
  rmSync(directory, { recursive: true, force: true })
}

function bench(db: Database): void {
  const random = seededRandom(5)
  const root = createStateRoot(createStateTrieTable(db), CACHE_BYTES)
  const notes = createChangeNotes(createStateReader(db), 2 ** 20)
  const addresses = Array.from({ length: ACCOUNTS }, (_, n) => keccak256(bigIntToFixedBytes(BigInt(n), 8)).slice(12))
  const slots = Array.from({ length: SLOTS }, (_, n) => keccak256(bigIntToFixedBytes(BigInt(n), 8)))
  // As decoded from a message: the bytes are views of it.
  const changesOf = (accounts: Iterable<number>, storage: Iterable<number>): StateChanges => ({
    accounts: Array.from(accounts, (n) => {
      const account = { nonce: BigInt(random.below(5_000)), balance: bytesToBigInt(random.bytes(9)) }
      return { address: addresses[n], incarnation: 0, account }
    }),
    storage: Array.from(storage, (n) => ({
      address: addresses[n % CONTRACTS],
      incarnation: 0,
      slot: slots[n],
      value: trimLeft(random.bytes(1 + random.below(32))),
    })),
    codes: [],
  })
  const range = (from: number, count: number) => Array.from({ length: count }, (_, i) => from + i)
  /** A third goes to a hundredth of the state, as on real chains. */
  const pick = (known: number, count: number): Set<number> => {
    const chosen = new Set<number>()
    while (chosen.size < count) chosen.add(random.below(chosen.size % 3 === 0 ? Math.ceil(known / 100) : known))
    return chosen
  }
  const randomBlock = () => {
    const { accounts, storage, codes } = changesOf(pick(ACCOUNTS, CHANGED_ACCOUNTS), pick(SLOTS, CHANGED_SLOTS))
    // Every account with slots is among the changed ones, so that the rows are not read.
    const owners = changesOf(range(0, CONTRACTS), []).accounts
    return { accounts: [...accounts.filter(({ address }) => !isOwner.has(address)), ...owners], storage, codes }
  }
  const isOwner = new Set<Uint8Array>(addresses.slice(0, CONTRACTS))
  let block = 1
  const take = (count: number, make: (i: number) => StateChanges) => {
    const figures = { note: 0, apply: 0, save: 0, changes: 0 }
    for (let i = 0; i < count; i++) {
      const changes = make(i)
      figures.note += timed(() => void notes.note(block++, changes))
    }
    figures.changes = notes.size
    db.exec('BEGIN IMMEDIATE')
    figures.apply = timed(() => {
      root.apply(notes.updates())
      root.settle()
    })
    notes.forget()
    figures.save = timed(() => root.save())
    db.exec('COMMIT')
    return { ...figures, usPerChange: ((figures.note + figures.apply + figures.save) / figures.changes) * 1000 }
  }
  const [newAccounts, newSlots] = [ACCOUNTS / GROWTH_BLOCKS, SLOTS / GROWTH_BLOCKS]
  const grow = (i: number) => changesOf(range(i * newAccounts, newAccounts), range(i * newSlots, newSlots))
  print('growth', take(GROWTH_BLOCKS, grow))
  print('stored', digestOf(db))
  for (let i = 0; i < batches; i++) print(`batch ${i}`, take(BATCH_BLOCKS, randomBlock))
  print('stored', digestOf(db))
  const warm = createStateRoot(createStateTrieTable(db), WARM_CACHE_BYTES)
  const update = (count: number): number => {
    let ms = 0
    for (let i = 0; i < count; i++) {
      const touched = touchedOf(changesOf(pick(ACCOUNTS, CHANGED_ACCOUNTS), pick(SLOTS, CHANGED_SLOTS)))
      ms += timed(() => {
        warm.update(touched)
        warm.settle()
      })
    }
    return ms
  }
  db.exec('BEGIN IMMEDIATE')
  update(singles)
  const msPerBlock = update(singles) / singles
  const saveMs = timed(() => warm.save())
  db.exec('COMMIT')
  print('single blocks', { count: singles, msPerBlock, saveMs })
  print('stored', digestOf(db))
}

function touchedOf({ accounts, storage }: StateChanges): TouchedAccount[] {
  const touched = new Map<Uint8Array, TouchedAccount>()
  const account = { nonce: 1n, balance: 10n ** 18n, codeHash: EMPTY_CODE_HASH }
  for (const { address, account } of accounts) {
    touched.set(address, { address, account: { ...account!, codeHash: EMPTY_CODE_HASH }, cleared: false, slots: [] })
  }
  for (const { address, slot, value } of storage) {
    if (!touched.has(address)) touched.set(address, { address, account, cleared: false, slots: [] })
    touched.get(address)!.slots.push({ slot, value })
  }
  return [...touched.values()]
}

function digestOf(db: Database): object {
  const hash = createHash('sha256')
  let [pages, bytes] = [0, 0]
  const rows = db.prepare<[], { id: number; data: Buffer }>('SELECT id, data FROM state_trie_pages ORDER BY id')
  for (const { id, data } of rows.iterate()) {
    hash.update(`${id},`).update(data)
    pages++
    bytes += data.length
  }
  return {
    root: createStateTrieTable(db).head()!.root.slice(0, 18),
    pages,
    bytes,
    digest: hash.digest('hex').slice(0, 16),
  }
}

/** Processor milliseconds, those of the garbage collector included. */
function timed(work: () => void): number {
  const start = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}

function print(name: string, figures: object): void {
  console.log(
    name.padEnd(14),
    JSON.stringify(figures, (_key, value) => round(value)),
  )
}
