import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditStateTrie, auditTrieHistory } from '../../../src/audit/stateTrie.js'
import type { Block } from '../../../src/chain/eth/types.js'
import { createTrieHistoryExtension } from '../../../src/evm/state/extendTrieHistory.js'
import { createPastTries } from '../../../src/evm/state/pastTries.js'
import { noDeadline } from '../../../src/lib/deadline.js'
import { formatData } from '../../../src/lib/hex.js'
import { noProgress } from '../../../src/lib/progress.js'
import type { Database } from '../../../src/store/database.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { createChainReader } from '../../../src/store/rows/chainReader.js'
import { createStateReader } from '../../../src/store/state/stateReader.js'
import { createTrieFlush, createTrieHistory } from '../../../src/store/state/trieHistory.js'
import { openWritableChain } from '../../../src/sync/chainState.js'
import { replaceBranch } from '../../../src/sync/head/reorg.js'
import { importBlocks } from '../../../src/sync/pipeline.js'
import { createChainBuilder, createSender } from '../../../tools/fixture/chainBuilder.js'
import { growBranch, openBranches } from '../../support/chains/branches.js'
import { fixtureBlocks, fixtureGenesis, sourceOf } from '../../support/chains/fixture.js'
import { createStateGenesis, withdrawalTo } from '../../support/chains/stateChain.js'
import { seededRandom } from '../../support/random.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { THOROUGH } from '../../support/thorough.js'

const blocks = fixtureBlocks()
const head = blocks.length

/** Between the heights that are proved again and again. */
const STEP = THOROUGH ? 1 : 5

type Ends = { after(end: () => void): void }

/** A new database with the genesis of the fixture, and how its blocks are imported: each call is one transaction, in
 *  which the tries from block `tipFrom` on are kept. */
async function openFixtureChain(t: Ends) {
  const db = openForWriting(temporaryDirectory(t))
  t.after(() => void db.close())
  const chain = await openWritableChain(db, { genesis: fixtureGenesis() }, 'execute')
  const add = async (batch: readonly Block[], tipFrom?: number) => {
    await importBlocks(chain, sourceOf(batch), { progress: noProgress, finishIndexes: false, tipFrom })
  }
  return { db, chain, add, extend: extensionOf(db, 1) }
}

function extensionOf(db: Database, few?: number) {
  return createTrieHistoryExtension(db, { chain: createChainReader(db), reader: createStateReader(db) }, few)
}

function extendAll(extend: () => boolean): number {
  let steps = 0
  while (extend()) steps++
  return steps
}

const firstOf = (db: Database) => createTrieHistory(db).from(createChainReader(db).head()!)

/** Proofs of every account and of 8 slots each at every height, or at each `step` from the head down, as text. */
function allProofs(db: Database, step = 1): string[] {
  const [chain, reader] = [createChainReader(db), createStateReader(db)]
  const tries = createPastTries(db, { chain, reader })
  const slotsOf = db.prepare<[Uint8Array], Uint8Array>(
    'SELECT DISTINCT slot FROM storage_history JOIN addresses a ON a.id = address_id WHERE a.address = ? ORDER BY 1 LIMIT 8',
  )
  const accounts = db
    .prepare<[], Uint8Array>('SELECT address FROM addresses ORDER BY address')
    .pluck()
    .all()
    .map((address) => ({ address, slots: slotsOf.pluck().all(address).map(padded) }))
  const head = chain.head()!
  return Array.from({ length: Math.floor(head / step) + 1 }, (_, i) => {
    const number = head - i * step
    const trie = tries.after(chain.blockByNumber(number)!, noDeadline)
    const proofs = accounts.map(({ address, slots }) => {
      const { nodes, storageRoot, slots: proved } = trie.prove(address, slots)
      return [...nodes, storageRoot, ...proved.flatMap((each) => [...each.nodes, each.value])].map(formatData)
    })
    return `${number} ${JSON.stringify(proofs)}`
  })
}

function padded(slot: Uint8Array): Uint8Array {
  const word = new Uint8Array(32)
  word.set(slot, 32 - slot.length)
  return word
}

/** Proofs over tries that were restored from the rows of accounts and slots. */
function provedWithoutHistory(db: Database, step = 1): string[] {
  db.exec("BEGIN; UPDATE meta SET value = json_remove(value, '$.history') WHERE key = 'state_trie'")
  try {
    assert.equal(firstOf(db), createChainReader(db).head())
    return allProofs(db, step)
  } finally {
    db.exec('ROLLBACK')
  }
}

test('tries of blocks that were stored one by one are those restored from the rows', async (t) => {
  const { db, add } = await openFixtureChain(t)
  for (const block of blocks) await add([block])
  assert.equal(firstOf(db), 0)
  assert.deepEqual(allProofs(db), provedWithoutHistory(db))
})

