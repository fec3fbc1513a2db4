import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { keccak256 } from '../../../src/chain/crypto.js'
import { formatData } from '../../../src/lib/hex.js'
import type { Database } from '../../../src/store/database.js'
import { createMetaTable, META_STATE_MODE } from '../../../src/store/meta.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { createStoredBlocks } from '../../../src/store/replication/blockReader.js'
import { type ChainWriter, createChainWriter } from '../../../src/store/rows/chainWriter.js'
import { createExportRows } from '../../../src/store/rows/exportRows.js'
import type { StateChanges } from '../../../src/store/rows/stateChanges.js'
import { HISTORY_TABLES } from '../../../src/store/state/historySql.js'
import { createRawState } from '../../../src/store/state/rawState.js'
import { recentRowsOf } from '../../../src/store/state/recentRows.js'
import { type SlotChange, SlotReader } from '../../../src/store/state/slotReader.js'
import { createStateReader, LATEST } from '../../../src/store/state/stateReader.js'
import { createTouchedAbove } from '../../../src/store/state/touchedAbove.js'
import { type OutcomeBlock, pick, randomBlock } from '../../support/chains/randomBlocks.js'
import { type SeededRandom, seededRandom } from '../../support/random.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { THOROUGH } from '../../support/thorough.js'

const ADDRESSES = Array.from({ length: 60 }, (_, n) => keccak256(Uint8Array.of(n)).slice(0, 20))
const SLOTS = Array.from({ length: 40 }, (_, n) =>
  n < 20 ? keccak256(Uint8Array.of(n)) : Uint8Array.from([...new Uint8Array(31), n - 20]),
)
const CODES = Array.from({ length: 4 }, (_, n) => ({
  hash: keccak256(Uint8Array.of(n, 1)),
  bytes: Uint8Array.of(n, 1),
}))

/** Gives the changes of a block on top of `before`, the incarnations of the accounts, which it brings up to date. */
function makeChanges(random: SeededRandom, before: Map<number, number>): StateChanges {
  const changes: StateChanges = { accounts: [], storage: [], codes: [...CODES] }
  for (const [n, address] of ADDRESSES.entries()) {
    const known = before.get(n)
    if (random.below(3) === 0) {
      const incarnation = (known ?? 0) + (known !== undefined && random.below(6) === 0 ? 1 : 0)
      const codeHash = random.below(2) === 0 ? undefined : pick(random, CODES).hash
      const account = { nonce: BigInt(random.below(3)), balance: BigInt(random.below(2 ** 31)) ** 3n, codeHash }
      changes.accounts.push({ address, incarnation, account: random.below(9) === 0 ? undefined : account })
      before.set(n, incarnation)
    }
    const incarnation = before.get(n)
    if (incarnation === undefined || random.below(2) === 0) continue
    for (const slot of SLOTS) {
      if (random.below(8) > 0) continue
      changes.storage.push({ address, incarnation, slot, value: random.bytes(random.below(3)).map((byte) => byte | 1) })
    }
  }
  return changes
}

/** What the readers give of the state, as text that does not depend on the order of rows where they promise none. */
function answers(db: Database, random: SeededRandom, head: number): string[] {
  const reader = createStateReader(db)
  const slots = new SlotReader(db)
  const found: unknown[] = []
  const note = (answer: unknown) => void found.push(answer)
  const blockNumber = () => (random.below(3) === 0 ? LATEST : random.below(head + 2))
  for (let i = 0; i < 60; i++) {
    const [address, slot, at] = [pick(random, ADDRESSES), pick(random, SLOTS), blockNumber()]
    const record = reader.account(address, at)
    note(record)
    const addressId = reader.addressId(address)
    if (addressId === undefined) continue
    const incarnation = record?.incarnation ?? 0
    note([reader.storage(addressId, incarnation, slot, at), reader.hasStorage(addressId, random.below(4))])
    slots.read({ addressId, incarnation }, wordOf(slot), 0, { blockNumber: at, next: true })
    note([[...slots.value], slots.from, slots.until])
    note(reader.latestStorage(addressId, incarnation, { after: i % 2 ? undefined : slot, limit: 1 + random.below(50) }))
  }
  for (let i = 0; i < 5; i++) note(reader.latestAccounts(random.below(60), 1 + random.below(70)))
  const above = random.below(head + 1)
  const range = { above, upTo: above + random.below(head - above + 2) }
  const changes: (SlotChange & { slot: string })[] = []
  const isWhole = slots.changes({ ...range, limit: random.below(3000) }, (each) =>
    changes.push({ ...each, slot: String(slots.slot) }),
  )
  const blocksOfChanges = changes.map((each) => each.blockNumber)
  assert.deepEqual(
    blocksOfChanges,
    [...blocksOfChanges].sort((a, b) => a - b),
  )
  note([isWhole, sorted(changes)])
  const touched = createTouchedAbove(db, reader)
  note(sorted(touched.take(range).map(({ slots: own, ...rest }) => ({ ...rest, slots: sorted(own) }))))
  note([touched.count(above, 1_000_000), touched.count(above, 10)])
  note([createRawState(db).isEmpty(), createRawState(db).changed()])
  for (let number = Math.max(0, head - 12); number <= head; number++) note(answersOfBlock(db, number))
  return found.map(textOf)
}