test('after an import in one go the history is made from the head down', async (t) => {
  const { db, add, extend } = await openFixtureChain(t)
  await add(blocks)
  assert.equal(firstOf(db), head)
  assert.equal(extendAll(extend), head)
  assert.equal(firstOf(db), 0)
  assert.deepEqual(allProofs(db), provedWithoutHistory(db))
})

test('the history extends over new blocks while it is built, and begins again after a batch and a reorg', async (t) => {
  const { db, chain, add, extend } = await openFixtureChain(t)
  const check = (first: number) => {
    assert.equal(firstOf(db), first)
    assert.deepEqual(allProofs(db), provedWithoutHistory(db))
  }
  await add(blocks.slice(0, 20))
  for (let i = 0; i < 5; i++) extend()
  await add([blocks[20]])
  await add([blocks[21]])
  for (let i = 0; i < 5; i++) extend()
  check(10)
  await add(blocks.slice(22, 40))
  check(40)
  for (let i = 0; i < 12; i++) extend()
  check(28)
  chain.head.rewind(35, { byOperator: true })
  await add([blocks[35]])
  check(36)
  await add([blocks[36]])
  check(36)
  chain.head.rewind(30, { byOperator: true })
  chain.head.commit()
  check(30)
  for (const block of blocks.slice(30, 45)) await add([block])
  check(30)
  extendAll(extend)
  check(0)
})

test('the tries of 128 blocks before the head are kept, and what only earlier ones need is removed', async (t) => {
  const db = openForWriting(temporaryDirectory(t))
  t.after(() => void db.close())
  const builder = await createChainBuilder(db, createStateGenesis(createSender('state bench')))
  const countLayers = db.prepare<[], number>('SELECT count(*) FROM trie_layers').pluck()
  const flush = createTrieFlush(db)
  for (let block = 0; block < 1_200; block++) {
    await builder.add({ withdrawals: [0, 1, 2].map((i) => withdrawalTo((block * 3 + i) % 50)) })
    while (flush());
  }
  assert.equal(firstOf(db), 1_200 - 128)
  assert.ok(countLayers.get()! < 128 + 1_024, `${countLayers.get()} layers`)
  // Older ones are restored from the earliest that is kept.
  assert.deepEqual(allProofs(db, STEP), provedWithoutHistory(db, STEP))
})

test('a writer that is never idle flushes with its blocks once twice as much as usual is due', async (t) => {
  const db = openForWriting(temporaryDirectory(t))
  t.after(() => void db.close())
  const builder = await createChainBuilder(db, createStateGenesis(createSender('state bench')))
  const countLayers = db.prepare<[], number>('SELECT count(*) FROM trie_layers').pluck()
  let most = 0
  for (let block = 0; block < 2_250; block++) {
    await builder.add({ withdrawals: [withdrawalTo(block % 50)] })
    most = Math.max(most, countLayers.get()!)
  }
  assert.ok(most > 128 + 1_024 && most <= 128 + 2_049, `${most} layers`)
  assert.ok(countLayers.get()! < 300, `${countLayers.get()} layers`)
  assert.ok(auditStateTrie(db)! > 0)
})

test('over blocks that were stored one by one the stored trie is unwound, and the history continues', async (t) => {
  const random = seededRandom(211)
  const { db, chain, add } = await openFixtureChain(t)
  for (const block of blocks.slice(0, 40)) await add([block])
  for (let round = 0; round < 12; round++) {
    const newest = chain.head.newest!.header.number
    const to = newest - 1 - random.below(Math.min(newest, 33))
    chain.head.rewind(to, { byOperator: true })
    if (round % 4 === 3) {
      chain.head.rollback()
      assert.equal(chain.head.newest!.header.number, newest)
    } else {
      chain.head.commit()
      assert.equal(firstOf(db), 0)
    }
    assert.ok(auditStateTrie(db)! > 0) // as many pages as it has
    const from = chain.head.newest!.header.number
    for (const block of blocks.slice(from, from + 1 + random.below(20))) await add([block])
    assert.equal(firstOf(db), 0)
    auditStateTrie(db)
    auditTrieHistory(db)
  }
  assert.deepEqual(allProofs(db), provedWithoutHistory(db))
})

test('a block that replaces another one leaves the history; more of them end it, and can be removed again', async (t) => {
  const { db, chain, add } = await openFixtureChain(t)
  await add([blocks[0]])
  chain.head.finalize({ safe: 0, finalized: 0 })
  for (const block of blocks.slice(1, 20)) await add([block])
  await replaceBranch(
    chain,
    19,
    blocks.slice(19, 20).map((block) => ({ block })),
  )
  assert.equal(firstOf(db), 0)
  auditStateTrie(db)
  assert.deepEqual(allProofs(db), provedWithoutHistory(db))
  await replaceBranch(
    chain,
    15,
    blocks.slice(15, 20).map((block) => ({ block })),
  )
  assert.equal(firstOf(db), 20)
  await add([blocks[20]])
  chain.head.rewind(18, { byOperator: true }) // before what was recorded
  chain.head.commit()
  auditStateTrie(db)
  assert.deepEqual(allProofs(db), provedWithoutHistory(db))
})

test('the tries of blocks that come together are kept where that is asked for', async (t) => {
  const random = seededRandom(56)
  const { db, chain, add } = await openFixtureChain(t)
  const check = (first: number) => {
    assert.equal(firstOf(db), first)
    auditStateTrie(db)
    assert.equal(auditTrieHistory(db), chain.head.newest!.header.number - first)
    assert.deepEqual(allProofs(db, STEP), provedWithoutHistory(db, STEP))
  }
  await add([blocks[0]])
  chain.head.finalize({ safe: 0, finalized: 0 })
  await add(blocks.slice(1, 30), 20)
  check(20)
  for (let at = 30; at < 60; ) {
    const to = Math.min(at + 1 + random.below(6), 60)
    await add(blocks.slice(at, to), 0)
    at = to
  }
  check(20)
  for (const [ancestor, length] of [
    [59, 1],
    [52, 8],
    [57, 3],
  ]) {
    const branch = blocks.slice(ancestor, ancestor + length).map((block) => ({ block }))
    assert.ok(await replaceBranch(chain, ancestor, branch, { length }))
    check(20)
    const refused = await replaceBranch(chain, ancestor, branch, { length, accepts: () => false })
    assert.ok(!refused)
    check(20)
  }
  // A block that is refused after others of its transaction: those stay.
  const withWrongRoot = (block: Block) => ({ ...block, header: { ...block.header, stateRoot: new Uint8Array(32) } })
  await assert.rejects(add([...blocks.slice(60, 63), withWrongRoot(blocks[63])], 0))
  assert.equal(chain.head.newest!.header.number, 63)
  check(20)
  // The same where the roots of those before it were not compared.
  const own = { progress: noProgress, finishIndexes: false, rootInterval: 64, tipFrom: 70 }
  const wrong = [...blocks.slice(63, 69), withWrongRoot(blocks[69]), ...blocks.slice(70)]
  await assert.rejects(importBlocks(chain, sourceOf(wrong), own))
  assert.equal(chain.head.newest!.header.number, 69)
  check(69)
  await importBlocks(chain, sourceOf(blocks.slice(69)), own)
  check(69)
})

test('a chain whose newest blocks changed little has no history made', async (t) => {
  const { db, add } = await openFixtureChain(t)
  await add(blocks.slice(0, 10))
  assert.equal(extendAll(extensionOf(db)), 0)
})

test('a trie in memory serves later requests until its block is removed, or its pages are flushed', async (t) => {
  const { db, chain, add } = await openFixtureChain(t)
  await add([blocks[0]])
  chain.head.finalize({ safe: 0, finalized: 0 })
  for (const block of blocks.slice(1, 40)) await add([block])
  const reader = createChainReader(db)
  const tries = createPastTries(db, { chain: reader, reader: createStateReader(db) })
  const after = (number: number) => tries.after(reader.blockByNumber(number)!, noDeadline)
  const [early, late] = [after(20), after(39)]
  await add([blocks[40]])
  assert.equal(after(20), early)
  assert.equal(after(39), late)
  chain.head.rewind(30, { byOperator: true })
  for (const block of blocks.slice(30, 41)) await add([block])
  assert.equal(after(20), early)
  assert.notEqual(after(39), late) // the same block, stored again
  await replaceBranch(
    chain,
    35,
    blocks.slice(35, 42).map((block) => ({ block })),
  )
  chain.head.rewind(38, { byOperator: true }) // what was stored at once is undone by the rows
  chain.head.commit()
  assert.notEqual(after(20), early)
  assert.deepEqual(allProofs(db), provedWithoutHistory(db))
})

test('after blocks that came one by one, a reorg to an earlier head makes the tries again that were dropped', async (t) => {
  const random = seededRandom(88)
  const trunk = await growBranch(temporaryDirectory(t), { trunk: [], count: 150, random })
  const { db, chain } = await openBranches(temporaryDirectory(t))
  t.after(() => void db.close())
  const add = (from: number, to: number) =>
    importBlocks(chain, sourceOf(trunk.slice(from, to)), { progress: noProgress, finishIndexes: false })
  const extend = extensionOf(db, 1)
  await add(0, 140)
  assert.equal(extendAll(extend), 128)
  for (let block = 140; block < 150; block++) await add(block, block + 1)
  assert.equal(firstOf(db), 22)
  assert.equal(auditTrieHistory(db), 128)
  for (const head of [147, 143]) {
    chain.head.rewind(head, { byOperator: true })
    chain.head.commit()
    assert.ok(extendAll(extend) > 0)
    assert.equal(firstOf(db), head - 128)
    assert.equal(auditTrieHistory(db), 128)
    auditStateTrie(db)
  }
  await add(143, 144)
  assert.equal(auditTrieHistory(db), 128)
})