function answersOfBlock(db: Database, number: number): unknown {
  const raw = createRawState(db)
  const slots = raw.slots(number)
  const ids = slots.map((row) => row.address_id)
  assert.deepEqual(
    ids,
    [...ids].sort((a, b) => a - b),
  )
  const { accounts, storage, codes } = createStoredBlocks(db).read(number)!.changes!
  const cleared = createExportRows(db).clearedSlots(number)
  return [raw.accounts(number), slots, accounts, storage, codes, cleared].map(sorted)
}

const textOf = (value: unknown): string =>
  JSON.stringify(value, (_key, each) => {
    if (typeof each === 'bigint') return String(each)
    if (each?.type === 'Buffer') return formatData(Buffer.from(each.data))
    return each instanceof Uint8Array ? formatData(each) : each
  })

const sorted = (rows: readonly unknown[]) => rows.map(textOf).sort()

/** The eight 32-bit integers of a word, least significant first. */
function wordOf(slot: Uint8Array): Int32Array {
  const view = new DataView(slot.buffer, slot.byteOffset)
  return Int32Array.from({ length: 8 }, (_, i) => view.getInt32(28 - 4 * i))
}

interface OpenedWriter {
  db: Database
  writer: ChainWriter
}

// Full with fewer blocks than usual: some hundred blocks reach the last tables.
const SMALL = { tip: 4, recent: 16, older: 64 }

function open(t: TestContext, fullBlocks?: typeof SMALL): OpenedWriter {
  const db = openForWriting(temporaryDirectory(t))
  recentRowsOf(db, fullBlocks)
  t.after(() => void db.close())
  createMetaTable(db).set(META_STATE_MODE, 'execute')
  return { db, writer: createChainWriter(db, { collectsState: true }) }
}

function inTransaction<T>({ writer }: OpenedWriter, work: (writer: ChainWriter) => T): T {
  writer.begin()
  const result = work(writer)
  writer.commit()
  return result
}

const count = (db: Database, table: string) => db.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get()!

const SMALL_TABLES = HISTORY_TABLES.filter((table) => !table.endsWith('_history'))

test('reads of a history with some recent rows equal those of the same rows in one table', (t) => {
  let most = SMALL_TABLES.map(() => 0)
  // With seed 5 all tables have many rows.
  for (const seed of THOROUGH ? [0, 1, 2, 3, 4, 5] : [5]) {
    const random = seededRandom(seed)
    const [plain, staged] = [open(t), open(t, SMALL)]
    let chain: { outcome: OutcomeBlock; incarnations: Map<number, number> }[] = []
    const rewind = (number: number) => {
      chain = chain.slice(0, number + 1)
      for (const each of [plain, staged]) inTransaction(each, (writer) => writer.rewindTo(number))
    }
    const append = () => {
      const incarnations = new Map(chain.at(-1)?.incarnations)
      const outcome = randomBlock(random, chain.length)
      const changes = makeChanges(random, incarnations)
      chain.push({ outcome, incarnations })
      const isAtTip = random.below(10) > 0
      const { block, receipts } = outcome
      inTransaction(plain, (writer) => writer.insertBlock(block, receipts, 1n, changes))
      inTransaction(staged, (writer) => writer.insertBlock(block, receipts, 1n, changes, { isAtTip }))
    }
    for (let step = 0; step < 80; step++) {
      const kind = random.below(8)
      if (kind < 5 || chain.length < 3) append()
      else if (kind === 5) rewind(Math.max(0, chain.length - 2 - random.below(6)))
      else for (let i = random.below(6); i > 0; i--) inTransaction(staged, (writer) => writer.moveRecent())
      most = most.map((rows, i) => Math.max(rows, count(staged.db, SMALL_TABLES[i])))
      if (step % 6 > 0) continue
      const [expected, found] = [plain, staged].map(({ db }) => answers(db, seededRandom(step), chain.length - 1))
      assert.deepEqual(found, expected, `seed ${seed}, step ${step}`)
    }
    moveAll(staged)
    for (const table of ['account_history', 'storage_history']) {
      const rows = ({ db }: OpenedWriter) => db.prepare(`SELECT * FROM ${table}`).raw().all()
      assert.deepEqual(rows(staged), rows(plain), table)
    }
    for (const table of SMALL_TABLES) assert.equal(count(staged.db, table), 0, table)
  }
  const least = SMALL_TABLES.map((table) => (table.endsWith('_older') ? 200 : 256))
  assert.ok(
    most.slice(1).every((rows, i) => rows > least[i + 1]),
    `${most} rows at most: too few for several moves`,
  )
})

test('a pass leaves the rows of blocks that came meanwhile for the next one', (t) => {
  const random = seededRandom(78)
  const staged = open(t)
  let incarnations = new Map<number, number>()
  const append = (number: number) => {
    incarnations = new Map(incarnations)
    const { block, receipts } = randomBlock(random, number)
    const changes = makeChanges(random, incarnations)
    inTransaction(staged, (writer) => writer.insertBlock(block, receipts, 1n, changes, { isAtTip: true }))
  }
  const moveSome = () => inTransaction(staged, (writer) => writer.moveRecent())
  for (let number = 0; number < 10; number++) append(number)
  assert.equal(moveSome(), true)
  append(10)
  append(11)
  while (moveSome());
  // Two in the tables of the tip, and all in the next ones.
  assert.equal(staged.writer.recentBlocks(), 2 + 12)
  const rowsBelow = (table: string) =>
    staged.db.prepare<[], number>(`SELECT count(*) FROM ${table} WHERE block_number < 10`).pluck().get()
  assert.deepEqual(['account_tip', 'storage_tip'].map(rowsBelow), [0, 0])
  moveAll(staged)
  assert.equal(staged.writer.recentBlocks(), 0)
})

test('a writer that is never idle moves some recent rows with each block once many blocks have them', (t) => {
  const random = seededRandom(77)
  const [plain, staged] = [open(t), open(t, SMALL)]
  let incarnations = new Map<number, number>()
  const blocks: number[] = []
  const tips: number[] = []
  const tipBlocks = staged.db.prepare<[], number>('SELECT count(DISTINCT block_number) FROM storage_tip').pluck()
  for (let number = 0; number < 300; number++) {
    incarnations = new Map(incarnations)
    const { block, receipts } = randomBlock(random, number)
    const changes = makeChanges(random, incarnations)
    inTransaction(plain, (writer) => writer.insertBlock(block, receipts, 1n, changes))
    inTransaction(staged, (writer) => writer.insertBlock(block, receipts, 1n, changes, { isAtTip: true }))
    blocks.push(staged.writer.recentBlocks())
    tips.push(tipBlocks.get()!)
  }
  assert.deepEqual(
    tips.slice(0, 8),
    Array.from({ length: 8 }, (_, i) => i + 1),
  )
  assert.ok(Math.max(...tips) < 12, `${Math.max(...tips)}`)
  assert.ok(Math.max(...blocks) < 200, `${Math.max(...blocks)}`)
  for (const table of HISTORY_TABLES) assert.ok(count(staged.db, table) > 0, table)
  const compare = () => {
    const [expected, found] = [plain, staged].map(({ db }) => answers(db, seededRandom(1), 299))
    assert.deepEqual(found, expected)
  }
  compare()
  const moveMany = () => inTransaction(staged, () => recentRowsOf(staged.db).moveMany(2))
  let calls = 1
  for (; !moveMany(); calls++) if (calls === 8) compare()
  assert.ok(calls > 8, `${calls} calls`)
  assert.equal(staged.writer.recentBlocks(), 0)
  for (const table of ['account_history', 'storage_history']) {
    const rows = ({ db }: OpenedWriter) => db.prepare(`SELECT * FROM ${table}`).raw().all()
    assert.deepEqual(rows(staged), rows(plain), table)
  }
})

/** Moves all recent rows, in as many passes as that takes. */
function moveAll(staged: OpenedWriter): void {
  while (inTransaction(staged, (writer) => writer.moveRecent()) || staged.writer.recentBlocks() > 0);
}
